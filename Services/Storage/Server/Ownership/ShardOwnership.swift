import RTMServiceLink

/// Which shards of the database this node wants to have, as the nodes share them evenly.
///
/// A shard is free when its owner's lease has ended, or when the owner has given it up. The node that should
/// lead it (`ShardAssignment`) wants it at once, and any other one only after a while: then the first one
/// can't take it. A node that leads more than its share gives up one shard after the other (`ShardBalance`),
/// and does so only for a node that lives, which looks often and takes the shard within milliseconds. A node
/// that is about to end gives up everything when the others have had the time to learn that.
///
/// It decides nothing about safety: of two nodes that want the same shard the database gives it to one.
///
/// Pure. Times are in milliseconds, on a clock that doesn't go back.
package struct ShardOwnership {
    /// How long a shard is left to the node that should lead it.
    static let courtesy: UInt64 = 500
    /// For how long a node doesn't want a shard that it has given up for another one.
    static let moveTime: UInt64 = 2_000
    /// How often a node looks: usually, and while a shard is about to be given up for it.
    package static let usualInterval: UInt64 = 100
    static let shortInterval: UInt64 = 20
    /// How long a node that is about to end keeps its shards, so that each of the others looks often by then.
    static let notice: UInt64 = 150

    private let node: String
    private let instance: String
    private var balance: ShardBalance
    /// By shard: since when it has been free, as far as was seen here.
    private var freeSince: [UInt64?]
    /// By shard: until when this node doesn't want it, because it gives it to another one.
    private var moves: [UInt64?]
    /// Since when the others may know that this node is about to end; nil while it isn't.
    private var leavingSince: UInt64?

    /// - Parameters:
    ///   - node: the name of this node, which it keeps over its restarts.
    ///   - instance: names this process among all that have had the name.
    ///   - pause: how long the list of nodes has to stay the same before a shard moves, and the time between
    ///     two moves.
    package init(of node: String, instance: String, shards: Int, pause: UInt64) {
        self.node = node
        self.instance = instance
        balance = ShardBalance(of: node, shards: shards, pause: pause)
        freeSince = Array(repeating: nil, count: shards)
        moves = Array(repeating: nil, count: shards)
    }

    package struct Decision: Equatable {
        /// By shard: whether this node wants it, or wants to keep it.
        package var wanted: [Bool]
        /// How soon to look again.
        package var interval = ShardOwnership.usualInterval
        /// Whether this node is about to end and there is nothing that it could still give to another one.
        package var hasLeft = false
    }

    /// The database has been asked.
    package mutating func learned(_ nodes: StorageNodes, now: UInt64) -> Decision {
        let isLeaving = nodes.living.contains { $0.instance == instance && $0.isLeaving }
        let isListed = !isLeaving && nodes.living.contains { $0.instance == instance }
        leavingSince = isLeaving ? leavingSince ?? now : nil
        // A node that is about to end takes nothing more.
        let staying = nodes.living.filter { !$0.isLeaving }
        balance.learned(staying.map(\.name), now: now)
        let living = Set(nodes.living.map(\.instance))
        let ending = Set(nodes.living.filter(\.isLeaving).map(\.instance))
        let led = nodes.owners.indices.filter { nodes.owners[$0] == instance }
        if isListed, let next = balance.next(led: led, now: now) { moves[next.shard] = now + Self.moveTime }
        let gives = leavingSince.map { !staying.isEmpty && now >= $0 + Self.notice } ?? false
        var decision = Decision(wanted: [])
        decision.hasLeft = isLeaving && (led.isEmpty || staying.isEmpty)
        for (shard, owner) in nodes.owners.enumerated() {
            let isOwn = owner == instance
            let isFree = !isOwn && !living.contains(owner)
            freeSince[shard] = isFree ? freeSince[shard] ?? now : nil
            if let until = moves[shard], now >= until || !isOwn && !isFree { moves[shard] = nil }
            let isPreferred = balance.isPreferredLeader(of: shard)
            let mayTake =
                isListed && freeSince[shard].map { isPreferred || now >= $0 + Self.courtesy } == true
            decision.wanted.append(moves[shard] == nil && (isOwn && !gives || mayTake))
            let comes = isListed && isPreferred && !isOwn && !isFree
            if comes, balance.isSteady(now) || ending.contains(owner) {
                decision.interval = Self.shortInterval
            }
        }
        if isLeaving { decision.interval = Self.shortInterval }
        return decision
    }
}
