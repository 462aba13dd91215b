import RTMClient
import RTMModel

/// The list of `AgoraRtmPrivateConfig.accessPointHosts`, or of what stands for it, in the form that the
/// client below needs: addresses, and one kind of protection for all of them (N-2, N-3).
struct AccessPoints {
    let servers: [ServerAddress]
    let tls: RTMClient.TLS

    private init(servers: [ServerAddress], tls: RTMClient.TLS) {
        self.servers = servers
        self.tls = tls
    }

    /// - Parameters:
    ///   - areaCode: the areas whose servers the client may use. A host without an area serves all of them.
    ///   - caFile: a PEM file of the authorities to trust; nil means those of the system.
    ///   - source: what has the list, by its name.
    /// - Throws: `.invalidPrivateConfig` (-10024) for an empty list, an unreadable host, no host in the
    ///   areas, or hosts that would be reached in different ways.
    init(
        _ hosts: [String], in areaCode: AgoraRtmAreaCode = .GLOB, caFile: String? = nil,
        from source: String = "accessPointHosts"
    ) throws(RTMError) {
        guard !hosts.isEmpty else { throw Self.refusal("\(source) is empty") }
        var servers: [ServerAddress] = []
        var isPlain: Bool?
        for host in hosts {
            let (address, areas) = try Self.areas(of: host, from: source)
            let (server, serverIsPlain) = try Self.parse(address, from: source)
            guard areas.map({ !$0.isDisjoint(with: areaCode) }) ?? true else { continue }
            guard isPlain ?? serverIsPlain == serverIsPlain else {
                throw Self.refusal(
                    "\(source) has both plain and TLS addresses; '\(host)' is the first that differs: "
                        + "write tls:// or tcp://, wss:// or ws:// in front of each to say what is meant")
            }
            isPlain = serverIsPlain
            servers.append(server)
        }
        guard let isPlain else {
            throw Self.refusal("no host in \(source) is in an area of areaCode")
        }
        self.init(servers: servers, tls: isPlain ? .disabled : .enabled(caFile: caFile))
    }

    /// `rtm.example.com#EU,NA` is a host in Europe and North America (N-6).
    private static func areas(
        of host: String, from source: String
    ) throws(RTMError) -> (address: String, areas: AgoraRtmAreaCode?) {
        guard let mark = host.firstIndex(of: "#") else { return (host, nil) }
        var areas: AgoraRtmAreaCode = []
        for name in host[host.index(after: mark)...].split(separator: ",", omittingEmptySubsequences: false) {
            guard let area = AgoraRtmAreaCode.named[String(name)] else {
                throw refusal(
                    "'\(host)' in \(source) has the area '\(name)'; there are "
                        + AgoraRtmAreaCode.named.keys.sorted().joined(separator: ", "))
            }
            areas.insert(area)
        }
        return (String(host[..<mark]), areas)
    }

    private static func parse(
        _ host: String, from source: String
    ) throws(RTMError) -> (ServerAddress, isPlain: Bool) {
        if let scheme = host.firstRange(of: "://") {
            let server = host[scheme.upperBound...]
            switch host[..<scheme.lowerBound].lowercased() {
            case "tls": return (try address(server), false)
            case "tcp": return (try address(server), true)
            case "wss": return (try address(host[...]), false)
            case "ws": return (try address(host[...]), true)
            default:
                throw refusal(
                    "'\(host)' in \(source) begins with none of tls://, tcp://, wss:// and ws://")
            }
        }
        let server = try address(host[...])
        return (server, server.isLoopback)
    }

    private static func address(_ text: Substring) throws(RTMError) -> ServerAddress {
        do {
            return try ServerAddress(String(text))
        } catch {
            throw refusal(error.reason)
        }
    }

    private static func refusal(_ reason: String) -> RTMError {
        RTMError(.invalidPrivateConfig, reason, operation: "init")
    }
}

extension AgoraRtmAreaCode {
    static let named: [String: AgoraRtmAreaCode] = [
        "CN": .CN, "NA": .NA, "EU": .EU, "AS": .AS, "JP": .JP, "IN": .IN,
    ]
}
