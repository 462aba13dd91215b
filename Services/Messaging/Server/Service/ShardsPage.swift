import RTMServiceKit

/// What the admin page `/shards` shows: the nodes that live, and the status of each shard at this node.
///
/// Pure.
struct ShardsPage: Equatable {
    struct Shard: Equatable {
        /// Nil while another node leads it, or none.
        var term: UInt64?
        var channels: Int
        var tailBytes: Int
        var links: Int
        /// Bytes that wait for Redis; nil if there is no journal.
        var backlogBytes: Int?
    }

    /// The names of the nodes that live; empty if there is no journal.
    var nodes: [String]
    /// By number.
    var shards: [Shard]

    var json: String {
        let shards = shards.enumerated().map { number, shard in
            var fields: [(name: String, json: String)] = [
                ("shard", "\(number)"), ("leads", "\(shard.term != nil)"),
            ]
            if let term = shard.term { fields.append(("term", "\(term)")) }
            fields += [
                ("channels", "\(shard.channels)"), ("tailBytes", "\(shard.tailBytes)"),
                ("links", "\(shard.links)"),
            ]
            if let bytes = shard.backlogBytes { fields.append(("backlogBytes", "\(bytes)")) }
            return JSONText.object(fields)
        }
        return JSONText.object([
            ("nodes", JSONText.array(nodes.map { JSONText.quoted($0) })),
            ("shards", JSONText.array(shards)),
        ])
    }
}
