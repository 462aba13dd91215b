/// Whether Redis may delete keys by itself when its memory is full. What we keep there has no second copy, so
/// a server that may do that isn't used: it would forget members without a word. A server that may not
/// refuses writes when it is full, and says so.
enum EvictionPolicy {
    /// - Parameter policy: what `INFO` calls `maxmemory_policy`.
    /// - Returns: why the server isn't used, with what is to be set; nil if it keeps what it has.
    static func cause(_ policy: Substring) -> String? {
        guard policy != "noeviction" else { return nil }
        return "Redis may delete our keys when its memory is full (maxmemory-policy \(policy)): "
            + "set maxmemory-policy noeviction"
    }
}
