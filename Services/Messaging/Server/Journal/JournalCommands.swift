import RTMRedis

/// What the journal of one shard asks Redis. Each command carries out one action of `ShardLeadership`.
struct JournalCommands: Sendable {
    /// Limit: batches that are read at once.
    private static let pageCount: UInt64 = 32

    let names: JournalNames
    let limits: JournalLimits
    let durability: JournalDurability

    private var lease: RedisArgument { RedisArgument(limits.lease) }

    /// Whether there is a journal.
    var exists: RedisCommand { RedisCommand("EXISTS", .text(names.head)) }

    /// - Parameter offered: the first epoch of the installation, if it has none yet.
    func firstEpoch(_ offered: UInt64) -> RedisCommand {
        RedisCommand(
            JournalScripts.firstEpoch, keys: [names.firstEpoch],
            [RedisArgument(names.shard), RedisArgument(offered), .text(names.node), lease])
    }

    /// - Parameters:
    ///   - epoch: the epoch of the first partition, if a journal may begin; otherwise nil.
    ///   - electionDelay: for how many milliseconds nobody must have led.
    ///   - readUntil: how far this node has read ahead.
    func requestLeadership(
        _ leaderToken: UInt64, epoch: UInt64?, secret: UInt64, electionDelay: UInt64,
        readUntil: JournalPosition?
    ) -> RedisCommand {
        RedisCommand(
            JournalScripts.requestLeadership, keys: [names.head],
            [
                RedisArgument(leaderToken), .text(names.node), lease, .server(.history),
                RedisArgument(epoch != nil), RedisArgument(epoch ?? 0), RedisArgument(secret),
                .text(names.layout), RedisArgument(electionDelay), .text(durability.rawValue),
                RedisArgument(readUntil?.last ?? 0), RedisArgument(readUntil?.leaderToken ?? 0),
                RedisArgument(limits.lossReportTime), .server(.secondReplicationID), .server(.startedAt),
                .server(.hasReadAppendOnlyFile),
            ])
    }

    /// A page of the batches behind this one.
    func read(after number: UInt64) -> RedisCommand {
        RedisCommand(
            "XRANGE", .text(names.batches), .text("(\(number)-0"), "+", "COUNT",
            RedisArgument(Self.pageCount))
    }

    func append(_ append: JournalAppend) -> RedisCommand {
        RedisCommand(
            JournalScripts.append, keys: [names.head, names.batches],
            [
                RedisArgument(append.leaderToken), RedisArgument(append.number), .server(.history), lease,
                RedisArgument(append.oldestKept), .buffer(append.bytes), RedisArgument(append.isWhole),
            ])
    }

    func reinstate(
        _ leaderToken: UInt64, before: UInt64, empties: Bool, isWhole: Bool, _ term: JournalTerm
    ) -> RedisCommand {
        RedisCommand(
            JournalScripts.reinstate, keys: [names.head, names.batches],
            [
                RedisArgument(leaderToken), RedisArgument(before), .text(names.node), lease,
                .server(.history), RedisArgument(empties), RedisArgument(isWhole), RedisArgument(term.term),
                RedisArgument(term.epoch), RedisArgument(term.secret), .text(names.layout),
                .text(durability.rawValue), .text(term.lineage.text),
            ])
    }

    func offer(_ leaderToken: UInt64, to successor: String) -> RedisCommand {
        RedisCommand(
            JournalScripts.offer, keys: [names.head], [RedisArgument(leaderToken), .text(successor), lease])
    }

    /// - Parameter successor: empty: any node.
    func transfer(_ leaderToken: UInt64, last: UInt64, to successor: String) -> RedisCommand {
        RedisCommand(
            JournalScripts.transfer, keys: [names.head],
            [RedisArgument(leaderToken), RedisArgument(last), .server(.history), .text(successor), lease])
    }

    /// - Parameter lease: how long the node counts as living, in milliseconds; 0: it leaves the list.
    static func register(_ node: String, at key: String, for lease: UInt64, layout: String) -> RedisCommand {
        RedisCommand(
            JournalScripts.register, keys: [key], [.text(node), RedisArgument(lease), .text(layout)])
    }
}

/// Under which keys the journal of a shard lies, and who writes it.
struct JournalNames: Sendable {
    /// Both lie in one hash slot, so that one script can use them. The shards lie on all masters of a
    /// Cluster.
    let head: String
    let batches: String
    /// All shards share it.
    let firstEpoch: String
    let node: String
    let layout: String
    let shard: UInt64
    /// How many epochs the shards before this one have.
    let epochsBefore: UInt64

    /// - Parameter node: the name of this process, which no other process has.
    init(prefix: String, of shard: BrokerLimits, node: String, layout: String) {
        head = "{\(prefix)journal:\(shard.shard)}:head"
        batches = "{\(prefix)journal:\(shard.shard)}:batches"
        firstEpoch = "{\(prefix)journal}:firstEpoch"
        self.shard = UInt64(shard.shard)
        epochsBefore = shard.firstEpoch(from: 0)
        self.node = node
        self.layout = layout
    }
}

/// The Lua scripts of the journal, which are embedded in the binary. The head of each one says what it takes,
/// returns and costs.
enum JournalScripts {
    static let requestLeadership = script("request_leadership", PackageResources.request_leadership_lua)
    static let append = script("append", PackageResources.append_lua)
    static let reinstate = script("reinstate", PackageResources.reinstate_lua)
    static let offer = script("offer", PackageResources.offer_lua)
    static let transfer = script("transfer", PackageResources.transfer_lua)
    static let firstEpoch = script("first_epoch", PackageResources.first_epoch_lua)
    static let register = script("register", PackageResources.register_lua)

    static let all = [requestLeadership, append, reinstate, offer, transfer, firstEpoch, register]

    private static func script(_ name: String, _ bytes: [UInt8]) -> RedisScript {
        RedisScript(name: name, source: String(decoding: bytes, as: UTF8.self))
    }
}
