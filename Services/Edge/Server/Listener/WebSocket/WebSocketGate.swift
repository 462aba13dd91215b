import NIOCore
import NIOHTTP1

/// Which HTTP requests become a WebSocket. All others get an answer that says what is wrong with them.
///
/// The credentials of a client are in its Login and never in a cookie, so a foreign web page that connects
/// has gained nothing: the origin of a page is of no importance unless the operator names those that are
/// wanted.
struct WebSocketGate: Sendable {
    /// The path of the WebSocket. A query behind it is ignored.
    let path: String
    /// The origins that are allowed, in lower case. Every origin is if there are none.
    private let origins: Set<String>

    init(path: String, origins: [String] = []) {
        self.path = path
        self.origins = Set(origins.map { $0.lowercased() })
    }

    /// Returns nil for a request that may be upgraded. NIO has checked the rest of the head.
    func refusal(of request: HTTPRequestHead) -> HTTPRefusal? {
        guard request.uri.prefix(while: { $0 != "?" }) == path else {
            return HTTPRefusal(.notFound, "only a WebSocket is served here, at \(path)")
        }
        guard request.method == .GET else {
            return HTTPRefusal(.methodNotAllowed, "a WebSocket begins with GET", [("Allow", "GET")])
        }
        guard isWanted(request.headers) else {
            return HTTPRefusal(.forbidden, "pages of this origin may not connect")
        }
        guard request.headers[canonicalForm: "Upgrade"].contains(where: { $0.lowercased() == "websocket" })
        else {
            return HTTPRefusal(.upgradeRequired, "this is a WebSocket", [("Upgrade", "websocket")])
        }
        guard request.headers["Sec-WebSocket-Version"] == ["13"] else {
            return HTTPRefusal(
                .upgradeRequired, "only version 13 of WebSocket is spoken",
                [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")])
        }
        guard request.headers["Sec-WebSocket-Key"].count == 1 else {
            return HTTPRefusal(.badRequest, "there must be one Sec-WebSocket-Key")
        }
        return nil
    }

    /// Only web pages have an origin. Other clients could claim any origin, so it isn't required of them.
    private func isWanted(_ headers: HTTPHeaders) -> Bool {
        origins.isEmpty || headers["Origin"].allSatisfy { origins.contains($0.lowercased()) }
    }
}

/// An answer to a request that will not become a WebSocket. The connection ends with it.
struct HTTPRefusal: Sendable {
    let status: HTTPResponseStatus
    /// The body of the answer, for those who debug a client or a proxy.
    let reason: String
    private let headers: [(String, String)]

    init(_ status: HTTPResponseStatus, _ reason: String, _ headers: [(String, String)] = []) {
        self.status = status
        self.reason = reason
        self.headers = headers
    }

    var head: HTTPResponseHead {
        var headers = HTTPHeaders(headers)
        headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        headers.add(name: "Content-Length", value: "\(body.readableBytes)")
        headers.add(name: "Connection", value: "close")
        return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    var body: ByteBuffer { ByteBuffer(string: reason + "\n") }

    /// The whole answer, where no handler of HTTP is there to write it.
    var text: String {
        let fields = head.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\(fields)\r\n\(reason)\n"
    }
}
