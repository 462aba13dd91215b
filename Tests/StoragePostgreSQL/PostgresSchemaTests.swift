import Foundation
import RTMTestSupport
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// The tables, made by several nodes and by older and newer versions.
@Suite("The schema in PostgreSQL")
struct PostgresSchemaTests {
    private func failure(_ body: () throws -> Void) -> StoreFailure? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreFailure
        }
    }

    private func migrate(_ url: String, shards: Int = 4) throws {
        let connection = try PostgresConnection(.init(url: url))
        defer { connection.close() }
        try PostgresSchema(connection: connection, shards: shards).migrate()
    }

    @Test("eight nodes that start at once make the tables and the partitions once")
    func together() async throws {
        try await RunningPostgres.with { server in
            let url = server.url
            try await withThrowingTaskGroup(of: Int.self) { nodes in
                for _ in 0..<8 {
                    // Unstructured: each blocks a thread, and the threads of tasks are as few as cores.
                    nodes.addTask {
                        try await withCheckedThrowingContinuation { done in
                            Thread.detachNewThread {
                                done.resume(with: Result { try Self.start(url) })
                            }
                        }
                    }
                }
                for try await count in nodes { #expect(count == 9) }
            }
            #expect(
                try server.query("SELECT schema_version FROM heliograph.store")
                    == "\(PostgresSchema.version)")
            #expect(try server.query("SELECT count(*) FROM heliograph.shards") == "4")
            #expect(
                try server.query(
                    "SELECT count(*) FROM pg_class WHERE relname ~ '^(batches|outbox)_[0-9]+$'") == "8")
        }
    }

    /// What a node does at its start. Returns how many partitions it knows.
    private static func start(_ url: String) throws -> Int {
        let connection = try PostgresConnection(.init(url: url))
        defer { connection.close() }
        try PostgresSchema(connection: connection, shards: 4).migrate()
        var partitions = PostgresPartitions()
        try partitions.make(
            PostgresPartitions.wanted(hour: 500_000, ofShard: 0).union([.historyOfWeek(2_900)]),
            connection)
        return partitions.known.count
    }

    @Test("H-9: stored messages of the second version keep their times")
    func times() async throws {
        try await RunningPostgres.with { server in
            let connection = try PostgresConnection(.init(url: server.url))
            defer { connection.close() }
            try PostgresSchema(connection: connection, shards: 4).migrate(to: 2)
            try server.query(
                "INSERT INTO heliograph.history VALUES (0, 1, 1790000000000, 9223372036854775807, 'anna', 1, '', '')"
            )
            try migrate(server.url)
            #expect(
                try server.query("SELECT time FROM heliograph.history") == "\(1_790_000_000_000 << 10)")
        }
    }

    @Test("a newer schema and another number of shards are refused, and nothing is changed")
    func refused() async throws {
        try await RunningPostgres.with { server in
            try migrate(server.url)
            try migrate(server.url)
            let shards = failure { try migrate(server.url, shards: 8) }
            #expect(
                shards?.reason
                    == "the database was made with 4 shards, not with 8: set storage.shards to 4")
            try server.query("UPDATE heliograph.store SET schema_version = 99")
            let newer = failure { try migrate(server.url) }
            #expect(newer?.kind == .refused && newer?.reason.contains("the schema 99") == true)
            #expect(try server.query("SELECT schema_version FROM heliograph.store") == "99")
        }
    }

    @Test("a partition is made while a dump reads the table, and an hour that is over is dropped")
    func partitions() async throws {
        try await RunningPostgres.with { server in
            try migrate(server.url)
            let connection = try PostgresConnection(.init(url: server.url))
            let dump = try PostgresConnection(.init(url: server.url))
            let timeout = Duration.seconds(10)
            _ = try dump.run(
                [
                    PostgresStatement("BEGIN"), PostgresStatement("SELECT count(*) FROM batches"),
                    PostgresStatement("SET LOCAL idle_in_transaction_session_timeout = 0"),
                ], within: timeout)
            var partitions = PostgresPartitions()
            try partitions.make(PostgresPartitions.wanted(hour: 100, ofShard: 0), connection)
            _ = try connection.run(
                [
                    PostgresStatement("INSERT INTO batches VALUES (0, 1, 100, 1, 1)"),
                    PostgresStatement("INSERT INTO outbox VALUES (0, 1, 101, false, 1, 1, '', 1, '')"),
                ], within: timeout)
            let old = partitions.outdated(hour: 110, lastBatchHour: 103, expiryClock: 0)
            #expect(
                Set(old) == [
                    .batches(hour: 100), .batches(hour: 101), .outbox(hour: 100),
                    .outbox(hour: 101), .outbox(hour: 102), .outbox(hour: 103),
                ])
            // The dump reads batches, and the outbox of an hour has an event.
            for partition in old { try partitions.drop(partition, connection) }
            try partitions.load(connection)
            #expect(partitions.known.contains(.batches(hour: 100)))
            #expect(partitions.known.contains(.outbox(hour: 101)))
            #expect(!partitions.known.contains(.outbox(hour: 102)))
            dump.close()
            try await eventually("the dump is over") {
                try server.query(
                    "SELECT count(*) FROM pg_locks WHERE relation = 'heliograph.batches'::regclass")
                    == "0"
            }
            try partitions.drop(.batches(hour: 100), connection)
            try partitions.load(connection)
            #expect(!partitions.known.contains(.batches(hour: 100)))
            connection.close()
        }
    }
}
