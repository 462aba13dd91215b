import RTMStorageServer

/// A database file as the source or the target of a migration.
final class SQLiteMigratedStore: MigratedStore {
    private let connection: SQLiteConnection

    /// - Parameter creating: whether the file is a new one, for a copy.
    init(path: String, creating: Bool) throws(StoreFailure) {
        connection = try SQLiteConnection(path: path, creating ? .readWrite : .read, creating: creating)
        if creating {
            try SQLiteSchema.migrate(connection)
            // A copy that fails is thrown away.
            try connection.execute("PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
        } else {
            try SQLiteSchema.checkOrigin(connection)
            guard try SQLiteSchema.checkVersion(connection) == SQLiteSchema.version else {
                throw StoreFailure(
                    kind: .refused,
                    reason: "\(path) is of an older version. Start the service over it once")
            }
            try connection.execute("BEGIN")
        }
    }

    private static let unexpired =
        "(t.expiry_ms IS NULL OR t.expiry_ms > coalesce((SELECT expiry_clock_ms FROM store), 0))"

    func close() { connection.close() }

    func counters() throws(StoreFailure) -> StoreCounters {
        var found = StoreCounters(counter: 0, expiryClock: nil, expiryDays: [])
        try connection.rows("SELECT counter, expiry_clock_ms FROM store") { row in
            found.counter = row.integer(0)
            found.expiryClock = row.isNull(1) ? nil : row.integer(1)
        }
        try connection.rows(
            once: """
                SELECT DISTINCT expiry_ms / 86400000 FROM history t
                WHERE expiry_ms IS NOT NULL AND \(Self.unexpired)
                """
        ) { row in found.expiryDays.insert(row.integer(0)) }
        return found
    }

    func rows(
        of table: MigratedTable, _ body: ([[MigratedValue]]) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        let kinds = table.kinds
        var columns = table.columns.map { $0.read ?? "t.\"\($0.sqlite)\"" }
        var from = "\(table.name) t"
        if table.owner == .channel {
            columns = ["c.app", "c.type", "c.name"] + columns
            from += " JOIN channels c ON c.id = t.channel"
        }
        if table.name == "history" { from += " WHERE \(Self.unexpired)" }
        var (set, bytes): ([[MigratedValue]], Int) = ([], 0)
        try connection.rows(once: "SELECT \(columns.joined(separator: ", ")) FROM \(from)") {
            row throws(StoreFailure) in
            let values = kinds.enumerated().map { column, kind in row.value(Int32(column), kind) }
            set.append(values)
            bytes += values.reduce(0) { $0 + $1.byteCount }
            guard set.count >= MigrationLimits.rows || bytes >= MigrationLimits.bytes else { return }
            try body(set)
            (set, bytes) = ([], 0)
        }
        if !set.isEmpty { try body(set) }
    }

    /// A new file has nothing.
    func isEmpty() throws(StoreFailure) -> Bool { true }

    func prepare(expiryDays: Set<Int64>) throws(StoreFailure) {}

    func insert(_ rows: [[MigratedValue]], into table: MigratedTable) throws(StoreFailure) {
        let names = table.columns.map { "\"\($0.sqlite)\"" }.joined(separator: ", ")
        let values = table.columns.map(\.kept).joined(separator: ", ")
        try connection.run(
            once: "INSERT INTO \(table.name) (\(names)) VALUES (\(values))",
            rows.map { row in
                zip(row.dropFirst(table.leading), table.columns).map { value, column in
                    switch (value, column.kind) {
                    case (.integer(let number), _): .integer(number)
                    case (.bytes(let bytes), .bytes): .blob(bytes)
                    case (.bytes, _): .text(value.text)
                    case (.null, _): .null
                    }
                }
            })
    }

    func finish(_ counters: StoreCounters) throws(StoreFailure) {
        let clock = counters.expiryClock.map { SQLiteValue.integer($0) } ?? .null
        try connection.run(
            "UPDATE store SET counter = ?, expiry_clock_ms = ?", .integer(counters.counter), clock)
        try connection.execute(
            """
            INSERT INTO usage (app, channel_sets, user_sets, locks, history_bytes, metadata_bytes)
            SELECT app, sum(type <> 0 AND has_set), sum(type = 0 AND has_set), sum(locks), sum(bytes),
                sum(metadata_bytes)
            FROM (SELECT app, type, EXISTS (SELECT 1 FROM metadata WHERE channel = id) AS has_set,
                (SELECT coalesce(sum(length(CAST(key AS BLOB)) + length(CAST(value AS BLOB))
                    + \(StoredMessage.rowBytes)), 0) FROM metadata WHERE channel = id)
                    AS metadata_bytes,
                (SELECT count(*) FROM locks WHERE channel = id) AS locks,
                (SELECT coalesce(sum(length(payload) + length(CAST(publisher AS BLOB))
                    + length(CAST(custom_type AS BLOB)) + \(StoredMessage.rowBytes)), 0)
                    FROM history WHERE channel = id) AS bytes
                FROM channels)
            GROUP BY app;
            UPDATE event_apps SET bytes = (
                SELECT coalesce(sum(length(body) + length(CAST(key AS BLOB))
                    + \(StoredMessage.rowBytes)), 0)
                FROM events WHERE events.app = event_apps.id)
            """)
    }

    func commit() throws(StoreFailure) { try connection.execute("COMMIT") }
}

extension SQLiteStatement {
    fileprivate func value(_ column: Int32, _ kind: MigratedTable.Column.Kind) -> MigratedValue {
        if isNull(column) { return .null }
        return switch kind {
        case .integer: .integer(integer(column))
        case .text, .characters: .bytes(Array(text(column).utf8))
        case .bytes: .bytes(blob(column))
        }
    }
}
