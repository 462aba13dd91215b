import CSQLite

extension StoreFailure {
    /// - Parameter what: the statement or the step, for the operator. It never contains values.
    init(code: Int32, handle: OpaquePointer?, doing what: String) {
        let message = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        let words = message ?? String(cString: sqlite3_errstr(code))
        let kind = Self.kind(of: code)
        self.init(kind: kind, reason: "\(words) (SQLite \(code), \(kind.rawValue)), at: \(what)")
    }

    private static func kind(of code: Int32) -> Kind {
        switch code & 0xFF {
        case SQLITE_FULL: .full
        case SQLITE_BUSY, SQLITE_LOCKED: .locked
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_PROTOCOL, SQLITE_NOLFS: .inputOutput
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
        default: .refused
        }
    }
}
