import Foundation
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// `rtm-storage migrate`: what one engine has kept the other one has afterwards, and continues with.
@Suite("H-15: from the file to PostgreSQL and back")
struct MigrationTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    @Test("what generated calls leave behind arrives in the other engine, and comes back")
    func thereAndBack() async throws {
        try await RunningPostgres.with { server in
            for seed in 0..<4 as Range<UInt64> {
                try await withDirectory { directory in
                    let options = try Engine.newDatabase(server, "seed\(seed)")
                    let file = directory + "/storage.db"
                    var writes = GeneratedWrites(seed: seed, hours: true)
                    let before = try Self.run(&writes, on: try Engine.file(directory, .init(), Self.now))
                    _ = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                    let database = try Engine.postgres(options, .init(), Self.now)
                    #expect(try StoreContents(database.reader, now: writes.now) == before, "seed \(seed)")
                    // The copy isn't only there, it can be written on.
                    let after = try Self.run(&writes, on: database)
                    #expect(throws: StoreFailure.self) {
                        _ = try StoreMigration.run(to: .file, file: file, options, replacing: false)
                    }
                    _ = try StoreMigration.run(to: .file, file: file, options, replacing: true)
                    let back = try Engine.file(directory, .init(), Self.now)
                    #expect(try StoreContents(back.reader, now: writes.now) == after, "seed \(seed)")
                    _ = try Self.run(&writes, on: back)
                }
            }
        }
    }

    @Test("what four shards have had comes back as it was, whatever the shards are")
    func shards() async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                var options = try Engine.newDatabase(server, "four")
                options.shards = 4
                let file = directory + "/storage.db"
                var writes = GeneratedWrites(seed: 9, hours: true)
                let before = try Self.run(&writes, on: try Engine.file(directory, .init(), Self.now))
                _ = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                let used = try server.query(
                    "SELECT count(DISTINCT shard) FROM heliograph.channels", database: "four")
                #expect(try #require(Int(used)) > 1)
                // Each row lies where callers look for it.
                let misplaced = try server.query(Self.misplaced, database: "four")
                #expect(misplaced == "0")
                _ = try StoreMigration.run(to: .file, file: file, options, replacing: true)
                let back = try Engine.file(directory, .init(), Self.now)
                #expect(try StoreContents(back.reader, now: writes.now) == before)
                back.close()
            }
        }
    }

    /// How many channels lie elsewhere than 0030 says.
    private static let misplaced = """
        SELECT count(*) FROM (SELECT shard, sha256(set_byte('\\x00', 0, type::int)
            || convert_to(app, 'UTF8') || '\\xff'::bytea || convert_to(name, 'UTF8')) AS hash
            FROM heliograph.channels) c
        WHERE shard <> (get_byte(hash, 0) * 65536 + get_byte(hash, 1) * 256 + get_byte(hash, 2)) % 4
        """

    @Test("events of apps arrive with their numbers, positions and epochs, and come back")
    func events() async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                let options = try Engine.newDatabase(server, "events")
                let file = directory + "/storage.db"
                var feeds = GeneratedFeeds(seed: 3)
                let before = try Self.run(&feeds, on: try Engine.file(directory, .init(), Self.now))
                #expect(before.contains { !$0.page.events.isEmpty })
                let copied = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                #expect(copied.contains { $0.table == "event_keys" && $0.rows > 0 })
                let database = try Engine.postgres(options, .init(), Self.now)
                #expect(try feeds.requests.map { try EventContents(database.reader, $0) } == before)
                let after = try Self.run(&feeds, on: database)
                _ = try StoreMigration.run(to: .file, file: file, options, replacing: true)
                let back = try Engine.file(directory, .init(), Self.now)
                #expect(try feeds.requests.map { try EventContents(back.reader, $0) } == after)
                back.close()
            }
        }
    }

    @Test("a database in which something is kept is refused, and so is one that a storage node uses")
    func refusals() async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                let options = try Engine.newDatabase(server, "busy")
                let file = directory + "/storage.db"
                var writes = GeneratedWrites(seed: 1, hours: true)
                _ = try Self.run(&writes, on: try Engine.file(directory, .init(), Self.now))
                let node = PostgresNode(options)
                try node.start { _ in }
                try Self.expectRefusal("uses the database") {
                    _ = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                }
                node.end()
                _ = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                try Self.expectRefusal("isn't empty") {
                    _ = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                }
                try server.query(
                    "SELECT heliograph.heliograph_publish('app', 'a', 'hello'::bytea)", database: "busy")
                try Self.expectRefusal("1 messages of heliograph_publish wait") {
                    _ = try StoreMigration.run(to: .file, file: file, options, replacing: true)
                }
            }
        }
    }

    /// A column that an engine gets and `MigratedTable` doesn't would be lost without a word.
    @Test("every table and column of both engines is copied, but for what a copy counts and makes anew")
    func tables() async throws {
        func copied(_ name: KeyPath<MigratedTable.Column, String>) -> Set<String> {
            Set(
                MigratedTable.all.flatMap { table in
                    table.columns.map { "\(table.name).\($0[keyPath: name])" }
                })
        }
        try await withDirectory { directory in
            let file = try SQLiteConnection(path: directory + "/storage.db", .readWrite, creating: true)
            defer { file.close() }
            try SQLiteSchema.migrate(file)
            let found = Set(try file.texts(Self.columnsOfFile))
            #expect(found == copied(\.sqlite).union(["event_apps.id", "event_apps.bytes"]))
        }
        try await RunningPostgres.with { server in
            try Engine.postgres(server, "tables", .init(), Self.now).close()
            let found = try server.query(Self.columnsOfDatabase, database: "tables").split(separator: ",")
            let made = ["outbox.hour", "outbox.is_announced", "event_apps.bytes"]
            #expect(Set(found.map(String.init)) == copied(\.postgres).union(made))
        }
    }

    private static let columnsOfFile = """
        SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name NOT IN ('store', 'usage', 'room')
        """

    /// The shard follows from the channel, or from the app.
    private static let columnsOfDatabase = """
        SELECT string_agg(t.relname || '.' || c.attname, ',')
        FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
        WHERE t.relnamespace = 'heliograph'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
            AND c.attname <> 'shard' AND t.relname NOT IN ('store', 'nodes', 'shards', 'batches', 'clocks',
                'usage', 'history_usage', 'inbox', 'inbox_batches')
        """

    @Test("a copy that differs isn't kept")
    func difference() async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                let options = try Engine.newDatabase(server, "differing")
                let file = directory + "/storage.db"
                var writes = GeneratedWrites(seed: 1, hours: true)
                _ = try Self.run(&writes, on: try Engine.file(directory, .init(), Self.now))
                // A server that changes what it is given: one letter of one value.
                _ = try Engine.postgres(options, .init(), Self.now)
                try server.query(
                    """
                    CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
                        $$BEGIN NEW.value = NEW.value || 'x'::bytea; RETURN NEW; END$$;
                    CREATE TRIGGER spoil BEFORE INSERT ON heliograph.metadata
                        FOR EACH ROW EXECUTE FUNCTION spoil();
                    """, database: "differing")
                try Self.expectRefusal("the copy of metadata differs") {
                    _ = try StoreMigration.run(to: .database, file: file, options, replacing: false)
                }
                #expect(
                    try server.query("SELECT count(*) FROM heliograph.metadata", database: "differing")
                        == "0")
            }
        }
    }

    @Test("by the command, with the real program: fencing tokens and revisions continue where they were")
    func command() async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                try await LogHost.with { host in
                    func run(_ arguments: String...) async throws -> (status: Int32, log: String) {
                        let process = try ServiceProcess(
                            "rtm-storage",
                            ["migrate"] + arguments
                                + ["--data", directory + "/data", "--database", server.url],
                            directory: URL(fileURLWithPath: directory))
                        return (try await process.exit(), process.log)
                    }
                    var revision: Int64 = 0
                    var token: UInt64 = 0
                    try await host.withStorage(directory) { process, caller in
                        try await caller.setLock(ttl: 300)
                        token = try await caller.acquire(by: .user("anna"))
                        revision = try await caller.write([("a", "1")])
                        let busy = try await run("database")
                        #expect(busy.status == 3 && busy.log.contains("in use"), "\(busy.log)")
                        process.signal(SIGTERM)
                        #expect(try await process.exit() == 0, "\(process.log)")
                    }
                    #expect(try await run("elsewhere").log.contains("Say database or file"))
                    let there = try await run("database")
                    #expect(there.status == 0, "\(there.log)")
                    try await host.withStorage(directory, ["--database", server.url]) { process, caller in
                        let set = try await caller.metadata()
                        #expect(set.items.map(\.value) == ["1"] && set.majorRevision == revision)
                        #expect(try await caller.locks().locks.map(\.owner) == ["anna"])
                        try await caller.setLock("second", ttl: 300)
                        let next = try await caller.acquire("second", by: .user("anna"))
                        #expect(next > token)
                        token = next
                        process.signal(SIGTERM)
                        #expect(try await process.exit() == 0, "\(process.log)")
                    }
                    let kept = try await run("file")
                    #expect(kept.status == 3 && kept.log.contains("--force"), "\(kept.log)")
                    let back = try await run("file", "--force")
                    #expect(back.status == 0, "\(back.log)")
                    try await host.withStorage(directory) { process, caller in
                        #expect(try await caller.locks().locks.count == 2)
                        try await caller.setLock("third", ttl: 300)
                        #expect(try await caller.acquire("third", by: .user("ben")) > token)
                        process.signal(SIGTERM)
                        #expect(try await process.exit() == 0, "\(process.log)")
                    }
                }
            }
        }
    }

    private static func expectRefusal(_ words: String, _ body: () throws -> Void) throws {
        let failure = #expect(throws: StoreFailure.self) { try body() }
        #expect(failure?.reason.contains(words) == true, "\(failure?.reason ?? "no failure")")
    }

    private static func run(
        _ feeds: inout GeneratedFeeds, on engine: Engine
    ) throws -> [EventContents] {
        defer { engine.close() }
        for _ in 0..<100 { _ = engine.run([StorageWrite(feeds.next())], now) }
        return try feeds.requests.map { try EventContents(engine.reader, $0) }
    }

    private static func run(
        _ writes: inout GeneratedWrites, on engine: Engine
    ) throws -> StoreContents {
        defer { engine.close() }
        for _ in 0..<60 {
            let group = writes.group(try StoreContents(engine.reader, now: writes.now))
            #expect(engine.run(group, writes.now).failure == nil)
        }
        return try StoreContents(engine.reader, now: writes.now)
    }
}
