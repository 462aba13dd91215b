import RTMModel
import RTMStorageServer

/// A database that rows are copied from or to. All of it happens in one transaction.
protocol MigratedStore: AnyObject {
    /// What can't be seen in rows.
    func counters() throws(StoreFailure) -> StoreCounters
    /// Gives the rows of a table to `body`, in sets of a limited size (`MigrationLimits`). What has
    /// expired and what is announced isn't among them.
    func rows(
        of table: MigratedTable, _ body: ([[MigratedValue]]) throws(StoreFailure) -> Void
    ) throws(StoreFailure)
    /// Whether there is nothing that a copy could collide with.
    func isEmpty() throws(StoreFailure) -> Bool
    /// Makes the partitions that rows will need.
    func prepare(expiryDays: Set<Int64>) throws(StoreFailure)
    func insert(_ rows: [[MigratedValue]], into table: MigratedTable) throws(StoreFailure)
    /// Counts what each app uses, and keeps the counters.
    func finish(_ counters: StoreCounters) throws(StoreFailure)
    func commit() throws(StoreFailure)
}

/// What a store counts with.
struct StoreCounters: Equatable {
    /// The number that tokens, revisions of locks and the order of events come from.
    var counter: Int64
    /// What the clock by which messages expire has reached; nil if it has never run.
    var expiryClock: Int64?
    /// The days, since 1970, on which messages expire.
    var expiryDays: Set<Int64>
}

/// Limits: how much is on its way between two databases at a time.
enum MigrationLimits {
    static let rows = 1_000
    static let bytes = 4 << 20
}

/// Copies all that one database holds into another one, which is empty, and compares every row before the
/// copy counts.
struct StoreMigration {
    let source: any MigratedStore
    let target: any MigratedStore

    /// - Returns: how many rows of which table there are now.
    func run() throws(StoreFailure) -> [(table: String, rows: Int)] {
        guard try target.isEmpty() else {
            throw StoreFailure(
                kind: .refused,
                reason: "the database to copy into isn't empty. Name one in which nothing is kept")
        }
        let counters = try source.counters()
        try target.prepare(expiryDays: counters.expiryDays)
        var summaries: [RowSummary] = []
        for table in MigratedTable.all {
            var summary = RowSummary()
            try source.rows(of: table) { rows throws(StoreFailure) in
                for row in rows { summary.add(row, of: table) }
                try target.insert(rows, into: table)
            }
            summaries.append(summary)
        }
        try target.finish(counters)
        for (table, expected) in zip(MigratedTable.all, summaries) {
            var summary = RowSummary()
            try target.rows(of: table) { rows in for row in rows { summary.add(row, of: table) } }
            guard summary == expected else {
                throw StoreFailure(
                    kind: .corrupt,
                    reason: "the copy of \(table.name) differs: \(expected.count) rows were read and "
                        + "\(summary.count) are there. Nothing was kept")
            }
        }
        guard try target.counters() == counters else {
            throw StoreFailure(
                kind: .corrupt, reason: "the copy of the counters differs. Nothing was kept")
        }
        try target.commit()
        return zip(MigratedTable.all, summaries).map { ($0.name, $1.count) }
    }

    /// Copies between a file, whose directory the caller holds, and a database.
    ///
    /// - Parameter replacing: whether a file that is there may be replaced.
    static func run(
        to target: MigrationTarget, file: String, _ options: PostgresOptions, replacing: Bool
    ) throws(StoreFailure) -> [(table: String, rows: Int)] {
        let database = try PostgresMigratedStore(
            options, hour: Int64(WallClock.milliseconds() / 3_600_000))
        defer { database.close() }
        switch target {
        case .database:
            let source = try SQLiteMigratedStore(path: file, creating: false)
            defer { source.close() }
            return try StoreMigration(source: source, target: database).run()
        case .file:
            try SQLiteMaintenance.checkReplacing(file, replacing)
            try database.checkInbox()
            var copied: [(table: String, rows: Int)] = []
            try SQLiteMaintenance.replace(file) { part throws(StoreFailure) in
                let target = try SQLiteMigratedStore(path: part, creating: true)
                defer { target.close() }
                copied = try StoreMigration(source: database, target: target).run()
                // Nodes of the database find another term before the file counts.
                try database.commit()
            }
            return copied
        }
    }
}
