public import RTMModel

/// Where an edge listens, and how the client speaks to it: a host, a port, and TCP or WebSocket.
public struct ServerAddress: Sendable, Hashable {
    /// What carries the frames of the protocol.
    public enum Transport: Sendable, Hashable {
        /// TCP, with TLS where ``RTMClient/Configuration/tls`` asks for it.
        case tcp
        /// WebSocket, for networks that let nothing else through.
        ///
        /// - Parameters:
        ///   - path: begins with a slash, and may have a query.
        ///   - isSecure: whether TLS is used, as in `wss://`. ``RTMClient/Configuration/tls`` then only names
        ///     the authorities to trust. Without it those of the system are trusted.
        case webSocket(path: String = ServerAddress.defaultPath, isSecure: Bool)
    }

    /// The port that an edge listens on unless it is configured otherwise.
    public static let defaultPort = 7710
    /// The path of an edge's WebSocket unless the edge is configured otherwise.
    public static let defaultPath = "/rtm"

    /// A name to look up, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// 1…65535.
    public var port: Int
    /// What carries the frames.
    public var transport: Transport

    /// Names a server by its parts.
    public init(host: String, port: Int = ServerAddress.defaultPort, transport: Transport = .tcp) {
        self.host = host
        self.port = port
        self.transport = transport
    }

    /// An edge on this machine: 127.0.0.1:7710.
    public static let local = ServerAddress(host: "127.0.0.1")

    /// Parses `host`, `host:port`, `[v6]` and `[v6]:port`. A bare IPv6 address, which has two colons or more,
    /// is a host. Behind `ws://` or `wss://` the same may stand, with or without a path. Without a port these
    /// mean port 80 and port 443, without a path they mean `/rtm`.
    ///
    /// - Throws: `.invalidParameter` (-10014) with a reason that names the faulty part.
    public init(_ text: String) throws(RTMError) {
        guard let scheme = text.firstRange(of: "://") else {
            try self.init(text[...], of: text, defaultPort: Self.defaultPort, .tcp)
            return
        }
        let isSecure: Bool
        switch text[..<scheme.lowerBound].lowercased() {
        case "ws": isSecure = false
        case "wss": isSecure = true
        default:
            throw Self.refusal(of: text, "it may begin with ws:// or wss:// and nothing else of that kind")
        }
        let rest = text[scheme.upperBound...]
        let path = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw Self.refusal(of: text, "the path has a character that a path can't have")
        }
        try self.init(
            rest[..<path.startIndex], of: text, defaultPort: isSecure ? 443 : 80,
            .webSocket(path: path.isEmpty ? Self.defaultPath : String(path), isSecure: isSecure))
    }

    /// Parses the part without scheme and path.
    private init(
        _ authority: Substring, of text: String, defaultPort: Int, _ transport: Transport
    ) throws(RTMError) {
        let (host, port) = try Self.split(authority, of: text)
        guard !host.isEmpty else { throw Self.refusal(of: text, "the host is empty") }
        guard !host.contains(where: { "@?#/".contains($0) || $0.isWhitespace }) else {
            throw Self.refusal(of: text, "'\(host)' is no host")
        }
        self.init(host: String(host), port: defaultPort, transport: transport)
        guard let port else { return }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port),
            (1...65_535).contains(number)
        else { throw Self.refusal(of: text, "'\(port)' is not a port from 1 to 65535") }
        self.port = number
    }

    private static func split(
        _ authority: Substring, of text: String
    ) throws(RTMError) -> (host: Substring, port: Substring?) {
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else {
                throw refusal(of: text, "the bracket isn't closed")
            }
            let host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.first == ":" else { throw refusal(of: text, "a colon must follow the bracket") }
            return (host, rest.dropFirst())
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? (parts[0], parts[1]) : (authority, nil)
    }

    private static func refusal(of text: String, _ cause: String) -> RTMError {
        RTMError(.invalidParameter, "the server address '\(text)' can't be read: \(cause)")
    }
}

extension ServerAddress: CustomStringConvertible {
    public var description: String {
        switch transport {
        case .tcp: authority
        case .webSocket(let path, let isSecure): "\(isSecure ? "wss" : "ws")://\(authority)\(path)"
        }
    }

    /// Whether the server is on this machine: `localhost`, `127.…` or `::1`.
    package var isLoopback: Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        // A name such as 127.example.com is not an address.
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        return bytes.count == 4 && bytes[0] == 127 && host.utf8.count { $0 == UInt8(ascii: ".") } == 3
    }

    /// Host and port, as they stand in an address and in the head of an HTTP request.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
