import RTMRedis

/// What the journal of one shard asks Redis. Each command says what an action of `JournalMachine` means.
struct JournalCommands: Sendable {
    /// Limit: batches that are read at once.
    private static let pageCount: UInt64 = 32

    let names: JournalNames
    let limits: JournalLimits
    /// Whether only what a replica or a disk of Redis has is acknowledged.
    let isConfirmed: Bool

    private var lease: RedisArgument { RedisArgument(limits.lease) }

    /// Whether there is a journal.
    var exists: RedisCommand { RedisCommand("EXISTS", .text(names.head)) }

    /// - Parameter offered: the era of the installation, if it has none yet.
    func era(_ offered: UInt64) -> RedisCommand {
        RedisCommand(
            JournalScripts.era, keys: [names.era],
            [RedisArgument(names.shard), RedisArgument(offered), .text(names.node), lease])
    }

    /// - Parameters:
    ///   - epoch: of the first partition, if a journal is to begin; nil if none is.
    ///   - patience: for so many milliseconds nobody must have led.
    ///   - ahead: what this node has read ahead.
    func take(
        _ token: UInt64, epoch: UInt64?, secret: UInt64, patience: UInt64, ahead: JournalPlace?
    ) -> RedisCommand {
        RedisCommand(
            JournalScripts.take, keys: [names.head],
            [
                RedisArgument(token), .text(names.node), lease, .run,
                RedisArgument(epoch != nil), RedisArgument(epoch ?? 0), RedisArgument(secret),
                .text(names.layout), RedisArgument(patience), RedisArgument(isConfirmed),
                RedisArgument(ahead?.last ?? 0), RedisArgument(ahead?.leader ?? 0),
                RedisArgument(limits.doubt),
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
                RedisArgument(append.token), RedisArgument(append.number), .run, lease,
                RedisArgument(append.oldestKept), .buffer(append.bytes), RedisArgument(append.isWhole),
            ])
    }

    func reinstate(
        _ token: UInt64, before: UInt64, empties: Bool, isWhole: Bool, _ term: JournalTerm
    ) -> RedisCommand {
        RedisCommand(
            JournalScripts.reinstate, keys: [names.head, names.batches],
            [
                RedisArgument(token), RedisArgument(before), .text(names.node), lease, .run,
                RedisArgument(empties), RedisArgument(isWhole), RedisArgument(term.term),
                RedisArgument(term.epoch), RedisArgument(term.secret), .text(names.layout),
                RedisArgument(isConfirmed),
            ])
    }

    func offer(_ token: UInt64, to heir: String) -> RedisCommand {
        RedisCommand(JournalScripts.offer, keys: [names.head], [RedisArgument(token), .text(heir), lease])
    }

    /// - Parameter heir: empty: any node.
    func release(_ token: UInt64, last: UInt64, to heir: String) -> RedisCommand {
        RedisCommand(
            JournalScripts.release, keys: [names.head],
            [RedisArgument(token), RedisArgument(last), .run, .text(heir), lease])
    }

    /// - Parameter lease: how long the node counts as living, in milliseconds; 0: it leaves.
    static func register(_ node: String, at key: String, for lease: UInt64, layout: String) -> RedisCommand {
        RedisCommand(
            JournalScripts.register, keys: [key], [.text(node), RedisArgument(lease), .text(layout)])
    }
}
