import Foundation

/// What an operator does with a database file, even while the service uses it.
package enum SQLiteMaintenance {
    /// Copies the database as it is at one moment to a new file, while the service runs. The copy gets its
    /// name only when it is complete and was found to be in order.
    static func backup(_ path: String, to target: String) throws(StoreFailure) {
        let files = FileManager.default
        guard !files.fileExists(atPath: target) else {
            throw StoreFailure(
                kind: .refused, reason: "\(target) exists already. Name a file that isn't there yet")
        }
        try makeChecked(target) { part throws(StoreFailure) in try copy(path, to: part) }
    }

    /// Puts a copy of a backup where the service looks for its database. The caller holds the directory, so
    /// no service uses it. Until the copy is complete and was found to be in order, nothing is changed.
    ///
    /// - Parameter replacing: whether a database that is there may be replaced.
    static func restore(_ backup: String, to target: String, replacing: Bool) throws(StoreFailure) {
        guard FileManager.default.fileExists(atPath: backup) else {
            throw StoreFailure(kind: .refused, reason: "there is no file \(backup). Name a backup")
        }
        guard FileIdentity(backup) != FileIdentity(target) else {
            throw StoreFailure(
                kind: .refused, reason: "\(backup) is the database of the service. Name a backup")
        }
        try checkReplacing(target, replacing)
        let source = try SQLiteConnection(path: backup, .read)
        defer { source.close() }
        try SQLiteSchema.checkVersion(source)
        try replace(target) { part throws(StoreFailure) in try copy(backup, to: part) }
    }

    package static func checkReplacing(_ target: String, _ replacing: Bool) throws(StoreFailure) {
        guard replacing || !FileManager.default.fileExists(atPath: target) else {
            throw StoreFailure(
                kind: .refused,
                reason: "there is a database \(target) already. Repeat the command with --force to replace "
                    + "it; what it holds is gone then")
        }
    }

    /// Makes a file the database of the service, which doesn't run. Until `fill` is done and the file was
    /// found to be in order, nothing is changed.
    package static func replace(
        _ target: String, _ fill: (String) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        // The log of the database before would be applied to the new one. Without it that database is one
        // of a few moments before, should the machine fail just here.
        try makeChecked(target, fill) {
            for suffix in ["-wal", "-shm", "-journal"] { unlink(target + suffix) }
        }
    }

    /// The file gets its name behind `prepare`, when it is complete and in order, and is on the disk.
    private static func makeChecked(
        _ target: String, _ fill: (String) throws(StoreFailure) -> Void, _ prepare: () -> Void = {}
    ) throws(StoreFailure) {
        let files = FileManager.default
        let part = target + ".part"
        try? files.removeItem(atPath: part)
        if let error = PrivateFile.make(part) { throw unwritable(target, error) }
        do throws(StoreFailure) {
            try fill(part)
            let findings = try check(part)
            guard findings.isEmpty else {
                throw StoreFailure(kind: .corrupt, reason: "the copy is damaged: \(findings[0])")
            }
            prepare()
            guard rename(part, target) == 0 else { throw unwritable(target, errno) }
            if let error = PrivateFile.keep(directoryOf: target) { throw unwritable(target, error) }
        } catch {
            try? files.removeItem(atPath: part)
            throw error
        }
    }

    private static func unwritable(_ target: String, _ error: Int32) -> StoreFailure {
        StoreFailure(
            kind: .inputOutput,
            reason: "\(target) can't be written: \(String(cString: strerror(error))). "
                + "Name a file in a directory where this user may write")
    }

    private static func copy(_ path: String, to target: String) throws(StoreFailure) {
        let source = try SQLiteConnection(path: path, .read)
        defer { source.close() }
        try SQLiteSchema.checkOrigin(source)
        let copy = try SQLiteConnection(path: target, .readWrite, creating: true)
        defer { copy.close() }
        try source.copy(to: copy)
        // The copy is one file, without others beside it.
        try copy.execute("PRAGMA journal_mode = DELETE")
    }

    /// Reads the whole file and returns what is wrong with it, in SQLite's words. Throws if the file is no
    /// database of storage.
    static func check(_ path: String) throws(StoreFailure) -> [String] {
        let connection = try SQLiteConnection(path: path, .read)
        defer { connection.close() }
        try SQLiteSchema.checkOrigin(connection)
        let findings = try connection.texts("PRAGMA integrity_check")
        return findings == ["ok"] ? [] : findings
    }
}
