/// By what a node of a Cluster says that a command has to go elsewhere, or come later. The kinds count in a
/// metric.
package enum RedisRedirection: String, Sendable, CaseIterable {
    case moved, ask
    case tryAgain = "try_again"
    case clusterDown = "cluster_down"
    case loading
}

/// Such an answer, with what it says. The command was not done. Pure.
enum Redirection: Sendable, Hashable {
    /// The slot is served by another master.
    case moved(slot: Int, RedisEndpoint)
    /// The slot is on its way to another master, and what the command needs is there.
    case ask(RedisEndpoint)
    /// The slot is on its way, and not all keys of the command are at one master.
    case tryAgain
    /// Nobody serves the slot at the moment.
    case clusterDown
    /// The server still reads its data.
    case loading

    /// - Parameter asked: the node that has answered.
    /// - Returns: nil for a refusal of another kind.
    init?(_ text: String, from asked: RedisEndpoint) {
        let words = text.split(separator: " ")
        switch words.first {
        case "MOVED", "ASK":
            guard words.count >= 3, let slot = Int(words[1]), (0..<HashSlot.count).contains(slot),
                let endpoint = Self.endpoint(words[2], asked: asked)
            else { return nil }
            self = words[0] == "MOVED" ? .moved(slot: slot, endpoint) : .ask(endpoint)
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN": self = .clusterDown
        case "LOADING", "MASTERDOWN": self = .loading
        default: return nil
        }
    }

    /// The address has no brackets, so the port is what follows the last colon.
    private static func endpoint(_ text: Substring, asked: RedisEndpoint) -> RedisEndpoint? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        return ClusterSlots.endpoint(String(text[..<colon]), port, asked: asked)
    }

    var kind: RedisRedirection {
        switch self {
        case .moved: .moved
        case .ask: .ask
        case .tryAgain: .tryAgain
        case .clusterDown: .clusterDown
        case .loading: .loading
        }
    }
}
