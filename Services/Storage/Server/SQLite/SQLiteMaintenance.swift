import Foundation

/// What an operator does with a database file, even while the service uses it.
enum SQLiteMaintenance {
    /// Copies the database as it is at one moment to a new file, while the service goes on. The copy gets its
    /// name only when it is complete and was found to be in order.
    static func backup(_ path: String, to target: String) throws(StoreFailure) {
        let files = FileManager.default
        guard files.fileExists(atPath: path) else {
            throw StoreFailure(kind: .refused, reason: "there is no database \(path)")
        }
        guard !files.fileExists(atPath: target) else {
            throw StoreFailure(kind: .refused, reason: "\(target) exists already")
        }
        let part = target + ".part"
        do {
            try? files.removeItem(atPath: part)
            try copy(path, to: part)
            let findings = try check(part)
            guard findings.isEmpty else {
                throw StoreFailure(kind: .corrupt, reason: "the copy is damaged: \(findings[0])")
            }
            try files.moveItem(atPath: part, toPath: target)
        } catch {
            try? files.removeItem(atPath: part)
            throw error as? StoreFailure
                ?? StoreFailure(kind: .inputOutput, reason: "can't write \(target): \(error)")
        }
    }

    private static func copy(_ path: String, to target: String) throws(StoreFailure) {
        let source = try SQLiteConnection(path: path, .read)
        defer { source.close() }
        let copy = try SQLiteConnection(path: target, .readWrite, creating: true)
        defer { copy.close() }
        try source.copy(to: copy)
        // The copy is one file, without others beside it.
        try copy.execute("PRAGMA journal_mode = DELETE")
    }

    /// Reads the whole file and returns what is wrong with it, in SQLite's words.
    static func check(_ path: String) throws(StoreFailure) -> [String] {
        let connection = try SQLiteConnection(path: path, .read)
        defer { connection.close() }
        let findings = try connection.texts("PRAGMA integrity_check")
        return findings == ["ok"] ? [] : findings
    }
}
