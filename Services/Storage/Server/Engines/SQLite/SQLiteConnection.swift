import CSQLite

/// One connection to the database file, which one thread uses. Statements are prepared once and kept.
///
/// Every failure is a `StoreFailure` with SQLite's own words.
package final class SQLiteConnection {
    package enum Access {
        case readWrite
        case read
    }

    let path: String
    private let handle: OpaquePointer
    /// The statements by the address of their literal: each one is written once and found without comparing
    /// texts.
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]

    /// Set once per process, before SQLite is used.
    private static let isConfigured = rtm_sqlite_count_no_memory() == SQLITE_OK

    /// - Parameter creating: whether a missing file is created.
    package init(
        path: String, _ access: Access, creating: Bool = false, fileSystem: String? = nil
    ) throws(StoreFailure) {
        self.path = path
        _ = Self.isConfigured
        if creating, fileSystem == nil { Self.makePrivate(path) }
        var handle: OpaquePointer?
        let flags =
            (access == .read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
            | (creating ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &handle, flags, fileSystem)
        guard code == SQLITE_OK, let handle else {
            let failure = StoreFailure(code: code, handle: handle, doing: "opening \(path)")
            sqlite3_close(handle)
            throw failure
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        // Another process holds the file for moments only: a backup, or an operator who looks into it.
        sqlite3_busy_timeout(handle, 2_000)
    }

    /// SQLite gives new files beside the database its permissions, so it has to have the right ones before it
    /// is opened. What can't be made SQLite reports better.
    private static func makePrivate(_ path: String) {
        _ = PrivateFile.make(path)
        for suffix in ["-wal", "-shm", "-journal"] { PrivateFile.restrict(path + suffix) }
    }

    /// Frees everything. The connection can't be used afterwards.
    package func close() {
        for statement in statements.values { statement.finalize() }
        statements = [:]
        sqlite3_close(handle)
    }

    /// Runs statements that have no parameters and whose rows are not needed.
    package func execute(_ sql: String) throws(StoreFailure) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, doing: sql) }
    }

    /// Runs a kept statement for its effect. Returns how many rows it changed.
    @discardableResult
    package func run(_ sql: StaticString, _ values: SQLiteValue...) throws(StoreFailure) -> Int {
        let statement = try prepared(sql)
        defer { statement.reset() }
        try check(statement.bind(values), doing: sql.description)
        var code = statement.step()
        while code == SQLITE_ROW { code = statement.step() }
        guard code == SQLITE_DONE else { throw failure(code, doing: sql.description) }
        return Int(sqlite3_changes64(handle))
    }

    /// Runs a kept statement and gives every row to `body`.
    package func rows(
        _ sql: StaticString, _ values: SQLiteValue..., body: (SQLiteStatement) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        try step(sql, values) { statement throws(StoreFailure) in
            try body(statement)
            return true
        }
    }

    /// Runs a kept statement and gives its rows to `body` one by one, until that returns false. The rows
    /// behind are not read from the file.
    func firstRows(
        _ sql: StaticString, _ values: SQLiteValue..., body: (SQLiteStatement) throws(StoreFailure) -> Bool
    ) throws(StoreFailure) {
        try step(sql, values, body)
    }

    private func step(
        _ sql: StaticString, _ values: [SQLiteValue], _ body: (SQLiteStatement) throws(StoreFailure) -> Bool
    ) throws(StoreFailure) {
        let statement = try prepared(sql)
        defer { statement.reset() }
        try check(statement.bind(values), doing: sql.description)
        while true {
            let code = statement.step()
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code, doing: sql.description) }
            guard try body(statement) else { return }
        }
    }

    /// Runs a statement that isn't kept, and gives every row to `body`.
    package func rows(
        once sql: String, body: (SQLiteStatement) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        let statement = try make(sql)
        defer { statement.finalize() }
        while true {
            let code = statement.step()
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code, doing: sql) }
            try body(statement)
        }
    }

    /// Runs a statement that isn't kept, for its effect, with one set of values after the other.
    package func run(once sql: String, _ sets: [[SQLiteValue]]) throws(StoreFailure) {
        let statement = try make(sql)
        defer { statement.finalize() }
        for values in sets {
            try check(statement.bind(values), doing: sql)
            let code = statement.step()
            guard code == SQLITE_DONE else { throw failure(code, doing: sql) }
            statement.reset()
        }
    }

    /// The rows of a statement that is used once, as texts.
    func texts(_ sql: String) throws(StoreFailure) -> [String] {
        var found: [String] = []
        try rows(once: sql) { row in found.append(row.text(0)) }
        return found
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Copies everything as it is at one moment to a new file, while other processes write.
    func copy(to target: SQLiteConnection) throws(StoreFailure) {
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.failure(sqlite3_errcode(target.handle), doing: "the copy")
        }
        // All pages go in one step, which is one read transaction and needn't start again when others write.
        let code = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw target.failure(code == SQLITE_DONE ? end : code, doing: "the copy")
        }
    }

    // MARK: Statements

    private func prepared(_ sql: StaticString) throws(StoreFailure) -> SQLiteStatement {
        if let known = statements[sql.utf8Start] { return known }
        let statement = try make(sql.description, isKept: true)
        statements[sql.utf8Start] = statement
        return statement
    }

    private func make(_ sql: String, isKept: Bool = false) throws(StoreFailure) -> SQLiteStatement {
        var statement: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code, doing: sql) }
        return SQLiteStatement(statement)
    }

    private func check(_ code: Int32, doing what: String) throws(StoreFailure) {
        guard code == SQLITE_OK else { throw failure(code, doing: what) }
    }

    private func failure(_ code: Int32, doing what: String) -> StoreFailure {
        StoreFailure(code: code, handle: handle, doing: what)
    }
}
