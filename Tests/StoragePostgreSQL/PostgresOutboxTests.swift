import Foundation
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// Events on their way to messaging: rows that are only appended, and the position up to which they are
/// announced.
@Suite("The outbox in PostgreSQL")
struct PostgresOutboxTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    private static func set(_ channel: String) -> StorageWrite {
        let items = [MetadataItem(key: "k", value: "v")]
        return StorageWrite(
            MetadataEdit(WriteMetadata(.set, of: .lobby, items: items), of: .message(channel), by: "anna"),
            link: 1, request: 1)
    }

    @Test("while somebody holds a snapshot, groups and announcements leave no dead rows behind")
    func deadRows() async throws {
        try await RunningPostgres.with { server in
            let options = try Engine.newDatabase(server, "busy")
            let engine = try Engine.postgres(options, StorageRules(), Self.now)
            let dump = try PostgresConnection(options)
            _ = try dump.run(
                [
                    PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ"),
                    PostgresStatement("SET LOCAL idle_in_transaction_session_timeout = 0"),
                    PostgresStatement("SELECT count(*) FROM batches"),
                ], within: options.timeout)
            for round in 0..<100 as Range<UInt64> {
                // Channel a waits, b is announced.
                #expect(engine.run([Self.set("a"), Self.set("b")], Self.now).failure == nil)
                _ = engine.run(
                    [StorageWrite(OutboxAcknowledgement(of: [round * 2 + 2...round * 2 + 2]))], Self.now)
            }
            _ = engine.run([StorageWrite(OutboxAcknowledgement(of: [1...120]))], Self.now)
            let waiting = try engine.reader.events(after: 0, limit: 1_000).map(\.sequence)
            #expect(waiting == Array(stride(from: 121, to: 200, by: 2)))
            #expect(try engine.reader.events(after: 150, limit: 3).map(\.sequence) == [151, 153, 155])
            engine.close()
            dump.close()
            // A connection reports what it has done when it ends, at the latest.
            try await eventually("the writer has reported what it did") {
                try server.query(
                    """
                    SELECT sum(n_tup_ins) = 200 + 100 + 201 FROM pg_stat_user_tables
                    WHERE relname ~ '^(outbox|batches)_[0-9]+$'
                    """, database: "busy") == "t"
            }
            let dead = try server.query(
                """
                SELECT sum(n_tup_upd + n_tup_del + n_dead_tup) FROM pg_stat_user_tables
                WHERE relname ~ '^(outbox|batches)_[0-9]+$'
                """, database: "busy")
            #expect(dead == "0")
            // The row of the fence: a term begins, and is given up.
            let fence = try server.query(
                "SELECT n_tup_upd + n_tup_del <= 2 FROM pg_stat_user_tables WHERE relname = 'shards'",
                database: "busy")
            #expect(fence == "t")
        }
    }

    @Test("the next owner finds what waits, also behind very many events that are announced already")
    func takeover() async throws {
        try await RunningPostgres.with { server in
            let options = try Engine.newDatabase(server, "takeover")
            let first = try Engine.postgres(options, StorageRules(), Self.now)
            _ = first.run([Self.set("a"), Self.set("a")], Self.now)
            _ = first.run([StorageWrite(OutboxAcknowledgement(of: [1...1]))], Self.now)
            first.close()
            // As if a shard of messaging had been away for long.
            try server.query(
                """
                WITH n AS (INSERT INTO heliograph.outbox (shard, sequence, hour, is_announced, source,
                        channel, publisher, feature, event)
                    SELECT shard, 3 + n, hour, is_announced, source, channel, publisher, feature, event
                    FROM heliograph.outbox, generate_series(0, 12001) n WHERE sequence = 2 RETURNING *)
                INSERT INTO heliograph.outbox (shard, sequence, hour, is_announced)
                SELECT shard, sequence, hour, true FROM n WHERE sequence NOT IN (6000, 12004);
                UPDATE heliograph.batches SET counter = 12004;
                """, database: "takeover")
            let second = try Engine.postgres(options, StorageRules(), Self.now)
            #expect(try second.reader.events(after: 0, limit: 9).map(\.sequence) == [2, 6_000, 12_004])
            #expect(try second.reader.events(after: 0, limit: 2).map(\.sequence) == [2, 6_000])
            #expect(try second.reader.events(after: 6_000, limit: 2).map(\.sequence) == [12_004])
            // What was read in another term may have had the number of another event.
            _ = second.run([StorageWrite(OutboxAcknowledgement(of: [1...6_000], term: 1))], Self.now)
            #expect(try second.reader.events(after: 0, limit: 9).map(\.sequence) == [2, 6_000, 12_004])
            // What the owner before has announced lies in the ranges of this one, too.
            _ = second.run(
                [StorageWrite(OutboxAcknowledgement(of: [1...2, 6_001...12_004])), Self.set("a")], Self.now)
            #expect(try second.reader.events(after: 0, limit: 9).map(\.sequence) == [6_000, 12_005])
            _ = second.run([StorageWrite(OutboxAcknowledgement(of: [3...6_000]))], Self.now)
            let position = try server.query(
                "SELECT announced FROM heliograph.batches ORDER BY batch DESC LIMIT 1",
                database: "takeover")
            #expect(position == "12004")
            second.close()
        }
    }

    @Test("an hour of the outbox stays while an event of it waits, and goes when all are announced")
    func hours() async throws {
        try await RunningPostgres.with { server in
            let options = try Engine.newDatabase(server, "hours")
            try Engine.postgres(options, StorageRules(), Self.now).close()
            let connection = try PostgresConnection(options)
            var partitions = PostgresPartitions()
            try partitions.make([.outbox(hour: 100), .outbox(hour: 101)], connection)
            try partitions.make(PostgresPartitions.wanted(hour: 200, ofShard: 0), connection)
            func batch(_ number: Int, announced: Int) throws {
                try server.query(
                    """
                    INSERT INTO heliograph.batches (shard, batch, hour, term, counter, announced)
                    VALUES (0, \(number), 200, 1, 9, \(announced))
                    """, database: "hours")
            }
            func dropped() throws -> Set<PostgresPartition> {
                let old = partitions.outdated(hour: 200, lastBatchHour: 200, expiryClock: 0)
                for partition in old { try partitions.drop(partition, connection) }
                try partitions.load(connection)
                return Set(old).subtracting(partitions.known)
            }
            try server.query(
                """
                INSERT INTO heliograph.outbox (shard, sequence, hour)
                VALUES (0, 4, 100), (0, 5, 101), (0, 6, 101)
                """, database: "hours")
            try batch(1, announced: 3)
            #expect(try dropped() == [])
            try batch(2, announced: 5)
            #expect(try dropped() == [.outbox(hour: 100)])
            try batch(3, announced: 6)
            #expect(try dropped() == [.outbox(hour: 101)])
            connection.close()
        }
    }
}
