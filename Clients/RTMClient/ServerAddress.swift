public import RTMModel

/// Where an edge listens: a host name or an IP address, and a port.
public struct ServerAddress: Sendable, Hashable {
    /// The port that an edge listens on unless told otherwise.
    public static let defaultPort = 7710

    /// A name to look up, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// 1…65535.
    public var port: Int

    public init(host: String, port: Int = ServerAddress.defaultPort) {
        self.host = host
        self.port = port
    }

    /// An edge on this machine: 127.0.0.1:7710.
    public static let local = ServerAddress(host: "127.0.0.1")

    /// Parses `host`, `host:port`, `[v6]` and `[v6]:port`. A bare IPv6 address (two colons or more) is taken
    /// as a host.
    ///
    /// - Throws: `-10014 invalidParameter` with a reason that names the faulty part.
    public init(_ text: String) throws(RTMError) {
        let (host, port) = try Self.split(text)
        guard !host.isEmpty else { throw Self.refusal(of: text, "the host is empty") }
        self.host = String(host)
        guard let port else {
            self.port = Self.defaultPort
            return
        }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port),
            (1...65_535).contains(number)
        else { throw Self.refusal(of: text, "'\(port)' is not a port from 1 to 65535") }
        self.port = number
    }

    private static func split(_ text: String) throws(RTMError) -> (host: Substring, port: Substring?) {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else {
                throw refusal(of: text, "the bracket isn't closed")
            }
            let host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.first == ":" else { throw refusal(of: text, "a colon must follow the bracket") }
            return (host, rest.dropFirst())
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? (parts[0], parts[1]) : (text[...], nil)
    }

    private static func refusal(of text: String, _ cause: String) -> RTMError {
        RTMError(.invalidParameter, "the server address '\(text)' can't be read: \(cause)")
    }
}

extension ServerAddress: CustomStringConvertible {
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
