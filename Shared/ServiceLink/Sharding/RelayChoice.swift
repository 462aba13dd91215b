package import NIOCore

/// When a caller reaches a node through another one, and through which.
///
/// A node that leads a shard may be out of the reach of one caller alone: the way between the two is broken,
/// and others serve the shard meanwhile. So when a shard has no leader here, and a node that the others list
/// has been out of reach for a while, the caller asks another node to relay to it. The nodes list only those
/// that have kept their lease, so a node that is dead isn't asked for.
///
/// There is one for each shard of a caller. Pure.
package struct RelayChoice {
    /// So long a node is out of reach before another one is asked to relay.
    static let delay = TimeAmount.seconds(2)
    /// So long the direct way has to stand, or another node to lead, before a relay is given up.
    static let settling = TimeAmount.seconds(5)
    /// So long after a relay has failed the next one to the same node is tried.
    static let pause = TimeAmount.seconds(1)

    package enum Action: Equatable {
        case open(to: String, through: String)
        case close(to: String)
    }

    /// Over which link the leader of the shard is reached.
    package enum Leader: Equatable {
        case none, direct
        case relayed(to: String)
    }

    private struct Way {
        var isUp: Bool
        /// Since when it is up, or since when nothing has come over it.
        var since: NIODeadline
    }

    private struct Relays {
        /// Those that were tried since the last time that all had been tried.
        var tried: Set<String> = []
        /// Nil if none is in use.
        var present: String?
        var next = NIODeadline.distantPast
    }

    /// The direct ways, by address.
    private var ways: [String: Way] = [:]
    /// By the address of the node to which they relay.
    private var relays: [String: Relays] = [:]
    private var leader: (Leader, since: NIODeadline) = (.none, .distantPast)

    package init() {}

    // MARK: - What happens

    /// A direct link is wanted, has come up, or is down.
    ///
    /// - Parameter silence: for how long nothing had come over it before.
    package mutating func changed(
        _ address: String, isUp: Bool, after silence: TimeAmount = .zero, now: NIODeadline
    ) {
        if let way = ways[address], way.isUp == isUp { return }
        ways[address] = Way(isUp: isUp, since: now - silence)
    }

    /// A node has gone for good.
    package mutating func forget(_ address: String) {
        ways[address] = nil
        relays[address] = nil
    }

    /// The link through the relay has ended or didn't come up.
    package mutating func failed(to address: String, now: NIODeadline) {
        relays[address]?.present = nil
        relays[address]?.next = now + Self.pause
    }

    // MARK: - What is to be done

    /// Whether time alone changes what is to be done.
    package func isWaiting(_ listed: Set<String>) -> Bool {
        relays.values.contains { $0.present != nil } || listed.contains { ways[$0]?.isUp == false }
    }

    /// - Parameters:
    ///   - listed: the addresses of the nodes that live, as they say.
    ///   - random: in 0..<1.
    package mutating func next(
        _ listed: Set<String>, leader present: Leader, now: NIODeadline, random: () -> Double
    ) -> [Action] {
        if present != leader.0 { leader = (present, now) }
        var actions: [Action] = []
        for (node, _) in relays.filter({ $0.value.present != nil }).sorted(by: { $0.key < $1.key })
        where isOver(node, listed, now) {
            relays[node] = nil
            actions.append(.close(to: node))
        }
        guard present == .none else { return actions }
        for node in listed.sorted() where isNeeded(node, now) {
            if let relay = pick(node, random) { actions.append(.open(to: node, through: relay)) }
        }
        return actions
    }

    private func isOver(_ node: String, _ listed: Set<String>, _ now: NIODeadline) -> Bool {
        guard listed.contains(node) else { return true }
        if let way = ways[node], way.isUp, now - way.since >= Self.settling { return true }
        return leader.0 != .none && leader.0 != .relayed(to: node) && now - leader.since >= Self.settling
    }

    private func isNeeded(_ node: String, _ now: NIODeadline) -> Bool {
        guard let way = ways[node], !way.isUp, now - way.since >= Self.delay else { return false }
        guard let relays = relays[node] else { return true }
        return relays.present == nil && now >= relays.next
    }

    private mutating func pick(_ node: String, _ random: () -> Double) -> String? {
        let all = ways.filter { $0.value.isUp && $0.key != node }.map(\.key).sorted()
        guard !all.isEmpty else { return nil }
        var relays = relays[node] ?? Relays()
        if relays.tried.isSuperset(of: all) { relays.tried = [] }
        let fresh = all.filter { !relays.tried.contains($0) }
        let relay = fresh[min(fresh.count - 1, Int(random() * Double(fresh.count)))]
        relays.tried.insert(relay)
        relays.present = relay
        self.relays[node] = relays
        return relay
    }
}
