import RTMModel
import RTMServiceLink
import RTMStorageServer

/// A PostgreSQL as the source or the target of a migration. No storage node may use it meanwhile, and
/// none that stands still can: each shard gets a new term.
final class PostgresMigratedStore: MigratedStore {
    private static let timeout = Duration.seconds(600)

    private let connection: PostgresConnection
    private let shards: Int
    private let hour: Int64

    init(_ options: PostgresOptions, hour: Int64) throws(StoreFailure) {
        self.hour = hour
        do throws(PostgresFailure) { connection = try PostgresConnection(options) } catch {
            throw StoreFailure(error, doing: "connecting")
        }
        shards = options.shards
        try PostgresSchema(connection: connection, shards: shards).migrate()
        try begin()
    }

    func close() { connection.close() }

    private func failing<Result>(
        _ what: String, _ body: () throws(PostgresFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(PostgresFailure) { return try body() } catch { throw StoreFailure(error, doing: what) }
    }

    private func run(_ sql: String, _ values: PostgresValue...) throws(PostgresFailure) -> PostgresRows {
        try connection.run([PostgresStatement(once: sql, values: values)], within: Self.timeout)[0]
    }

    /// Whoever owned a shard can't write any more. Rows are read as whole tables here, which the engine
    /// never does.
    private func begin() throws(StoreFailure) {
        try failing("the migration") { () throws(PostgresFailure) in
            try connection.execute(
                """
                BEGIN ISOLATION LEVEL REPEATABLE READ;
                SET LOCAL idle_in_transaction_session_timeout = 0;
                SET LOCAL enable_seqscan = on;
                SET LOCAL enable_hashjoin = on;
                UPDATE shards SET owner = '', term = greatest(term + 1,
                    (extract(epoch FROM clock_timestamp()) * 1000)::int8);
                """, within: Self.timeout)
        }
        let living = try failing("the nodes") { () throws(PostgresFailure) in
            try run("SELECT name FROM nodes WHERE lease_end > clock_timestamp() ORDER BY name")
        }
        guard let node = living.first?.text(0) else { return }
        throw StoreFailure(
            kind: .refused, reason: "the storage node \(node) uses the database. Stop all of them first")
    }

    /// A file has no inbox, so nothing may wait in it.
    func checkInbox() throws(StoreFailure) {
        let waiting = try failing("the inbox") { () throws(PostgresFailure) in
            try run(
                """
                SELECT count(*) FROM shards s CROSS JOIN LATERAL (
                    SELECT before FROM inbox_batches b WHERE b.shard = s.shard ORDER BY batch DESC LIMIT 1) b
                JOIN inbox i ON i.shard = s.shard AND NOT pg_visible_in_snapshot(i.xact, b.before)
                """
            ).first?.integer(0) ?? 0
        }
        guard waiting > 0 else { return }
        throw StoreFailure(
            kind: .refused,
            reason: "\(waiting) messages of heliograph_publish wait in the database. Let storage publish "
                + "them before, and revoke the function from the apps")
    }

    func counters() throws(StoreFailure) -> StoreCounters {
        try failing("the counters") { () throws(PostgresFailure) in
            let counter = try run("SELECT coalesce(max(counter), 0) FROM batches").first?.integer(0) ?? 0
            let clock = try run("SELECT max(expiry_ms) FROM clocks").first
            let days = try run(
                """
                SELECT DISTINCT expiry_ms / 86400000 FROM history t
                WHERE expiry_ms <> 9223372036854775807 AND \(Self.conditions["history"] ?? "")
                """)
            return StoreCounters(
                counter: counter,
                expiryClock: clock.flatMap { $0.isNull(0) ? nil : $0.integer(0) },
                expiryDays: Set(days.map { $0.integer(0) }))
        }
    }

    func rows(
        of table: MigratedTable, _ body: ([[MigratedValue]]) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        let kinds = table.kinds
        var columns = table.columns.map { "t.\"\($0.postgres)\"" }
        var from = "\(table.name) t"
        switch table.owner {
        case .channels: columns[0] = "t.id * \(shards) + t.shard"
        case .channel:
            columns[0] = "t.channel * \(shards) + t.shard"
            columns = ["c.app", "c.type", "c.name"] + columns
            from += " JOIN channels c ON c.shard = t.shard AND c.id = t.channel"
        case .app: break
        }
        if let condition = Self.conditions[table.name] { from += " WHERE \(condition)" }
        let select = "SELECT \(columns.joined(separator: ", ")) FROM \(from)"
        _ = try failing(table.name) { () throws(PostgresFailure) in
            try run("DECLARE migrated NO SCROLL CURSOR FOR \(select)")
        }
        while true {
            let rows = try failing(table.name) { () throws(PostgresFailure) in
                try run("FETCH \(MigrationLimits.rows) FROM migrated")
            }
            guard rows.count > 0 else { break }
            try body(
                rows.map { row in
                    kinds.enumerated().map { column, kind in row.value(Int32(column), kind) }
                })
        }
        _ = try failing(table.name) { () throws(PostgresFailure) in try run("CLOSE migrated") }
    }

    /// Which rows of a table count, where it has others, too.
    private static let conditions = [
        "history": "t.expiry_ms > coalesce((SELECT max(c.expiry_ms) FROM clocks c), 0)",
        "outbox": """
        t.sequence > coalesce(
            (SELECT announced FROM batches b WHERE b.shard = t.shard ORDER BY batch DESC LIMIT 1), 0)
        AND NOT t.is_announced AND NOT EXISTS (SELECT 1 FROM outbox a WHERE a.shard = t.shard
            AND a.sequence = t.sequence AND a.hour = t.hour AND a.is_announced)
        """,
    ]

    func isEmpty() throws(StoreFailure) -> Bool {
        try failing("the tables") { () throws(PostgresFailure) in
            for table in MigratedTable.all {
                if try run("SELECT 1::int8 FROM \(table.name) LIMIT 1").count > 0 { return false }
            }
            return true
        }
    }

    func prepare(expiryDays: Set<Int64>) throws(StoreFailure) {
        try failing("the partitions") { () throws(PostgresFailure) in
            var partitions = PostgresPartitions()
            try partitions.load(connection)
            try partitions.make(
                PostgresPartitions.wanted(hour: hour, ofShard: 0)
                    .union(partitions.history(expiringOn: expiryDays, hour: hour)), connection)
        }
    }

    func insert(_ rows: [[MigratedValue]], into table: MigratedTable) throws(StoreFailure) {
        var names = ["shard"] + table.columns.map { "\"\($0.postgres)\"" }
        var values = [PostgresValue.integers(rows.map { shard(of: $0, table) })]
        for (column, place) in zip(table.columns, table.leading...) {
            values.append(column.kind.array(of: rows.map { $0[place] }))
        }
        var arrays = values.indices.map { "$\($0 + 1)" }
        if table.name == "outbox" {
            names.append("hour")
            values.append(.integers(rows.map { _ in hour }))
            arrays.append("$\(values.count)")
        }
        _ = try failing(table.name) { () throws(PostgresFailure) in
            try connection.run(
                [
                    PostgresStatement(
                        once: "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) "
                            + "SELECT * FROM unnest(\(arrays.joined(separator: ", ")))",
                        values: values)
                ], within: Self.timeout)
        }
    }

    private func shard(of row: [MigratedValue], _ table: MigratedTable) -> Int64 {
        let channel: ChannelKey
        if let place = table.identity {
            channel = ChannelKey(
                appID: row[place].text, type: ChannelType(rawValue: Int(row[place + 1].integer)) ?? .none,
                name: row[place + 2].text)
        } else {
            channel = .app(row[0].text)
        }
        return Int64(channel.storageShard(among: shards))
    }

    func finish(_ counters: StoreCounters) throws(StoreFailure) {
        try failing("the counters") { () throws(PostgresFailure) in
            _ = try run(
                """
                INSERT INTO batches (shard, batch, hour, term, counter)
                SELECT s.shard, greatest((SELECT max(b.batch) FROM batches b WHERE b.shard = s.shard),
                        (SELECT max(c.id) >> \(PostgresWriter.channelBits) FROM channels c
                            WHERE c.shard = s.shard), 0) + 1,
                    $1, s.term, $2 FROM shards s
                """, .integer(hour), .integer(counters.counter))
            if let clock = counters.expiryClock {
                _ = try run(
                    """
                    INSERT INTO clocks (shard, expiry_ms) SELECT shard, $1 FROM shards
                    ON CONFLICT (shard) DO UPDATE SET expiry_ms = excluded.expiry_ms
                    """, .integer(clock))
            }
            _ = try run(
                """
                INSERT INTO history_usage (shard, hour, app, bytes, messages)
                SELECT h.shard, (h.expiry_ms - 1) / 3600000 + 1, c.app,
                    sum(octet_length(h.payload) + octet_length(h.publisher) + octet_length(h.custom_type)
                        + \(StoredMessage.rowBytes)), count(*)
                FROM history h JOIN channels c ON c.shard = h.shard AND c.id = h.channel GROUP BY 1, 2, 3
                """)
            _ = try run(
                """
                INSERT INTO usage
                    (shard, app, channel_sets, user_sets, locks, history_bytes, metadata_bytes)
                SELECT c.shard, c.app, count(*) FILTER (WHERE c.type <> 0 AND m.channel IS NOT NULL),
                    count(*) FILTER (WHERE c.type = 0 AND m.channel IS NOT NULL),
                    coalesce(sum(l.locks), 0), coalesce(sum(h.bytes), 0), coalesce(sum(m.bytes), 0)
                FROM channels c
                LEFT JOIN (SELECT shard, channel, sum(octet_length(key) + octet_length(value)
                    + \(StoredMessage.rowBytes)) AS bytes FROM metadata GROUP BY 1, 2) m
                    ON m.shard = c.shard AND m.channel = c.id
                LEFT JOIN (SELECT shard, channel, count(*) AS locks FROM locks GROUP BY 1, 2) l
                    ON l.shard = c.shard AND l.channel = c.id
                LEFT JOIN (SELECT shard, channel, sum(octet_length(payload) + octet_length(publisher)
                    + octet_length(custom_type) + \(StoredMessage.rowBytes)) AS bytes
                    FROM history GROUP BY 1, 2) h ON h.shard = c.shard AND h.channel = c.id
                GROUP BY c.shard, c.app
                """)
            _ = try run(
                """
                UPDATE event_apps a SET bytes = coalesce((
                    SELECT sum(octet_length(e.body) + octet_length(e.key) + \(StoredMessage.rowBytes))
                    FROM events e WHERE e.shard = a.shard AND e.app = a.app), 0)
                """)
        }
    }

    func commit() throws(StoreFailure) {
        try failing("the commit") { () throws(PostgresFailure) in _ = try run("COMMIT") }
    }
}

extension MigratedTable.Column.Kind {
    fileprivate func array(of values: [MigratedValue]) -> PostgresValue {
        switch self {
        case .integer: .integers(values.map { if case .integer(let number) = $0 { number } else { nil } })
        case .text: .texts(values.map { $0 == .null ? nil : $0.text })
        case .characters, .bytes:
            .blobs(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        }
    }
}

extension PostgresRow {
    fileprivate func value(_ column: Int32, _ kind: MigratedTable.Column.Kind) -> MigratedValue {
        if isNull(column) { return .null }
        return kind == .integer ? .integer(integer(column)) : .bytes(blob(column))
    }
}
