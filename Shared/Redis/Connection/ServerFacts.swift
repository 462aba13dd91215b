/// What a server says about itself in `INFO`. Pure.
struct ServerFacts: Sendable, Hashable {
    /// The parts of `INFO` that are asked for; Redis 6.2 gives only one at a time.
    static let questions = ["server", "replication", "memory"].map { RedisCommand("INFO", .text($0)) }

    private var values: [Substring: Substring] = [:]

    /// Another one after each start of the server.
    private(set) var run = ""

    /// Reads one part more.
    mutating func read(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[line[..<colon]] = line[line.index(after: colon)...]
        }
        run = values["run_id"].map(String.init) ?? ""
    }

    /// Why the server isn't used, with what is to be set; nil if it is one of those that are looked for.
    func cause(isClusterExpected: Bool) -> String? {
        modeCause(isClusterExpected) ?? roleCause
            ?? evictionCause
    }

    private func modeCause(_ isClusterExpected: Bool) -> String? {
        // A server that doesn't say what it is is taken for one.
        switch values["redis_mode"] ?? values["server_mode"] {
        case "sentinel":
            "this is a sentinel: set redis.mode to sentinel, or give the address of a server"
        case "cluster" where !isClusterExpected:
            "this is a node of a Redis Cluster: set redis.mode to cluster"
        case "standalone" where isClusterExpected:
            "this is no node of a Redis Cluster: set redis.mode to server or sentinel"
        default: nil
        }
    }

    /// What we keep in Redis has no second copy. A server that may delete keys by itself when its memory is
    /// full would lose members without an error, so it isn't used. A server that may not refuses writes then.
    private var evictionCause: String? {
        guard let policy = values["maxmemory_policy"], policy != "noeviction" else { return nil }
        return "Redis may delete our keys when its memory is full (maxmemory-policy \(policy)): "
            + "set maxmemory-policy noeviction"
    }

    /// What is written to a replica is refused or lost.
    private var roleCause: String? {
        guard values["role"] == "slave" else { return nil }
        let master = "\(values["master_host"] ?? "?"):\(values["master_port"] ?? "?")"
        return "this is a replica of \(master), not a master: "
            + "give the master's address, or that of its sentinels"
    }
}
