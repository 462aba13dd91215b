import Foundation
import RTMModel
import RTMServiceKit
import RTMStorageServer
import RTMWire

/// The writing half of the store in PostgreSQL: the owner of one shard.
///
/// **The fence.** An owner has a term. Each of its transactions begins by locking the row of the shard,
/// if that still has the term, and appends the number of the group. So when another node has taken a
/// later term, a transaction of the earlier one can't commit any more, however long its process stood
/// still.
///
/// **Doubt.** When the answer to a commit doesn't come, or comes with a warning, the group may be kept or
/// not. The owner takes a new term from itself, which waits for the transaction in doubt if that is still
/// alive, and then reads the number of the last group (docs/decisions/0030-storage-on-postgresql.md).
///
/// **A server that went back.** Behind each new connection there may be another server: a standby that
/// was behind, or one over a restored backup. It says that this process is the owner, as before, and has
/// an earlier group as the last one. Then everything begins anew, in a term and with a source of its own.
final class PostgresWriter: WritableStore {
    /// Limit: channels that are kept in memory. Beyond it all of them are dropped and read again.
    private static let channelsMax = 100_000
    /// Limit: times and sequences of stored messages that are kept in memory.
    private static let marksMax = 400_000
    /// Limit: a group makes fewer channels than two to the power of this.
    static let channelBits: Int64 = 20
    /// How long it may take to make the inbox of another server this one's.
    private static let moveTimeout = Duration.seconds(60)
    /// How often a transaction is repeated that others were in the way of.
    private static let repetitionsMax = 5

    let shard: Int64
    let options: PostgresOptions
    private typealias Part = PostgresGroupWrite.Part

    /// Names this process among all that own the shard or have owned it.
    private let owner: String
    /// Nil if this process has no place among the nodes. Then its shard may be taken at any time.
    private let claim: ShardClaim?
    private var connection: PostgresConnection?
    private var groups = ShardGroups()
    private(set) var counter: UInt64 = 0
    private var position = OutboxPosition(0)
    private(set) var source: UInt64
    /// The ids of channels.
    private var channels: [ChannelKey: Int64] = [:]
    private var marks = HistoryMarks()
    /// By when messages have expired, in milliseconds (UTC): what the expiry clock said when messages
    /// were removed last.
    private var expired: UInt64 = 0
    /// The last channel that the search for unused channels has visited.
    private var searched: Int64 = 0
    private var partitions = PostgresPartitions()
    private var cleanedHour: Int64 = 0
    private var emptiedSlice: Int64 = 0
    /// How many connections there were. A snapshot counts on the server that has made it, so what one
    /// connection has read of the inbox is never kept over another one.
    private var connections = 0
    /// How far the inbox is drained, and over which connection that was read.
    private var inbox: (cursor: InboxCursor, connection: Int)?
    /// What the last `read` has found of the messages of its group.
    private var lookup = HistoryLookup()

    /// - Parameters:
    ///   - source: differs from that of every other opening. It is the epoch of the events that are kept
    ///     from now on.
    ///   - node: this process among the nodes. Without one its shard may be taken at any time.
    init(
        _ options: PostgresOptions, shard: Int = 0, source: UInt64 = .random(in: 1...UInt64(Int64.max)),
        of node: PostgresNode? = nil
    ) throws(StoreFailure) {
        self.options = options
        self.shard = Int64(shard)
        self.source = source
        owner = node?.instance ?? "\(options.node) \(UUID().uuidString)"
        claim = node?.claims[shard]
        do throws(PostgresFailure) {
            let connection = try PostgresConnection(options)
            self.connection = connection
        } catch {
            throw StoreFailure(error, doing: "connecting")
        }
        try connection.map { connection throws(StoreFailure) in
            try PostgresSchema(connection: connection, shards: options.shards).migrate()
        }
    }

    func close() { release() }

    /// Where this fails, another node takes the shard when this one's lease has ended.
    func release() {
        if let connection, connection.isUsable {
            _ = try? connection.run(
                [
                    PostgresStatement(
                        """
                        UPDATE shards SET owner = '' WHERE shard = $1 AND owner = $2
                        """, .integer(shard), .text(owner))
                ], within: options.timeout)
        }
        connection?.close()
        connection = nil
    }

    // MARK: Connections

    private func connected() throws(PostgresFailure) -> PostgresConnection {
        if let connection, connection.isUsable { return connection }
        connection?.close()
        connection = nil
        let made = try PostgresConnection(options)
        connection = made
        connections += 1
        if groups.isLastKnown {
            let last = try made.run([lastGroup], within: options.timeout)[0].first?.integer(0) ?? 0
            guard groups.isComplete(last) else { throw wentBack(to: last) }
        }
        return made
    }

    private func wentBack(to last: Int64) -> PostgresFailure {
        PostgresFailure(
            cause: .wentBack,
            reason: "the database went back from group \(groups.last) to group \(last) of the shard \(shard)")
    }

    private func run(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        try connected().run(statements, within: options.timeout)
    }

    /// What only reads is done again over a new connection, because the server may have been restarted.
    private func reading(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        do throws(PostgresFailure) { return try run(statements) } catch {
            guard error.cause == .lost else { throw error }
            return try run(statements)
        }
    }

    // MARK: Terms

    /// Takes the shard, if it is this process's own or its owner doesn't live any more.
    ///
    /// A term is the time at which it began, in milliseconds. So it is later than all that callers know,
    /// even where an older backup was restored.
    func start() throws(StoreFailure) -> StoreStart {
        do throws(PostgresFailure) {
            if claim?.isWanted == false {
                connection?.close()
                connection = nil
                throw fenced
            }
            groups.forgetLast()
            forgetChannels()
            lookup = HistoryLookup()
            inbox = nil
            let taken = try run([
                PostgresStatement(
                    """
                    UPDATE shards SET owner = $2, term = greatest(term + 1,
                        (extract(epoch FROM clock_timestamp()) * 1000)::int8)
                    WHERE shard = $1 AND (owner = $2 OR owner NOT IN
                        (SELECT instance FROM nodes WHERE lease_end > clock_timestamp()))
                    RETURNING term
                    """, .integer(shard), .text(owner))
            ])
            guard let row = taken[0].first, connection?.hasWarned == false else {
                throw fenced
            }
            // Each term but the first has a source of its own: another node may have kept events between.
            if groups.term != 0 { source = .random(in: 1...UInt64(Int64.max)) }
            groups.take(term: row.integer(0))
            return try readStart()
        } catch {
            throw storeFailure(error, doing: "taking the shard")
        }
    }

    /// Behind the commit of the term, in a transaction of its own: only that sees what the owner before
    /// has committed in the meantime.
    private func readStart() throws(PostgresFailure) -> StoreStart {
        let isMoved = try run([PostgresInbox.isMoved])
        if isMoved[0].first?.integer(0) == 1 {
            try connected().execute(PostgresInbox.moving, within: Self.moveTimeout)
        }
        let rows = try run([
            lastGroup,
            PostgresStatement("SELECT expiry_ms FROM clocks WHERE shard = $1", .integer(shard)),
            PostgresStatement(
                """
                SELECT c.app, c.type, c.name, l.name, l.ttl_s, l.owner, l.instance, l.token
                FROM locks l JOIN channels c ON c.shard = l.shard AND c.id = l.channel
                WHERE l.shard = $1 AND l.channel IN
                    (SELECT channel FROM locks WHERE shard = $1 AND owner IS NOT NULL)
                """, .integer(shard)),
        ])
        groups.begin(after: rows[0].first?.integer(0) ?? 0)
        counter = rows[0].first?.number(1) ?? 0
        position = OutboxPosition(rows[0].first?.number(2) ?? 0)
        var start = StoreStart(term: UInt64(groups.term), expiryClock: rows[1].first?.number(0))
        expired = start.expiryClock ?? 0
        for row in rows[2] { start.locks[row.channelKey(0), default: LockTable()].take(row.lock(3)) }
        try partitions.load(connected())
        return start
    }

    private var lastGroup: PostgresStatement {
        PostgresStatement(
            "SELECT batch, counter, announced FROM batches WHERE shard = $1 ORDER BY batch DESC LIMIT 1",
            .integer(shard))
    }

    private var fenced: PostgresFailure {
        PostgresFailure(cause: .refused(Self.fencedState), reason: "another storage node has the shard")
    }

    /// A division by zero, by which the fence refuses; no other statement divides.
    private static let fencedState = "22012"

    private func storeFailure(_ failure: PostgresFailure, doing what: String) -> StoreFailure {
        guard failure.cause == .refused(Self.fencedState) else {
            return StoreFailure(failure, doing: what)
        }
        return StoreFailure(
            kind: .fenced, reason: "another storage node has taken the shard \(shard) of the database")
    }

    // MARK: Groups

    func read(_ keys: GroupKeys) throws(StoreFailure) -> GroupState {
        var state = GroupState(counter: counter)
        lookup = HistoryLookup()
        boundMemory()
        guard !keys.isEmpty else { return state }
        do throws(PostgresFailure) {
            let read = PostgresGroupRead(
                keys, shard: shard, messages: keys.messages.filter(marks.mayBeKept), expired: expired)
            let rows = try reading(read.statements)
            lookup = read.take(rows, into: &state) { channel, id in remember(id, of: channel) }
            lookup.mark(in: &marks)
        } catch {
            throw StoreFailure(error, doing: "reading a group")
        }
        return state
    }

    private func remember(_ id: Int64, of channel: ChannelKey) { channels[channel] = id }

    private func forgetChannels() { (channels, marks) = ([:], HistoryMarks()) }

    /// What a group needs is read behind this, and stays until its end.
    private func boundMemory() {
        if channels.count >= Self.channelsMax || marks.count >= Self.marksMax { forgetChannels() }
    }

    func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten {
        var repetitions = 0
        while true {
            do throws(PostgresFailure) { return try attempt(changes) } catch {
                repetitions += 1
                guard error.isTransient, repetitions < Self.repetitionsMax else {
                    throw storeFailure(error, doing: "writing a group")
                }
            }
        }
    }

    private var hour: Int64 { Int64(WallClock.milliseconds() / 3_600_000) }

    /// Writes a group in one transaction. If it throws, nothing was kept, unless the cause is `.stalled`.
    private func attempt(_ changes: GroupChanges) throws(PostgresFailure) -> GroupWritten {
        do throws(PostgresFailure) {
            boundMemory()
            let hour = hour
            let write = PostgresGroupWrite(
                changes, shard: shard, source: source, hour: hour, after: position, expired: expired)
            try preparePartitions(write.expiryDays, hour: hour)
            try findChannels(write.channels)
            var written = GroupWritten()
            written.purged = Array(repeating: 0, count: changes.purges.count)
            var parts = [
                Part(statement: PostgresStatement("BEGIN")),
                Part(statement: fence(changes.counter ?? counter, hour, write.position)),
            ]
            parts += write.removals(channels)
            let messages = write.messages
            // A channel that isn't there has no messages.
            for channel in Set(messages.map(\.channel)) where channels[channel] == nil {
                marks.found(newest: 0, of: channel)
            }
            let old = messages.filter(marks.mayBeKept)
            if !old.isEmpty, write.removesMessages || !lookup.covers(old) {
                // What the removals leave has to be known before the messages can be placed.
                let search = HistorySearch(old, shard: shard, expired: write.expired)
                let rows = try run(parts.map(\.statement) + search.statements)
                take(rows, of: parts, &written)
                lookup = search.take(rows.dropFirst(parts.count))
                lookup.mark(in: &marks)
                parts = []
            }
            let placed = lookup.placing(messages)
            let made = number(write.channelsToMake)
            parts += write.statements(
                channels.merging(made) { $1 }, made: made, messages: placed, searched: searched)
            parts.append(Part(statement: PostgresStatement("COMMIT"), answer: .commit))
            if changes.expiry != nil { parts += PostgresGroupWrite.sizes(shard) }
            guard changes.inbox == nil || inbox?.connection == connections else {
                throw PostgresFailure(cause: .lost, reason: "the connection was lost behind a read")
            }
            let rows = try commit(parts)
            lookup = HistoryLookup()
            counter = changes.counter ?? counter
            position = write.position
            expired = write.expired
            guard let rows else {
                guard changes.purges.isEmpty else {
                    throw PostgresFailure(
                        cause: .stalled, reason: "the group was kept, and how much it purged is not known"
                    )
                }
                return written
            }
            groups.keep()
            if let cursor = changes.inbox { inbox = (cursor, connections) }
            for (channel, id) in made { remember(id, of: channel) }
            marks.kept(placed)
            take(rows, of: parts, &written)
            return written
        } catch {
            forgetChannels()
            lookup = HistoryLookup()
            // What is there already was kept behind what is known here.
            if changes.inbox != nil, error.cause == .refused("23505") {
                inbox = nil
                throw PostgresFailure(cause: .lost, reason: error.reason)
            }
            throw error
        }
    }

    /// New channels get the next ids, which begin with the number of the group. An id is never used
    /// again, because rows of history that have expired still have it.
    private func number(_ wanted: Set<ChannelKey>) -> [ChannelKey: Int64] {
        let new = wanted.filter { channels[$0] == nil }
        let ids = (groups.next << Self.channelBits)...
        return Dictionary(uniqueKeysWithValues: zip(new, ids))
    }

    private func take(_ rows: [PostgresRows], of parts: [Part], _ written: inout GroupWritten) {
        for (part, rows) in zip(parts, rows) {
            let number = rows.first?.integer(0) ?? 0
            switch part.answer {
            case .nothing, .commit: break
            case .expired: written.expired = Int(number)
            case .purged(let index): written.purged[index] = Int(number)
            case .eventsExpired: written.eventsExpired = Int(number)
            case .searched: searched = number
            case .unused:
                for row in rows {
                    channels[row.channelKey(0)] = nil
                    marks.forget(row.channelKey(0))
                }
            case .size: written.size = StoreSize(total: Int(number))
            case .historySizes:
                for row in rows { written.size?.historyByApp[row.text(0)] = Int(row.integer(1)) }
            }
        }
    }

    private func fence(
        _ counter: UInt64, _ hour: Int64, _ position: OutboxPosition
    ) -> PostgresStatement {
        PostgresStatement(
            """
            WITH f AS (SELECT 1 FROM shards WHERE shard = $1 AND term = $2 FOR UPDATE),
                b AS (INSERT INTO batches (shard, batch, hour, term, counter, announced)
                    SELECT $1, $3, $4, $2, $5, $6 FROM f RETURNING 1)
            SELECT 1 / count(*) FROM b
            """, .integer(shard), .integer(groups.term), .integer(groups.next), .integer(hour),
            .number(counter),
            .number(position.sequence))
    }

    private func findChannels(_ wanted: Set<ChannelKey>) throws(PostgresFailure) {
        let missing = wanted.filter { channels[$0] == nil }
        guard !missing.isEmpty else { return }
        let search = ChannelSearch(Array(missing), shard: shard)
        for found in search.take(try reading([search.statement])[0]) {
            remember(found.id, of: found.channel)
        }
    }

    private func preparePartitions(
        _ expiryDays: Set<Int64>, hour: Int64
    ) throws(PostgresFailure) {
        func wanted() -> Set<PostgresPartition> {
            PostgresPartitions.wanted(hour: hour, ofShard: shard)
                .union(partitions.history(expiringOn: expiryDays, hour: hour))
        }
        if !wanted().isSubset(of: partitions.known) {
            // Another owner may have made them.
            try partitions.load(connected())
            try partitions.make(wanted(), connected())
        }
        try emptyInbox()
        guard hour != cleanedHour else { return }
        cleanedHour = hour
        try partitions.load(connected())
        guard shard == 0 else { return }
        let rows = try run([
            PostgresStatement(
                """
                SELECT coalesce(min((SELECT b.hour FROM batches b WHERE b.shard = s.shard
                        ORDER BY b.batch DESC LIMIT 1)), 0),
                    min(coalesce((SELECT c.expiry_ms FROM clocks c WHERE c.shard = s.shard), 0))
                FROM shards s
                """)
        ])
        guard let row = rows[0].first else { return }
        // As the expiry clock itself, this is never ahead of the time of day.
        let expiryClock = min(row.integer(1), Int64(clamping: WallClock.milliseconds()))
        for partition in partitions.outdated(
            hour: hour, lastBatchHour: row.integer(0), expiryClock: expiryClock)
        {
            // Whoever reads one for long mostly reads all, such as a dump. It is tried again in an hour.
            guard try partitions.drop(partition, connected()) else { return }
        }
    }

    func confirm() throws(StoreFailure) {
        do throws(PostgresFailure) {
            _ = try reading([
                PostgresStatement(
                    "SELECT 1 / count(*) FROM shards WHERE shard = $1 AND term = $2", .integer(shard),
                    .integer(groups.term))
            ])
        } catch {
            throw storeFailure(error, doing: "asking who has the shard")
        }
    }

    func prove() throws(StoreFailure) {
        _ = try write(GroupChanges())
    }

    // MARK: Inbox

    var hasInbox: Bool { true }

    func readInbox(rows: Int) throws(StoreFailure) -> InboxPage {
        do throws(PostgresFailure) {
            do throws(PostgresFailure) { return try inboxPage(rows) } catch {
                guard error.cause == .lost else { throw error }
                return try inboxPage(rows)
            }
        } catch {
            throw StoreFailure(error, doing: "reading the inbox")
        }
    }

    private func inboxPage(_ limit: Int) throws(PostgresFailure) -> InboxPage {
        let statements = PostgresInbox(shard: shard)
        _ = try connected()
        if inbox?.connection != connections {
            inbox = nil
            let connection = connections
            guard let cursor = statements.cursor(try run([statements.position])[0]) else {
                throw PostgresFailure(
                    cause: .refused("02000"), reason: "the inbox of the shard \(shard) has no place")
            }
            inbox = (cursor, connection)
        }
        guard let (cursor, connection) = inbox else { throw fenced }
        let page = statements.take(
            try run(statements.page(cursor, rows: limit)), after: cursor, rows: limit)
        guard connection == connections else {
            throw PostgresFailure(cause: .lost, reason: "the connection was lost")
        }
        // Where there is nothing to keep, the next read begins here.
        if page.rows.isEmpty { inbox = (page.cursor, connection) }
        return page
    }

    /// Empties what everybody has drained. One owner is enough for all shards.
    private func emptyInbox() throws(PostgresFailure) {
        let slice = PostgresInbox.slice(at: WallClock.milliseconds())
        guard shard == 0, slice != emptiedSlice else { return }
        emptiedSlice = slice
        let connection = try connected()
        do throws(PostgresFailure) {
            try connection.execute(PostgresInbox.emptying(slice: slice), within: options.timeout)
        } catch {
            guard connection.isUsable else { throw error }
        }
    }

    // MARK: Commits

    /// Runs statements of which one is the commit. Returns nil if the group was kept and the answers to
    /// its statements are lost.
    private func commit(_ parts: [Part]) throws(PostgresFailure) -> [PostgresRows]? {
        let connection = try connected()
        let place = parts.firstIndex { $0.answer == .commit } ?? 0
        let doubt: PostgresFailure
        do throws(PostgresFailure) {
            let rows = try connection.run(parts.map(\.statement), within: options.timeout)
            if !connection.hasWarned { return rows }
            doubt = PostgresFailure(cause: .lost, reason: "the wait for a standby was cancelled")
        } catch {
            // A statement before the commit was refused, so the commit was not carried out.
            if case .refused = error.cause, connection.isUsable,
                error.statement.map({ $0 < place }) ?? true
            {
                throw error
            }
            doubt = error
        }
        guard try settle(after: doubt) else {
            throw PostgresFailure(cause: .lost, reason: "the group was not kept: \(doubt.reason)")
        }
        // What the group has made is read again when it is needed.
        forgetChannels()
        return nil
    }

    /// Whether the group in doubt was kept. Afterwards this process has a new term.
    private func settle(after doubt: PostgresFailure) throws(PostgresFailure) -> Bool {
        connection?.close()
        groups.forgetLast()
        let deadline = ContinuousClock.now + options.settleTimeout
        var reason = doubt.reason
        repeat {
            do throws(PostgresFailure) {
                let rows = try run([
                    PostgresStatement(
                        """
                        UPDATE shards SET term = term + 1 WHERE shard = $1 AND owner = $2 RETURNING term
                        """, .integer(shard), .text(owner))
                ])
                guard let row = rows[0].first else { throw fenced }
                guard connection?.hasWarned == false else { continue }
                groups.take(term: row.integer(0))
                let answer = try run([lastGroup])[0]
                let found = answer.first?.integer(0) ?? 0
                let settlement = groups.settle(found)
                guard settlement != .wentBack else { throw wentBack(to: found) }
                counter = answer.first?.number(1) ?? 0
                return settlement == .kept
            } catch {
                guard error.cause != .refused(Self.fencedState), error.cause != .wentBack else {
                    throw error
                }
                reason = error.reason
                // A server that refuses at once would be asked all the time.
                Thread.sleep(forTimeInterval: 0.02)
            }
        } while ContinuousClock.now < deadline
        throw PostgresFailure(cause: .stalled, reason: "a commit is in doubt: \(reason)")
    }
}
