import RTMModel
import RTMStorageServer
import RTMWire

/// The reading half of the store in PostgreSQL: a connection beside the writer's. It reads on the primary
/// alone, so everything that was acknowledged before is seen.
final class PostgresReader: ReadableStore {
    /// How many events of a page are fetched at a time; each may have 32 KiB.
    private static let eventsFetched: Int64 = 256
    /// Rows of the outbox that one statement visits.
    private static let outboxVisited: Int64 = 5_000
    /// As many messages as a page may have, and the one behind it.
    private static let messagesFetched: Int64 = 101

    private let options: PostgresOptions
    private let shard: Int64
    private var connection: PostgresConnection?

    /// It connects when something is read: a node doesn't read from shards that others lead.
    init(_ options: PostgresOptions, shard: Int = 0) {
        self.options = options
        self.shard = Int64(shard)
    }

    func close() {
        connection?.close()
        connection = nil
    }

    private func failing<Result>(
        _ what: String, _ body: () throws(PostgresFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(PostgresFailure) { return try body() } catch { throw StoreFailure(error, doing: what) }
    }

    private static let begin = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        let connection = try failing("beginning to read") { () throws(PostgresFailure) in try begin() }
        // A read transaction has nothing to lose.
        defer {
            if connection.isUsable {
                _ = try? connection.run([PostgresStatement("COMMIT")], within: options.timeout)
            }
        }
        return try body()
    }

    /// Begins over a new connection where the one that is there is lost, as after a restart of the
    /// server.
    private func begin() throws(PostgresFailure) -> PostgresConnection {
        if let connection, connection.isUsable {
            do throws(PostgresFailure) {
                _ = try connection.run([Self.begin], within: options.timeout)
                return connection
            } catch {
                guard !connection.isUsable else { throw error }
            }
        }
        connection?.close()
        connection = nil
        let made = try PostgresConnection(options)
        connection = made
        _ = try made.run([Self.begin], within: options.timeout)
        return made
    }

    private func rows(
        _ sql: StaticString, _ values: PostgresValue...
    ) throws(StoreFailure) -> PostgresRows {
        try failing("reading") { () throws(PostgresFailure) in
            let statement = PostgresStatement(sql, values: [.integer(shard)] + values)
            // A connection that is lost is not replaced here: the rest would be read from another state.
            if connection == nil { connection = try PostgresConnection(options) }
            guard let connection else { preconditionFailure("it was made above") }
            return try connection.run([statement], within: options.timeout)[0]
        }
    }

    // MARK: Channels

    func committedCounter() throws(StoreFailure) -> UInt64 {
        try rows("SELECT counter FROM batches WHERE shard = $1 ORDER BY batch DESC LIMIT 1")
            .first?.number(0) ?? 0
    }

    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet {
        let found = try rows(
            """
            SELECT c.metadata_revision, m.place, m.key, m.value, m.revision, m.updated_ms, m.author
            FROM channels c LEFT JOIN metadata m ON m.shard = $1 AND m.channel = c.id
            WHERE c.shard = $1 AND c.app = $2 AND c.type = $3 AND c.name = $4 ORDER BY m.place
            """, .text(channel.appID), .integer(Int64(channel.type.rawValue)), .text(channel.name))
        guard let first = found.first else { return MetadataSet() }
        return MetadataSet(
            majorRevision: first.integer(0),
            entries: found.compactMap { $0.isNull(1) ? nil : $0.metadata(1) })
    }

    func locks(of channel: ChannelKey) throws(StoreFailure) -> LockTable {
        var table = LockTable()
        let found = try rows(
            """
            SELECT l.name, l.ttl_s, l.owner, l.instance, l.token
            FROM channels c JOIN locks l ON l.shard = $1 AND l.channel = c.id
            WHERE c.shard = $1 AND c.app = $2 AND c.type = $3 AND c.name = $4
            """, .text(channel.appID), .integer(Int64(channel.type.rawValue)), .text(channel.name))
        for row in found { table.take(row.lock(0)) }
        return table
    }

    func messages(_ query: HistorySelection, now: UInt64) throws(StoreFailure) -> HistoryMatches {
        var matches = HistoryMatches(of: query)
        let found = try rows(
            """
            SELECT h.time, h.publisher, h.type, h.custom_type, h.payload FROM history h
            WHERE h.shard = $1 AND h.channel = (SELECT id FROM channels WHERE shard = $1 AND app = $2
                    AND type = $3 AND name = $4)
                AND h.time BETWEEN $5 AND $6 AND h.expiry_ms > $7
            ORDER BY h.time DESC LIMIT $8
            """, .text(query.channel.appID), .integer(Int64(query.channel.type.rawValue)),
            .text(query.channel.name), .integer(Int64(clamping: query.oldest)),
            .integer(Int64(clamping: query.newest)), .integer(Int64(clamping: now)),
            .integer(min(Self.messagesFetched, Int64(query.count) + 1)))
        for row in found {
            let isTaken = matches.take(
                HistoryMessage(
                    type: MessageType(rawValue: Int(row.integer(2))) ?? .binary, payload: row.blob(4),
                    customType: row.text(3), publisher: row.text(1), time: LogTime(number: row.number(0)))
            )
            guard isTaken else { break }
        }
        return matches
    }

    /// Where something has waited for long, most of the rows behind it are announced. So rows are visited
    /// in stretches, none of which takes long.
    func events(after sequence: UInt64, limit: Int) throws(StoreFailure) -> [StorageOutboxEvent] {
        var found: [StorageOutboxEvent] = []
        var last = sequence
        while found.count < limit {
            guard
                let stretch = try rows(
                    """
                    SELECT count(*), min(sequence), max(sequence) FROM (SELECT sequence FROM outbox
                        WHERE shard = $1 AND sequence > greatest($2, (SELECT announced FROM batches
                            WHERE shard = $1 ORDER BY batch DESC LIMIT 1))
                        ORDER BY shard, sequence, hour, is_announced LIMIT $3) w
                    """, .number(last), .integer(Self.outboxVisited)
                ).first, stretch.integer(0) > 0
            else { break }
            last = stretch.number(2)
            let waiting = try rows(
                """
                SELECT o.sequence, o.source, o.publisher, o.feature, o.event, c.app, c.type, c.name
                FROM outbox o JOIN channels c ON c.shard = $1 AND c.id = o.channel
                WHERE o.shard = $1 AND o.sequence BETWEEN $2 AND $3 AND NOT o.is_announced
                    AND (SELECT count(*) FROM outbox a WHERE a.shard = $1 AND a.sequence = o.sequence
                        AND a.hour = o.hour AND a.is_announced) = 0
                ORDER BY o.sequence LIMIT $4
                """, .number(stretch.number(1)), .number(last), .integer(Int64(limit - found.count)))
            found += waiting.map(\.outboxEvent)
            if stretch.integer(0) < Self.outboxVisited { break }
        }
        return found
    }

    func bans(after place: BansRequest, now: UInt64, limit: Int) throws(StoreFailure) -> [Ban] {
        try rows(
            """
            SELECT app, username, until_ms, 0::int8, reason, since_ms, operator FROM bans
            WHERE shard = $1 AND (app, username) > ($2, $3) AND until_ms > $4
            ORDER BY app, username LIMIT $5
            """, .text(place.afterApp), .text(place.afterUser), .number(now), .integer(Int64(limit))
        ).map { $0.ban(0) }
    }

    // MARK: Events of apps

    func eventFeeds(of app: String) throws(StoreFailure) -> [EventLogs.FeedKey: EventLogs.FeedMark] {
        let found = try rows(
            """
            SELECT app, feed, epoch, sequence, part, position, read_ms FROM event_feeds
            WHERE shard = $1 AND app = $2
            """, .text(app))
        return Dictionary(found.map(\.feed)) { $1 }
    }

    /// What is known of the events of an app; nil if there never were any.
    private func eventApp(_ app: String) throws(StoreFailure) -> EventLog? {
        guard
            let row = try rows(
                "SELECT newest, removed FROM event_apps WHERE shard = $1 AND app = $2", .text(app)
            ).first
        else { return nil }
        var log = EventLog(newest: row.number(0), removed: row.number(1))
        let epochs = try rows(
            """
            SELECT after_offset, epoch FROM event_epochs WHERE shard = $1 AND app = $2
            ORDER BY after_offset
            """, .text(app))
        log.epochs.beginnings = epochs.map { ($0.number(0), $0.number(1)) }
        return log
    }

    func eventBounds(of app: String) throws(StoreFailure) -> (
        newest: StreamPosition, oldest: StreamPosition
    ) {
        try eventApp(app)?.bounds ?? EventLog().bounds
    }

    func eventPage(_ request: EventsRequest, limit: Int) throws(StoreFailure) -> EventsResponse {
        guard let log = try eventApp(request.appID) else { return EventLog().page(request).response }
        var page = log.page(request)
        while page.wantsMore {
            let found = try rows(
                """
                SELECT position, type, key_type, key, number, time_ms, body FROM events
                WHERE shard = $1 AND app = $2 AND position > $3 ORDER BY position LIMIT $4
                """, .text(request.appID), .number(page.last), .integer(Self.eventsFetched))
            for row in found where !page.take(row.appEvent(log.epochs), at: row.number(0), limit: limit) {
                break
            }
            if found.count < Self.eventsFetched { break }
        }
        return page.response
    }

    func readers(
        _ request: ReadersRequest, limit: Int, now: UInt64
    ) throws(StoreFailure) -> [EventReader] {
        try rows(
            """
            SELECT r.name, r.owner, r.term, r.lease_end_ms, r.epoch, r.position, r.state, r.dropped,
                (SELECT count(*) FROM dead_letters l
                    WHERE l.shard = $1 AND l.app = r.app AND l.reader = r.name)
            FROM event_readers r WHERE r.shard = $1 AND r.app = $2 AND r.name > $3
            ORDER BY r.name LIMIT $4
            """, .text(request.appID), .bytes(Array(request.after.utf8)), .integer(Int64(limit))
        ).map { row in
            let leaseEnd = row.number(3)
            return EventReader(
                name: String(decoding: row.blob(0), as: UTF8.self),
                owner: leaseEnd > now ? row.text(1) : "", term: row.number(2),
                lease: .milliseconds(leaseEnd > now ? Int64(leaseEnd - now) : 0),
                position: row.position(4), state: row.blob(6),
                letters: UInt32(clamping: row.integer(8)), dropped: row.number(7))
        }
    }

    func deadLetters(_ request: DeadLettersRequest, limit: Int) throws(StoreFailure) -> [DeadLetter] {
        try rows(
            """
            SELECT number, epoch, position, time_ms, reason, body FROM dead_letters
            WHERE shard = $1 AND app = $2 AND reader = $3 AND number > $4 ORDER BY number LIMIT $5
            """, .text(request.appID), .bytes(Array(request.name.utf8)), .number(request.after),
            .integer(Int64(limit))
        ).map { row in
            DeadLetter(
                number: row.number(0), position: row.position(1), timeMilliseconds: row.number(3),
                reason: String(decoding: row.blob(4), as: UTF8.self), body: row.blob(5))
        }
    }

    func audit(_ request: AuditRequest, limit: Int) throws(StoreFailure) -> [AuditLine] {
        let before = request.before == 0 ? Int64.max : Int64(clamping: request.before)
        return try rows(
            """
            SELECT number, time_ms, operator, address, what, whom, outcome, omitted FROM audit
            WHERE shard = $1 AND app = $2 AND number < $3 ORDER BY number DESC LIMIT $4
            """, .text(request.appID), .integer(before), .integer(Int64(limit))
        ).map { row in
            func text(_ column: Int32) -> String { String(decoding: row.blob(column), as: UTF8.self) }
            return AuditLine(
                number: row.number(0), timeMilliseconds: row.number(1), by: text(2), address: text(3),
                what: text(4), whom: text(5), outcome: text(6), omitted: row.number(7))
        }
    }
}

extension PostgresRow {
    fileprivate var outboxEvent: StorageOutboxEvent {
        StorageOutboxEvent(
            source: number(1), sequence: number(0), channel: channelKey(5), publisher: text(2),
            feature: SubscriptionFeatures(rawValue: UInt32(truncatingIfNeeded: integer(3))),
            event: blob(4))
    }
}
