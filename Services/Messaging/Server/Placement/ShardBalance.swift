/// A node's part in spreading the shards: it knows which nodes live, and gives away what another one should
/// lead, one shard after the other.
///
/// It decides nothing about safety. Two nodes that see different lists for a while only want the same shard,
/// and Redis gives it to one of them.
///
/// Pure.
struct ShardBalance {
    /// So long the list of nodes has to stay the same before a shard moves, and so long one move waits for
    /// the next, in milliseconds. A node that is restarted, or several that start together, move nothing
    /// twice.
    let pause: UInt64
    private let node: String
    private let shards: Int
    private var nodes: [String] = []
    private(set) var placement: ShardPlacement
    private var steadyFrom: UInt64 = 0
    /// The shard that was given away last: one that can't be must not hold up the others.
    private var lastGiven = -1

    init(of node: String, shards: Int, pause: UInt64) {
        self.node = node
        self.shards = shards
        self.pause = pause
        placement = ShardPlacement(shards: shards, nodes: [])
    }

    /// These nodes live, this one among them.
    mutating func learned(_ living: [String], now: UInt64) {
        let living = living.sorted()
        guard living != nodes else { return }
        nodes = living
        placement = ShardPlacement(shards: shards, nodes: living)
        steadyFrom = now + pause
    }

    func isWanted(_ shard: Int) -> Bool { placement.owner(of: shard) == node }

    /// A shard that is to be given away now, and who is to lead it.
    ///
    /// - Parameter led: the shards that this node leads.
    mutating func next(led: [Int], now: UInt64) -> (shard: Int, heir: String)? {
        guard now >= steadyFrom else { return nil }
        let unwanted = led.filter { !isWanted($0) }
        let next = unwanted.first { $0 > lastGiven } ?? unwanted.first
        guard let shard = next, let heir = placement.owner(of: shard) else { return nil }
        (steadyFrom, lastGiven) = (now + pause, shard)
        return (shard, heir)
    }

    /// Who is to lead a shard when this node ends; empty if no other node lives.
    func heir(of shard: Int) -> String {
        ShardPlacement(shards: shards, nodes: nodes.filter { $0 != node }).owner(of: shard) ?? ""
    }
}
