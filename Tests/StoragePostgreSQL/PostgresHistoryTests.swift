import Foundation
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// History ends by partitions: what has expired isn't there any more, and its room comes back as a whole.
@Suite("H-11: history in PostgreSQL goes by partitions")
struct PostgresHistoryTests {
    private static let hour: UInt64 = 3_600_000
    private static let day: UInt64 = 24 * hour

    private static func message(
        _ channel: String, at time: UInt64, expiry: UInt64?, sequence: UInt64, bytes: Int = 100
    ) -> StorageWrite {
        let content = HistoryMessage(
            type: .binary, payload: Array(repeating: 7, count: bytes), customType: "", publisher: "anna",
            timestampMilliseconds: time)
        let message = StoredMessage(
            channel: .message(channel), content: content,
            origin: .init(instance: 1, sequence: sequence), expiry: expiry)
        return StorageWrite(message, link: 1, request: 1)
    }

    private static func times(_ reader: some ReadableStore, _ channel: String, now: UInt64) throws
        -> [UInt64]
    {
        let all = GetHistory(channelType: .message, channel: channel, count: 100, start: 0, end: 0)
        let query = try HistorySelection(all, of: .user("anna"))
        return try reader.messages(query, now: now).messages.map(\.timestampMilliseconds)
    }

    private static let removal = StorageWrite(ExpiredHistory(limit: 500))

    @Test(
        "what has expired is hidden at once, counts until its hour is over, and no row of it is deleted")
    func expiry() async throws {
        try await RunningPostgres.with { server in
            let options = try Engine.newDatabase(server, "expiry")
            var rules = StorageRules()
            rules.quotas.historyBytes = 400
            // Three days ago, at a full hour.
            let start = (WallClock.milliseconds() / Self.day - 3) * Self.day
            func now(_ wall: UInt64) -> StorageNow {
                StorageNow(wall: start + wall, steady: 1_000 + wall)
            }
            let engine = try Engine.postgres(options, rules, now(0))
            func append(_ time: UInt64, expiry: UInt64?, sequence: UInt64) -> Bool {
                let write = Self.message(
                    "a", at: start + time, expiry: expiry.map { start + $0 }, sequence: sequence)
                let outcome = engine.run([write], now(time))
                return outcome.answer(NoContent.self) != nil
            }
            // Of 168 bytes each.
            #expect(append(1, expiry: Self.day + 1, sequence: 1))
            #expect(append(2, expiry: 2 * Self.day, sequence: 2))
            #expect(!append(3, expiry: nil, sequence: 3))
            let late = Self.day + 2
            #expect(engine.run([Self.removal], now(late)).expired == 0, "the hour is not over")
            #expect(try Self.times(engine.reader, "a", now: start + late) == [start + 2])
            #expect(!append(late, expiry: nil, sequence: 3))
            let over = Self.day + Self.hour
            let outcome = engine.run([Self.removal], now(over))
            #expect(outcome.expired == 1 && outcome.size?.historyByApp == ["app": 168])
            #expect(append(over, expiry: nil, sequence: 3))
            #expect(try Self.times(engine.reader, "a", now: start + over) == [start + over, start + 2])
            engine.close()
            let rows = "SELECT count(*) FROM heliograph.history"
            #expect(try server.query(rows, database: "expiry") == "3")
            // Each owner of shard 0 drops what is over at its first group, and then once an hour.
            let second = try Engine.postgres(options, rules, now(over))
            #expect(second.run([Self.removal], now(over + Self.hour)).failure == nil)
            #expect(
                try server.query(rows, database: "expiry") == "3", "the day is not over")
            second.close()
            let third = try Engine.postgres(options, rules, now(Self.day))
            #expect(third.run([Self.removal], now(2 * Self.day)).expired == 1)
            third.close()
            let fourth = try Engine.postgres(options, rules, now(2 * Self.day))
            #expect(fourth.run([Self.removal], now(2 * Self.day)).expired == 0)
            #expect(try server.query(rows, database: "expiry") == "2")
            #expect(try Self.times(fourth.reader, "a", now: start + 2 * Self.day) == [start + over])
            // The row of the second message is there yet, and its time is free.
            let again = Self.message("a", at: start + 2, expiry: nil, sequence: 4)
            #expect(fourth.run([again], now(2 * Self.day)).failure == nil)
            #expect(
                try Self.times(fourth.reader, "a", now: start + 2 * Self.day)
                    == [start + over, start + 2])
            fourth.close()
            try await eventually("the writers have reported what they did") {
                try server.query(
                    """
                    SELECT sum(n_tup_ins) = 3, sum(n_tup_del + n_tup_upd) = 0
                    FROM pg_stat_user_tables WHERE relname ~ '^history_(day_|week_|never)'
                    """, database: "expiry") == "t|t"
            }
        }
    }

    @Test("a partition stays until the expiry clock of every shard has passed it")
    func leastClock() async throws {
        try await RunningPostgres.with { server in
            var options = try Engine.newDatabase(server, "clocks")
            options.shards = 2
            let start = (WallClock.milliseconds() / Self.day - 9) * Self.day
            func run(shard: Int, at wall: UInt64, _ writes: [StorageWrite]) throws {
                let store = try PostgresWriter(options, shard: shard)
                let before = StorageNow(wall: start, steady: 1_000)
                let now = StorageNow(wall: start + wall, steady: 1_000 + wall)
                var writer = try StorageWriter(store, rules: StorageRules(), now: before)
                #expect(writer.run(writes + [Self.removal], now: now).failure == nil)
                writer.close()
            }
            func count() throws -> String {
                try server.query("SELECT count(*) FROM heliograph.history", database: "clocks")
            }
            let message = Self.message("a", at: start, expiry: start + Self.day, sequence: 1)
            try run(shard: 0, at: 0, [message])
            for days in [2, 3] as [UInt64] { try run(shard: 0, at: days * Self.day, []) }
            #expect(try count() == "1", "nobody has led the other shard yet")
            try run(shard: 1, at: Self.day - 1, [])
            try run(shard: 0, at: 4 * Self.day, [])
            #expect(try count() == "1")
            try run(shard: 1, at: 2 * Self.day, [])
            try run(shard: 0, at: 5 * Self.day, [])
            #expect(try count() == "0")
        }
    }

    @Test("the number of a channel that was removed is never used again: rows that have expired have it")
    func numbers() async throws {
        try await RunningPostgres.with { server in
            let options = try Engine.newDatabase(server, "numbers")
            let start = (WallClock.milliseconds() / Self.day - 3) * Self.day
            func now(_ wall: UInt64) -> StorageNow {
                StorageNow(wall: start + wall, steady: 1_000 + wall)
            }
            let first = try Engine.postgres(options, StorageRules(), now(0))
            _ = first.run([Self.message("a", at: start, expiry: start + Self.day, sequence: 1)], now(0))
            let unused = StorageWrite(UnusedChannels(limit: 10))
            _ = first.run([unused], now(1))
            let channels = "SELECT string_agg(name, ',') FROM heliograph.channels"
            #expect(try server.query(channels, database: "numbers") == "a", "it has a message")
            // The search goes around.
            _ = first.run([Self.removal, unused], now(Self.day))
            _ = first.run([unused], now(Self.day))
            #expect(try server.query(channels, database: "numbers").isEmpty)
            first.close()
            let second = try Engine.postgres(options, StorageRules(), now(Self.day))
            _ = second.run(
                [Self.message("b", at: start + Self.day, expiry: nil, sequence: 2)], now(Self.day))
            // Even a clock that goes back shows the messages of one channel in no other.
            #expect(try Self.times(second.reader, "b", now: 0) == [start + Self.day])
            second.close()
        }
    }

    @Test("partitions of whatever times never overlap, and there are never many", arguments: 0..<20)
    func partitions(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var known: Set<PostgresPartition> = []
        /// What the apps of a time keep.
        var retentions = [1, 7, 30, 90, 365].shuffled(using: &random).prefix(2)
        var countMax = 0
        for today in 20_000..<21_500 as Range<Int64> {
            if random.chance(1, in: 100) {
                let count = Int.random(in: 1...5, using: &random)
                retentions = [1, 7, 30, 90, 365].shuffled(using: &random).prefix(count)
            }
            for retention in retentions {
                // The clock of some node is wrong now and then.
                let seen = today - (random.chance(1, in: 50) ? .random(in: 0...80, using: &random) : 0)
                let day = seen + Int64(retention)
                let partition = PostgresPartition.history(expiringOn: day, today: seen, known: known)
                #expect(partition.days.contains(day))
                let others = known.subtracting([partition])
                #expect(
                    !others.contains { $0.days.overlaps(partition.days) }, "seed \(seed), day \(today)")
                #expect(partition.days.count == 1 || retention > 30 || known.contains(partition))
                known.insert(partition)
            }
            known = known.filter { $0.days.upperBound > today }
            countMax = max(countMax, known.count)
        }
        #expect(countMax <= 87 && countMax > 1, "seed \(seed)")
    }
}

extension PostgresPartition {
    fileprivate var days: Range<Int64> {
        switch self {
        case .historyOfDay(let day): day..<day + 1
        case .historyOfWeek(let week): week * 7..<week * 7 + 7
        case .batches, .outbox: 0..<0
        }
    }
}
