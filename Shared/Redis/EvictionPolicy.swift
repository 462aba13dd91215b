/// Whether Redis may delete keys by itself when its memory is full. What we keep there has no second copy, so
/// a server that may do that isn't used: it would forget members without a word. A server that may not
/// refuses writes when it is full, and says so.
enum EvictionPolicy {
    /// The question that `cause` reads the answer of.
    static let question = RedisCommand("INFO", "memory")

    /// - Parameter info: the answer to `question`.
    /// - Returns: why the server isn't used, with what is to be set; nil if it keeps what it has.
    static func cause(in info: String) -> String? {
        let name = "maxmemory_policy:"
        let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name) }
        // A server that doesn't say it has no such policy.
        guard let policy = line?.dropFirst(name.count), policy != "noeviction" else { return nil }
        return "Redis may delete our keys when its memory is full (maxmemory-policy \(policy)): "
            + "set maxmemory-policy noeviction"
    }
}
