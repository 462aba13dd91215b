/// How a database file is opened.
struct SQLiteOptions: Sendable, Hashable {
    var path: String
    var synchronous = Synchronous.full
    /// The size limit in bytes; 0 means as large as the disk.
    var bytesMax = 0
    /// Bytes of pages that each connection keeps in memory.
    var cacheBytes = 32 << 20
    /// Pages in the file of the newest changes. When there are more, they are moved into the database.
    var checkpointPages = 1_000
    /// SQLite's name of the file system that the writer uses; nil means the usual one.
    var fileSystem: String?

    /// Opens the file for its one writer. Creates or migrates it where needed.
    func openWriter() throws(StoreFailure) -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path, .readWrite, creating: true, fileSystem: fileSystem)
        do throws(StoreFailure) {
            try connection.execute("PRAGMA journal_mode = WAL")
            try connection.execute("PRAGMA synchronous = \(synchronous.rawValue)")
            try connection.execute("PRAGMA cache_size = -\(cacheBytes / 1024)")
            try connection.execute("PRAGMA wal_autocheckpoint = \(checkpointPages)")
            try SQLiteSchema.migrate(connection)
            try limit(connection, to: .usual)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// Opens the file for one reader beside the writer.
    func openReader() throws(StoreFailure) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, .read)
        do throws(StoreFailure) {
            try connection.execute("PRAGMA query_only = ON")
            try connection.execute("PRAGMA cache_size = -\(cacheBytes / 1024)")
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// Lets the writer fill so much of the file from now on.
    func limit(_ connection: SQLiteConnection, to room: StorageRoom) throws(StoreFailure) {
        let most = 4_294_967_294
        let page = try connection.texts("PRAGMA page_size").first.flatMap { Int($0) } ?? 4096
        let count = bytesMax > 0 ? min(most, max(1, room.bytes(of: bytesMax) / page)) : most
        try connection.execute("PRAGMA max_page_count = \(count)")
    }
}

/// What an acknowledgement of storage is worth. A killed process loses nothing with any of these. They differ
/// in what a power cut or a crash of the system may undo.
enum Synchronous: String, Sendable, Hashable, CaseIterable {
    /// A power cut undoes nothing: every group of changes is on the disk before it is acknowledged.
    case full
    /// A power cut may undo the last moments as a whole: what is left is one state that existed.
    case normal
    /// A power cut may undo the last moments, and the file may be damaged.
    case off
}
