import RTMServiceKit

extension RedisEndpoint {
    private static let socketPrefix = "unix:"

    /// Reads `HOST:PORT` or `unix:PATH`. Returns nil for a text that `refusal` has something to say about.
    init?(_ text: String) {
        if text.hasPrefix(Self.socketPrefix) {
            let path = String(text.dropFirst(Self.socketPrefix.count))
            guard !path.isEmpty else { return nil }
            self = .unixSocket(path)
        } else {
            guard let address = try? HostPort(text: text), address.port > 0 else { return nil }
            self = .tcp(host: address.host, port: address.port)
        }
    }

    /// Why the text is no endpoint, as a clause that follows the text; nil if it is one.
    static func refusal(_ text: String) -> String? {
        guard RedisEndpoint(text) == nil else { return nil }
        if text.hasPrefix(socketPrefix) { return "names no socket; write unix:/path/to/socket" }
        do {
            _ = try HostPort(text: text)
            return "has the port 0; write HOST:PORT or unix:PATH"
        } catch {
            return error.reason
        }
    }
}
