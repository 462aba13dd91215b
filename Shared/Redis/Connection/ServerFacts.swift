/// What a command says of the server that gets it. `ServerFacts` has the values.
package enum ServerFact: Sendable {
    /// See `ServerFacts.history`.
    case history
    /// The id of the history that the server had as a replica, before it was made a master
    /// (`master_replid2`).
    case secondReplicationID
    /// When the process started, by the server's own clock, in milliseconds, give or take a second; empty if
    /// it doesn't say.
    case startedAt
    /// Whether the data are those of the server's append-only file: 1 or 0.
    case hasReadAppendOnlyFile
}

/// What a server says about itself in `INFO`. Pure.
struct ServerFacts: Sendable, Hashable {
    /// The parts of `INFO` that are asked for; Redis 6.2 gives only one at a time.
    static let questions = ["server", "persistence", "replication", "memory"].map {
        RedisCommand("INFO", .text($0))
    }

    /// The epoch of the failover that made the server the master, as the sentinels say; 0 without sentinels.
    var configEpoch: UInt64 { didSet { noteHistory() } }
    private var values: [Substring: Substring] = [:]

    /// Which history of the data the server has. While it is the same text, nothing that was written here has
    /// been lost.
    ///
    /// The run of the process alone doesn't say that: a master that was replaced may stand still, wake, and
    /// be chosen again, with data from before. Then the sentinels give it a later epoch. A server that was a
    /// replica meanwhile has another replication id, also where no sentinel counts.
    private(set) var history = ""

    init(configEpoch: UInt64 = 0) { self.configEpoch = configEpoch }

    /// Reads one part more.
    mutating func read(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[line[..<colon]] = line[line.index(after: colon)...]
        }
        noteHistory()
    }

    private mutating func noteHistory() {
        history = "\(values["run_id"] ?? "") \(configEpoch) \(values["master_replid"] ?? "")"
    }

    subscript(fact: ServerFact) -> String {
        switch fact {
        case .history: history
        case .secondReplicationID: values["master_replid2"].map(String.init) ?? ""
        case .startedAt: startedAt.map { String($0) } ?? ""
        case .hasReadAppendOnlyFile: hasReadAppendOnlyFile ? "1" : "0"
        }
    }

    private var startedAt: UInt64? {
        guard let now = values["server_time_usec"].flatMap({ UInt64($0) }),
            let uptime = values["uptime_in_seconds"].flatMap({ UInt64($0) })
        else { return nil }
        return now / 1_000 - min(now / 1_000, uptime * 1_000)
    }

    /// A server that was a replica, or has read a snapshot with a place in a history, has an id of before.
    /// One that has read its append-only file has none.
    private var hasReadAppendOnlyFile: Bool {
        values["aof_enabled"] == "1" && values["master_replid2"]?.allSatisfy { $0 == "0" } == true
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
