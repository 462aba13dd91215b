/// Which node leads which shard while these nodes live.
///
/// Each node has a weight for each shard (rendezvous hashing), and takes the shards for which its weight is
/// greatest, but no more than its share. So all nodes come to the same result without a message, none leads
/// more than one shard more than another, and few shards move when a node comes or goes.
///
/// Pure.
package struct ShardAssignment: Equatable {
    /// By shard: the node that should lead it; nil if no node lives.
    private let preferredLeaders: [String?]

    package init(shards: Int, nodes: [String]) {
        let choices = nodes.flatMap { node in
            (0..<shards).map { (weight: Self.weight(of: node, for: $0), shard: $0, node: node) }
        }
        var preferredLeaders = [String?](repeating: nil, count: shards)
        var counts: [String: Int] = [:]
        let share = nodes.isEmpty ? 0 : shards / nodes.count
        var more = nodes.isEmpty ? 0 : shards % nodes.count
        for choice in choices.sorted(by: { ($0.weight, $0.node) > ($1.weight, $1.node) }) {
            let count = counts[choice.node, default: 0]
            guard preferredLeaders[choice.shard] == nil, count < share || count == share && more > 0 else {
                continue
            }
            if count == share { more -= 1 }
            preferredLeaders[choice.shard] = choice.node
            counts[choice.node] = count + 1
        }
        self.preferredLeaders = preferredLeaders
    }

    package func preferredLeader(of shard: Int) -> String? { preferredLeaders[shard] }

    private static func weight(of node: String, for shard: Int) -> UInt64 {
        var hash = StableHash()
        for byte in node.utf8 { hash.add(byte) }
        return hash.mixed(with: UInt64(shard))
    }
}
