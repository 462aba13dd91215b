import RTMClient
import RTMModel

/// The list of `AgoraRtmPrivateConfig.accessPointHosts` in the form that the client below needs: addresses,
/// and one kind of protection for all of them (N-2, N-3).
struct AccessPoints {
    let servers: [ServerAddress]
    let tls: RTMClient.TLS

    /// The local stack, for development without any configuration.
    static let local = AccessPoints(servers: [.local], tls: .disabled)

    private init(servers: [ServerAddress], tls: RTMClient.TLS) {
        self.servers = servers
        self.tls = tls
    }

    /// - Throws: `.invalidPrivateConfig` (-10024) for an empty list, an unreadable host, or hosts that would
    ///   be reached in different ways.
    init(_ hosts: [String]) throws(RTMError) {
        var servers: [ServerAddress] = []
        var isPlain: Bool?
        for host in hosts {
            let (server, serverIsPlain) = try Self.parse(host)
            guard isPlain ?? serverIsPlain == serverIsPlain else {
                throw Self.refusal(
                    "accessPointHosts has both plain and TLS addresses; '\(host)' is the first that differs: "
                        + "write tls:// or tcp://, wss:// or ws:// in front of each to say what is meant")
            }
            isPlain = serverIsPlain
            servers.append(server)
        }
        guard let isPlain else { throw Self.refusal("accessPointHosts is empty") }
        self.init(servers: servers, tls: isPlain ? .disabled : .enabled())
    }

    private static func parse(_ host: String) throws(RTMError) -> (ServerAddress, isPlain: Bool) {
        if let scheme = host.firstRange(of: "://") {
            let server = host[scheme.upperBound...]
            switch host[..<scheme.lowerBound].lowercased() {
            case "tls": return (try address(server), false)
            case "tcp": return (try address(server), true)
            case "wss": return (try address(host[...]), false)
            case "ws": return (try address(host[...]), true)
            default:
                throw refusal(
                    "'\(host)' in accessPointHosts begins with none of tls://, tcp://, wss:// and ws://")
            }
        }
        let server = try address(host[...])
        return (server, isLoopback(server.host))
    }

    private static func address(_ text: Substring) throws(RTMError) -> ServerAddress {
        do {
            return try ServerAddress(String(text))
        } catch {
            throw refusal(error.reason)
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        // A name such as 127.example.com is not an address.
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        return bytes.count == 4 && bytes[0] == 127 && host.utf8.count { $0 == UInt8(ascii: ".") } == 3
    }

    private static func refusal(_ reason: String) -> RTMError {
        RTMError(.invalidPrivateConfig, reason, operation: "init")
    }
}
