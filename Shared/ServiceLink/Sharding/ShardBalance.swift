/// Keeps the shards spread over the nodes: it knows which nodes live, and chooses what this node transfers to
/// another one, one shard after the other.
///
/// It decides nothing about safety. Two nodes that see different lists for a while only want the same shard,
/// and the database of the service gives it to one of them.
///
/// Pure.
package struct ShardBalance {
    /// How long the list of nodes has to stay the same before a shard moves, and how long a move waits for
    /// the one before, in milliseconds. So nothing moves twice when a node is restarted, or when several
    /// start together.
    package let pause: UInt64
    private let node: String
    private let shards: Int
    private var nodes: [String] = []
    package private(set) var assignment: ShardAssignment
    private var steadyFrom: UInt64 = 0
    /// The shard that was chosen last: one that can't be transferred must not hold up the others.
    private var lastChosen = -1

    package init(of node: String, shards: Int, pause: UInt64) {
        self.node = node
        self.shards = shards
        self.pause = pause
        assignment = ShardAssignment(shards: shards, nodes: [])
    }

    /// These nodes live, this one among them.
    package mutating func learned(_ living: [String], now: UInt64) {
        let living = living.sorted()
        guard living != nodes else { return }
        nodes = living
        assignment = ShardAssignment(shards: shards, nodes: living)
        steadyFrom = now + pause
    }

    /// Whether shards may move now, because the list of nodes has been the same for long enough.
    package func isSteady(_ now: UInt64) -> Bool { now >= steadyFrom }

    package func isPreferredLeader(of shard: Int) -> Bool { assignment.preferredLeader(of: shard) == node }

    /// A shard whose leadership is to be transferred now, and who is to lead it.
    ///
    /// - Parameter led: the shards that this node leads.
    package mutating func next(led: [Int], now: UInt64) -> (shard: Int, successor: String)? {
        guard now >= steadyFrom else { return nil }
        let unwanted = led.filter { !isPreferredLeader(of: $0) }
        let next = unwanted.first { $0 > lastChosen } ?? unwanted.first
        guard let shard = next, let successor = assignment.preferredLeader(of: shard) else { return nil }
        (steadyFrom, lastChosen) = (now + pause, shard)
        return (shard, successor)
    }

    /// Who is to lead a shard when this node ends; empty if no other node lives.
    package func successor(of shard: Int) -> String {
        ShardAssignment(shards: shards, nodes: nodes.filter { $0 != node }).preferredLeader(of: shard) ?? ""
    }
}
