import NIOCore
import NIOHTTP1

/// An answer to a request that will not become a WebSocket. The connection ends with it.
struct HTTPRefusal: Sendable {
    let status: HTTPResponseStatus
    /// The body of the answer, for whoever debugs a client or a proxy.
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
}
