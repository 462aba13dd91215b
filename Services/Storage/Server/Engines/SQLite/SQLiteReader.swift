import RTMModel
import RTMWire

/// The reading half of the store in a SQLite file: a connection beside the writer's. In WAL mode neither of
/// the two waits for the other.
final class SQLiteReader: ReadableStore {
    private let connection: SQLiteConnection

    init(_ options: SQLiteOptions) throws(StoreFailure) { connection = try options.openReader() }

    func close() { connection.close() }

    func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try connection.run("BEGIN")
        // A read transaction has nothing to lose.
        defer { if connection.isInTransaction { try? connection.execute("COMMIT") } }
        return try body()
    }

    func committedCounter() throws(StoreFailure) -> UInt64 { try connection.counter() }

    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet {
        guard let id = try connection.channelID(channel) else { return MetadataSet() }
        return try connection.metadata(of: id)
    }

    func locks(of channel: ChannelKey) throws(StoreFailure) -> LockTable {
        guard let id = try connection.channelID(channel) else { return LockTable() }
        return try connection.locks(of: id)
    }

    func messages(_ query: HistorySelection, now: UInt64) throws(StoreFailure) -> HistoryMatches {
        var found = HistoryMatches(of: query)
        guard let id = try connection.channelID(query.channel) else { return found }
        try connection.firstRows(
            """
            SELECT time, publisher, type, custom_type, payload FROM history
            WHERE channel = ?1 AND time BETWEEN ?2 AND ?3 AND (expiry_ms IS NULL OR expiry_ms > ?4)
            ORDER BY time DESC
            """,
            .integer(id), .integer(Int64(clamping: query.oldest)), .integer(Int64(clamping: query.newest)),
            .number(now)
        ) { row in
            found.take(
                HistoryMessage(
                    type: MessageType(rawValue: Int(row.integer(2))) ?? .binary, payload: row.blob(4),
                    customType: row.text(3), publisher: row.text(1), time: LogTime(number: row.number(0))))
        }
        return found
    }

    func bans(after place: BansRequest, now: UInt64, limit: Int) throws(StoreFailure) -> [Ban] {
        try SQLiteBans(connection: connection).page(after: place, now: now, limit: limit)
    }

    private var readers: SQLiteEventReaders { SQLiteEventReaders(connection: connection) }

    func readers(_ request: ReadersRequest, limit: Int, now: UInt64) throws(StoreFailure) -> [EventReader] {
        try readers.page(request, limit: limit, now: now)
    }

    func deadLetters(_ request: DeadLettersRequest, limit: Int) throws(StoreFailure) -> [DeadLetter] {
        try readers.letters(request, limit: limit)
    }

    func audit(_ request: AuditRequest, limit: Int) throws(StoreFailure) -> [AuditLine] {
        try SQLiteAudit(connection: connection).page(request, limit: limit)
    }

    func eventFeeds(of app: String) throws(StoreFailure) -> [EventLogs.FeedKey: EventLogs.FeedMark] {
        try SQLiteEvents(connection: connection).feeds(of: app)
    }

    func eventPage(_ request: EventsRequest, limit: Int) throws(StoreFailure) -> EventsResponse {
        try SQLiteEvents(connection: connection).page(request, limit: limit)
    }

    func eventBounds(of app: String) throws(StoreFailure) -> (newest: StreamPosition, oldest: StreamPosition)
    {
        try SQLiteEvents(connection: connection).bounds(of: app)
    }

    func events(after sequence: UInt64, limit: Int) throws(StoreFailure) -> [StorageOutboxEvent] {
        var found: [StorageOutboxEvent] = []
        try connection.rows(
            """
            SELECT sequence, source, publisher, feature, event, app, type, name
            FROM outbox JOIN channels ON channels.id = outbox.channel
            WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
            """, .number(sequence), .integer(Int64(limit))
        ) { row in
            found.append(
                StorageOutboxEvent(
                    source: row.number(1), sequence: row.number(0), channel: row.channelKey(5),
                    publisher: row.text(2),
                    feature: SubscriptionFeatures(rawValue: UInt32(truncatingIfNeeded: row.integer(3))),
                    event: row.blob(4)))
        }
        return found
    }
}
