import HTTPTypes
import Hummingbird
import RTMServiceKit
import Synchronization

/// The origins whose pages may call the API from a browser (W-81). A page needs a key or a token of its own:
/// browsers send no cookie along, so nobody's session of the console is used.
final class AllowedOrigins: Sendable {
    /// For how many seconds a browser remembers the answer to its question.
    private static let ageMax = 600
    private static let requestHeaders = [
        "Accept", "Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-API-Key",
        "x-agora-token", "x-agora-uid", "x-request-id",
    ].joined(separator: ", ")
    private static let answerHeaders = [
        HTTPField.Name.requestID, .retryAfter, .rateLimit, .rateRemaining, .rateReset,
    ].map(\.rawName).joined(separator: ", ")

    private let origins: Mutex<Set<String>>

    init(_ origins: [String]) { self.origins = Mutex(Set(origins)) }

    func take(_ origins: [String]) { self.origins.withLock { $0 = Set(origins) } }

    /// The answer to a browser that asks before it sends a request of a page; nil if the request is no such
    /// question, or if the origin isn't allowed.
    ///
    /// - Parameter methods: those of the path.
    func answer(toQuestion request: Request, _ methods: String) -> Response? {
        guard request.method == .options, request.headers.contains(.accessControlRequestMethod),
            admitted(request) != nil
        else { return nil }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods, .accessControlAllowHeaders: Self.requestHeaders,
                .accessControlMaxAge: "\(Self.ageMax)",
            ])
    }

    /// Says in an answer that the page may read it, if it may.
    func mark(_ response: inout Response, to request: Request) {
        guard origins.withLock({ !$0.isEmpty }), Self.isAPI(request),
            !response.headers.contains(.accessControlAllowOrigin)
        else { return }
        // A cache between must not give the answer for one origin to another.
        response.headers[values: .vary].append("Origin")
        guard let origin = admitted(request) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.answerHeaders
    }

    /// The origin of the request, if it is allowed.
    private func admitted(_ request: Request) -> String? {
        guard Self.isAPI(request), let origin = request.headers[.origin] else { return nil }
        return origins.withLock { $0.contains(origin) } ? origin : nil
    }

    /// The console is for its own pages alone.
    private static func isAPI(_ request: Request) -> Bool {
        // As the router reads a path, which passes over empty pieces.
        request.uri.path.split(separator: "/").first != "console"
    }

    /// Refuses what no browser would send as an origin.
    static let rule = ConfigurationRule(GatewayKeys.origins) { origins in
        origins.first { !isOrigin($0) }.map {
            "has \"\($0)\", which is not an origin such as https://app.example.com"
        }
    }

    static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let usualPort = ["https": "443", "http": "80"][parts[0]], !parts[1].isEmpty
        else { return false }
        // Browsers leave out the scheme's own port.
        if let (name, port) = port(of: parts[1]) {
            guard !name.isEmpty, port != usualPort, let number = UInt16(port), number > 0, port == "\(number)"
            else { return false }
        }
        // As browsers write it: in small letters, without a slash at the end, and with no name of an account.
        return parts[1].utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: ".-:[]".utf8.contains(byte)
            }
        }
    }

    /// The name and the port of a server; nil if there is no port. Colons in brackets are an address's own.
    private static func port(of server: Substring) -> (name: Substring, port: Substring)? {
        guard let colon = server.lastIndex(of: ":"), !server[colon...].contains("]") else { return nil }
        return (server[..<colon], server[server.index(after: colon)...])
    }
}
