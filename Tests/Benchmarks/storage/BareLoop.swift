import CSQLite
import Foundation

/// Runs the statements of a compare-and-set write and nothing else, a fixed number in each transaction. It
/// shows what the file and the disk allow.
enum BareLoop {
    private static let tables = """
        CREATE TABLE store (id INTEGER PRIMARY KEY, counter INTEGER NOT NULL) STRICT;
        INSERT INTO store VALUES (1, 0);
        CREATE TABLE channels (id INTEGER PRIMARY KEY, metadata_revision INTEGER NOT NULL) STRICT;
        CREATE TABLE metadata (channel INTEGER, key TEXT, place INTEGER, value TEXT, revision INTEGER,
            updated_ms INTEGER, author TEXT, PRIMARY KEY (channel, key)) STRICT, WITHOUT ROWID;
        CREATE TABLE outbox (sequence INTEGER PRIMARY KEY, source INTEGER, channel INTEGER, publisher TEXT,
            feature INTEGER, event BLOB) STRICT;
        """
    private static let statements = [
        "SELECT metadata_revision FROM channels WHERE id = ?1",
        "UPDATE channels SET metadata_revision = ?2 WHERE id = ?1",
        """
        INSERT INTO metadata VALUES (?1, 'price', 1, ?3, ?2, 0, '') ON CONFLICT (channel, key) DO UPDATE SET
            value = excluded.value, revision = excluded.revision
        """,
        "INSERT INTO outbox VALUES (?4, 1, ?1, 'user', 2, ?3)",
        "DELETE FROM outbox WHERE sequence = ?5",
    ]

    static func rate(_ directory: String, synchronous: String, group: Int, duration: Duration) throws
        -> Double
    {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var database: OpaquePointer?
        _ = rtm_sqlite_count_no_memory()
        sqlite3_open_v2(
            directory + "/bare.db", &database,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        defer { sqlite3_close(database) }
        for text in ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = \(synchronous)", tables] {
            sqlite3_exec(database, text, nil, nil, nil)
        }
        for channel in 0..<group {
            sqlite3_exec(database, "INSERT INTO channels VALUES (\(channel), 0)", nil, nil, nil)
        }
        let prepared = statements.map { text in
            var statement: OpaquePointer?
            sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            return statement
        }
        defer { for statement in prepared { sqlite3_finalize(statement) } }
        let value = [CChar](repeating: 0x76, count: 128)
        let start = ContinuousClock.now
        var done = 0
        value.withUnsafeBufferPointer { value in
            while ContinuousClock.now - start < duration {
                sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil)
                for channel in 0..<group {
                    done += 1
                    for statement in prepared {
                        let numbers = [Int64(channel), Int64(done), 0, Int64(done), Int64(done - group * 4)]
                        for (place, number) in numbers.enumerated() where place != 2 {
                            sqlite3_bind_int64(statement, Int32(place + 1), number)
                        }
                        sqlite3_bind_text(statement, 3, value.baseAddress, Int32(value.count), nil)
                        while sqlite3_step(statement) == SQLITE_ROW {}
                        sqlite3_reset(statement)
                    }
                }
                sqlite3_exec(database, "UPDATE store SET counter = \(done)", nil, nil, nil)
                sqlite3_exec(database, "COMMIT", nil, nil, nil)
            }
        }
        return Double(done) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
