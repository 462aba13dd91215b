import Foundation
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// What only an engine has whose database is somewhere else.
@Suite("The owner of a shard in PostgreSQL")
struct PostgresWriterTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)
    private static let lobby = ChannelKey.message("lobby")

    private func options(_ url: String, settle: Duration = .seconds(20)) -> PostgresOptions {
        var options = PostgresOptions(url: url)
        // The machine may be busy with other tests.
        options.timeout = .seconds(5)
        options.settleTimeout = settle
        return options
    }

    private func failure<Result>(_ body: () throws(StoreFailure) -> Result) -> StoreFailure? {
        do throws(StoreFailure) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    private func counter(_ number: UInt64) -> GroupChanges {
        var changes = GroupChanges()
        changes.counter = number
        return changes
    }

    private func set(_ revision: Int64, request: UInt64, _ value: String = "v") -> StorageWrite {
        let items = [MetadataItem(key: "k", value: value)]
        let write = WriteMetadata(.set, of: .lobby, items: items, majorRevision: revision)
        return StorageWrite(MetadataEdit(write, of: Self.lobby, by: "anna"), link: 1, request: request)
    }

    private func lock(_ action: LockRequest.Action, by user: String) -> StorageWrite {
        StorageWrite(
            LockChange(LockRequest(action, "l", at: .lobby), of: Self.lobby, ticket: 1, by: .user(user)),
            link: 1, request: 9)
    }

    private func refusals(_ outcome: WriteOutcome) -> [ErrorCode] {
        outcome.answers.compactMap { if case .failure(let error) = $0.result { error.code } else { nil } }
    }

    @Test("an owner whose term is over keeps nothing, and takes the shard again only when it is given up")
    func fenced() async throws {
        try await RunningPostgres.with { server in
            let first = try PostgresWriter(options(server.url))
            _ = try first.start()
            _ = try first.write(counter(7))
            // The first has no lease, so its shard may be taken.
            let node = PostgresNode(options(server.url))
            try node.start { _ in }
            let second = try PostgresWriter(options(server.url), of: node)
            let start = try second.start()
            #expect(second.counter == 7)
            #expect(try #require(start.term) > 1_700_000_000_000)
            #expect(failure { () throws(StoreFailure) in try first.write(counter(8)) }?.kind == .fenced)
            #expect(failure { () throws(StoreFailure) in try first.confirm() }?.kind == .fenced)
            try second.confirm()
            #expect(failure { () throws(StoreFailure) in try first.prove() }?.kind == .fenced)
            #expect(failure { () throws(StoreFailure) in try first.start() }?.kind == .fenced)
            _ = try second.write(counter(9))
            second.close()
            let again = try first.start()
            #expect(try #require(again.term) > #require(start.term))
            #expect(first.counter == 9)
            _ = try first.write(counter(10))
            #expect(
                try server.query(
                    "SELECT string_agg(counter::text, ',' ORDER BY batch) FROM heliograph.batches")
                    == "7,9,10")
            first.close()
            node.end()
        }
    }

    @Test("an owner that stands still inside its transaction loses it before its lease has ended")
    func idle() async throws {
        try await RunningPostgres.with { server in
            let node = PostgresNode(options(server.url))
            try node.start { _ in }
            let first = try PostgresWriter(options(server.url))
            _ = try first.start()
            let idle = try PostgresConnection(options(server.url))
            _ = try idle.run(
                [
                    PostgresStatement("BEGIN"),
                    PostgresStatement("SELECT 1 FROM shards WHERE shard = 0 FOR UPDATE"),
                ], within: .seconds(1))
            let limit = try idle.run(
                [PostgresStatement("SELECT current_setting('idle_in_transaction_session_timeout')")],
                within: .seconds(1))[0].first?.text(0)
            #expect(limit == "1s", "a lease is 2 s")
            let next = try PostgresWriter(options(server.url), of: node)
            try await eventually("the next owner has the shard") { (try? next.start()) != nil }
            #expect(throws: PostgresFailure.self, "its connection is lost") {
                try idle.run([PostgresStatement("COMMIT")], within: .seconds(1))
            }
            first.close()
            next.close()
            node.end()
        }
    }

    @Test(
        "a commit whose answer is lost is settled: kept groups are answered, others have changed nothing")
    func doubt() async throws {
        try await RunningPostgres.with { server in
            let proxy = try CommitProxy(to: server)
            defer { proxy.remove() }
            let store = try PostgresWriter(options(server.url(socket: proxy.directory)))
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            let first = writer.run([set(-1, request: 1)], now: Self.now)
            #expect(refusals(first).isEmpty && first.hasBegun)
            let term = try #require(first.term)
            proxy.cutNext(.commit)
            let kept = writer.run([set(1, request: 2)], now: Self.now)
            #expect(refusals(kept).isEmpty && kept.events.count == 1 && !proxy.isWaiting)
            // The read of a group is repeated where the connection is lost, so the group is cut alone.
            proxy.cutNext(.request)
            #expect(
                failure { () throws(StoreFailure) in try store.write(counter(99)) }?.kind == .unreachable)
            #expect(!proxy.isWaiting)
            #expect(refusals(writer.run([set(2, request: 3)], now: Self.now)).isEmpty)
            #expect(
                refusals(writer.run([set(2, request: 4)], now: Self.now)) == [.storageOutdatedRevision])
            let reader = PostgresReader(options(server.url))
            let contents = try StoreContents(reader)
            #expect(contents.counter == 3 && contents.events.map(\.sequence) == [1, 2, 3])
            #expect(
                try server.query("SELECT term FROM heliograph.shards WHERE shard = 0") == "\(term + 2)")
            reader.close()
            store.close()
        }
    }

    @Test("a commit that succeeded with a warning is in doubt, and settled like one whose answer is lost")
    func warned() async throws {
        try await RunningPostgres.with { server in
            let store = try PostgresWriter(options(server.url))
            _ = try store.start()
            // The first group also makes partitions, whose commits would wait, too.
            _ = try store.write(counter(4))
            try server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.query("SELECT pg_reload_conf()")
            try await eventually("the server waits for a standby") {
                try server.query("SHOW synchronous_standby_names") == "nobody"
            }
            Thread.detachNewThread {
                let cancel = """
                    SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
                    """
                while (try? server.query(cancel)) == "0" {}
                _ = try? server.query("ALTER SYSTEM RESET synchronous_standby_names")
                _ = try? server.query("SELECT pg_reload_conf()")
            }
            _ = try store.write(counter(5))
            #expect(store.counter == 5)
            // The first term is that of the start.
            #expect(try server.query("SELECT term FROM heliograph.shards WHERE shard = 0") != "1")
            store.close()
        }
    }

    @Test("D-18: while the server stands still a commit is in doubt, and afterwards storage begins anew")
    func stalled() async throws {
        try await RunningPostgres.with { server in
            var options = options(server.url, settle: .milliseconds(500))
            // Longer than a busy machine takes for a write that nothing holds up.
            options.timeout = .seconds(2)
            options.connectTimeout = .seconds(2)
            let store = try PostgresWriter(options)
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            _ = writer.run([set(-1, request: 1), lock(.set(ttlSeconds: 10), by: "anna")], now: Self.now)
            // A standby that isn't there keeps the commit waiting.
            try server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.query("SELECT pg_reload_conf()")
            try await eventually("the server waits for a standby") {
                try server.query("SHOW synchronous_standby_names") == "nobody"
            }
            let stalled = writer.run([set(1, request: 2)], now: Self.now)
            #expect(stalled.failure?.kind == .stalled && refusals(stalled) == [.storageNotAvailable])
            #expect(writer.run([set(1, request: 3)], now: Self.now).failure != nil)
            try server.query("ALTER SYSTEM RESET synchronous_standby_names")
            try server.query("SELECT pg_reload_conf()")
            try await eventually("the store proves that it can write") {
                writer.prove(now: Self.now) == nil
            }
            // It was kept, as the callers were warned.
            let next = writer.run([set(1, request: 4)], now: Self.now)
            #expect(next.hasBegun && refusals(next) == [.storageOutdatedRevision])
            #expect(refusals(writer.run([set(2, request: 5)], now: Self.now)).isEmpty)
            // Of a group that fails, only what was read in this term is announced in the next one.
            let released = writer.release([
                StorageWrite(OutboxAcknowledgement(of: [1...1], term: 1)),
                StorageWrite(OutboxAcknowledgement(of: [2...2])),
            ])
            #expect(released.notAnnounced == [2...2])
            store.close()
        }
    }

    @Test("a killed server loses nothing that was acknowledged, and the writer and the reader come back")
    func killed() async throws {
        try await RunningPostgres.with(["fsync": "on"]) { server in
            let store = try PostgresWriter(options(server.url))
            let reader = PostgresReader(options(server.url))
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            for round in 0..<3 as Range<Int64> {
                #expect(
                    refusals(writer.run([set(round == 0 ? -1 : round, request: 1)], now: Self.now))
                        .isEmpty)
                server.kill()
                #expect(refusals(writer.run([set(round + 1, request: 2)], now: Self.now)).count == 1)
                try await server.start()
                try await eventually("the store proves that it can write") {
                    writer.prove(now: Self.now) == nil
                }
                let read = try reader.snapshot { () throws(StoreFailure) in
                    try reader.metadata(of: Self.lobby)
                }
                #expect(read.majorRevision == round + 1)
            }
            reader.close()
            store.close()
        }
    }

    @Test(
        "what an earlier owner has left is there: locks with owners away, the counter and the expiry clock"
    )
    func start() async throws {
        try await RunningPostgres.with { server in
            let first = try PostgresWriter(options(server.url))
            var writer = try StorageWriter(first, rules: StorageRules(), now: Self.now)
            _ = writer.run(
                [
                    lock(.set(ttlSeconds: 10), by: "anna"),
                    lock(.acquire(retry: false, heldToken: 0), by: "anna"),
                    StorageWrite(ExpiredHistory(limit: 1)),
                ], now: Self.now)
            first.close()
            let second = try PostgresWriter(options(server.url))
            let start = try second.start()
            let owner = start.locks[Self.lobby]?.locks["l"]?.owner
            #expect(owner?.user == "anna" && owner?.presence == .away(until: 0))
            #expect(start.expiryClock == Self.now.wall && second.counter == first.counter)
            second.close()
        }
    }

    @Test("a value may have U+0000; a name that has it refuses its own call and no other of the group")
    func zero() async throws {
        try await RunningPostgres.with { server in
            let store = try PostgresWriter(options(server.url))
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            #expect(refusals(writer.run([set(-1, request: 1, "a\0b")], now: Self.now)).isEmpty)
            let reader = PostgresReader(options(server.url))
            #expect(try reader.metadata(of: Self.lobby).items.map(\.value) == ["a\0b"])
            let bad = StorageWrite(
                MetadataEdit(
                    WriteMetadata(.set, of: .lobby, items: [MetadataItem(key: "k", value: "")]),
                    of: .message("\0"), by: "anna"), link: 1, request: 2)
            let outcome = writer.run([bad, set(1, request: 3)], now: Self.now)
            #expect(refusals(outcome) == [.storageNotAvailable] && outcome.answers.count == 2)
            #expect(try reader.metadata(of: Self.lobby).majorRevision == 2)
            reader.close()
            store.close()
        }
    }

    @Test("L-42: a quota counts what all shards have")
    func quota() async throws {
        try await RunningPostgres.with { server in
            var rules = StorageRules()
            rules.quotas.locks = 2
            var writers = try (0..<2).map {
                try StorageWriter(
                    PostgresWriter(options(server.url), shard: $0), rules: rules, now: Self.now)
            }
            func set(_ name: String, in shard: Int) -> [ErrorCode] {
                let request = LockRequest(.set(ttlSeconds: 10), name, at: .lobby)
                let write = StorageWrite(
                    LockChange(request, of: Self.lobby, ticket: 1, by: .user("anna")), link: 1, request: 9)
                return refusals(writers[shard].run([write], now: Self.now))
            }
            #expect(set("a", in: 0).isEmpty && set("b", in: 1).isEmpty)
            #expect(set("c", in: 0).count == 1 && set("c", in: 1).count == 1)
            let remove = LockRequest(.remove, "b", at: .lobby)
            let removal = StorageWrite(
                LockChange(remove, of: Self.lobby, ticket: 1, by: .user("anna")), link: 1, request: 9)
            #expect(refusals(writers[1].run([removal], now: Self.now)).isEmpty)
            #expect(set("c", in: 0).isEmpty)
            for shard in writers.indices { writers[shard].close() }
        }
    }

    @Test("the hour of the last batch of any shard stays, however old it is, and older ones are dropped")
    func hours() async throws {
        try await RunningPostgres.with { server in
            let second = try PostgresWriter(options(server.url), shard: 1)
            _ = try second.start()
            _ = try second.write(counter(7))
            // As if all of that had been long ago.
            for (hour, batches) in [(100, "1, 0"), (103, "1, 5")] {
                try server.query("CREATE TABLE heliograph.batches_\(hour) (LIKE heliograph.batches)")
                try server.query(
                    """
                    ALTER TABLE heliograph.batches ATTACH PARTITION heliograph.batches_\(hour)
                        FOR VALUES FROM (\(hour)) TO (\(hour + 1))
                    """)
                try server.query("INSERT INTO heliograph.batches VALUES (\(batches), \(hour), 1, 42)")
            }
            try server.query("DELETE FROM heliograph.batches WHERE shard = 1 AND hour > 103")
            let first = try PostgresWriter(options(server.url))
            _ = try first.start()
            _ = try first.write(counter(1))
            let old = "SELECT string_agg(relname, ',') FROM pg_class WHERE relname ~ '^batches_10[0-9]$'"
            #expect(try server.query(old) == "batches_103")
            _ = try second.start()
            #expect(second.counter == 42)
            first.close()
            second.close()
        }
    }
}
