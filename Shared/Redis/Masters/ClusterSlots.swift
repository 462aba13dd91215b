/// The answer to `CLUSTER SLOTS`, which every version of Redis and Valkey gives. Pure.
enum ClusterSlots {
    static let question = RedisCommand("CLUSTER", "SLOTS")

    /// - Parameter asked: the node that has answered. It stands for nodes whose address it doesn't know.
    /// - Returns: nil if this is no answer to that question.
    static func ranges(_ reply: RedisReply, asked: RedisEndpoint) -> [SlotMap.Range]? {
        guard let entries = reply.elements else { return nil }
        let ranges = entries.compactMap { range($0, asked: asked) }
        return ranges.count == entries.count ? ranges : nil
    }

    /// An entry is: first slot, last slot, master, replicas; a node is: host, port, and more.
    private static func range(_ entry: RedisReply, asked: RedisEndpoint) -> SlotMap.Range? {
        guard let parts = entry.elements, parts.count >= 3, let first = parts[0].number,
            let last = parts[1].number, first <= last, last < UInt64(HashSlot.count),
            let node = parts[2].elements, node.count >= 2, let port = node[1].number, port <= 65_535
        else { return nil }
        return SlotMap.Range(
            slots: Int(first)...Int(last), master: endpoint(node[0].string ?? "", Int(port), asked: asked))
    }

    /// A node that doesn't know a host names none, and means the one that it was asked at.
    static func endpoint(_ host: String, _ port: Int, asked: RedisEndpoint) -> RedisEndpoint {
        guard host.isEmpty || host == "?" else { return .tcp(host: host, port: port) }
        guard case .tcp(let host, _) = asked else { return .tcp(host: "127.0.0.1", port: port) }
        return .tcp(host: host, port: port)
    }
}
