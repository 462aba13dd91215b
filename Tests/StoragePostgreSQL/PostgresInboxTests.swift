import Foundation
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// What apps publish in their own transactions, with transactions that end in any order.
@Suite("Publishing from SQL")
struct PostgresInboxTests {
    private func with(_ body: (RunningPostgres, inout InboxDrainer) async throws -> Void) async throws {
        try await RunningPostgres.with { server in
            var drainer = try InboxDrainer(server.url)
            try await body(server, &drainer)
            drainer.close()
        }
    }

    private func numbers(_ range: Range<Int>) -> [String] { range.map { "\($0)" } }

    @Test("M-39: a rollback publishes nothing, and neither does one to a savepoint")
    func rollback() async throws {
        try await with { server, drainer in
            let app = try AppSession(server)
            try app.begin()
            try app.publish("gone")
            try app.run("ROLLBACK")
            try app.begin()
            try app.publish("first")
            try app.run("SAVEPOINT s")
            try app.publish("gone, too")
            try app.run("ROLLBACK TO s; SAVEPOINT t")
            try app.publish("second")
            try app.run("RELEASE t")
            #expect(drainer.drain().isEmpty)
            try app.commit()
            #expect(drainer.drain() == ["first", "second"])
            #expect(drainer.drain().isEmpty)
        }
    }

    @Test("a transaction with more savepoints than a snapshot holds comes whole and once")
    func savepoints() async throws {
        try await with { server, drainer in
            let (app, other) = (try AppSession(server), try AppSession(server))
            try app.begin()
            for number in 0..<100 {
                try app.run("SAVEPOINT s\(number)")
                try app.publish("\(number)")
            }
            try other.publish("other")
            #expect(drainer.drain() == ["other"])
            try app.commit()
            #expect(drainer.drain() == numbers(0..<100))
            #expect(drainer.drain().isEmpty)
        }
    }

    @Test("M-39: a slow transaction delays its own messages and no others, and none is passed over")
    func slow() async throws {
        try await with { server, drainer in
            let (slow, app) = (try AppSession(server), try AppSession(server))
            // The transaction is newer than all that have ended, so no snapshot counts it.
            try slow.begin()
            try slow.publish("slow")
            #expect(drainer.drain().isEmpty)
            for number in 0..<50 { try app.publish("\(number)") }
            #expect(drainer.drain() == numbers(0..<50))
            try slow.publish("slow, too")
            for number in 50..<80 {
                try app.publish("\(number)")
                #expect(drainer.drain() == ["\(number)"])
            }
            try slow.commit()
            #expect(drainer.drain() == ["slow", "slow, too"])
            #expect(drainer.drain().isEmpty)
            #expect(try drainer.outbox().map(\.text) == numbers(0..<80) + ["slow", "slow, too"])
        }
    }

    @Test(
        "a transaction is not passed over that no snapshot counts, because none that is newer has ended")
    func newest() async throws {
        try await with { server, drainer in
            let app = try AppSession(server)
            for number in 0..<3 {
                try app.begin()
                try app.publish("\(number)")
                #expect(drainer.drain().isEmpty)
                #expect(drainer.drain().isEmpty)
                try app.commit()
                #expect(drainer.drain() == ["\(number)"])
            }
        }
    }

    @Test("M-39: who has seen a commit publishes behind it, also with an older transaction")
    func causes() async throws {
        try await with { server, drainer in
            let (old, app) = (try AppSession(server), try AppSession(server))
            try old.begin()
            try old.run("SELECT pg_current_xact_id()")
            try app.publish("cause")
            try old.publish("effect")
            try old.commit()
            #expect(drainer.drain() == ["cause", "effect"])
        }
    }

    @Test("a slow transaction makes no read visit what was drained, and a page visits only its own rows")
    func plan() async throws {
        try await with { server, drainer in
            let (slow, app) = (try AppSession(server), try AppSession(server))
            try slow.begin()
            try slow.publish("slow")
            try app.run(
                """
                SELECT count(heliograph.heliograph_publish('app', 'lobby', n::text))
                FROM generate_series(0, 19999) n
                """)
            try app.run("ANALYZE heliograph.inbox")
            #expect(drainer.drain() == numbers(0..<20_000))
            try app.publish("next")
            #expect(drainer.drain() == ["next"])
            let idle = try visited(server, rows: 2_000)
            #expect(idle.rows < 2_100, "\(idle.plan)")
            // A backlog is read in pages, of which each visits its own.
            try app.run(
                """
                SELECT count(heliograph.heliograph_publish('app', 'lobby', n::text))
                FROM generate_series(0, 9999) n
                """)
            let page = try visited(server, rows: 100)
            #expect(page.rows < 2_500, "\(page.plan)")
            try slow.run("ROLLBACK")
        }
    }

    /// How many rows a read takes from the tables, kept or not.
    private func visited(_ server: RunningPostgres, rows: Int) throws -> (rows: Int, plan: String) {
        let connection = try PostgresConnection(.init(url: server.url))
        defer { connection.close() }
        let inbox = PostgresInbox(shard: 0)
        let position = try connection.run([inbox.position], within: .seconds(5))[0]
        let cursor = try #require(inbox.cursor(position))
        let running = cursor.before.running.joined(separator: ",")
        let plan = try server.query(
            """
            SET search_path = heliograph; SET enable_seqscan = off; SET enable_hashjoin = off;
            SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
            PREPARE page (int8, int8, text, text, text[], int8, int8, int8) AS
            \(inbox.page(cursor, rows: rows)[1].sql);
            EXPLAIN (ANALYZE, TIMING off, COSTS off) EXECUTE page (0, \(cursor.after),
                '\(cursor.before.withoutRunning.text)', NULL, '{\(running)}', \(rows), 0, 8388608)
            """)
        #expect(!plan.contains("Seq Scan"), "\(plan)")
        var rows = 0
        var isScan = false
        for line in plan.split(separator: "\n") {
            if line.contains("->") { isScan = line.contains("Scan") && line.contains("inbox_") }
            guard isScan else { continue }
            let kept = line.firstMatch(of: /actual rows=(\d+) loops=(\d+)/)
            if let kept { rows += (Int(kept.1) ?? 0) * (Int(kept.2) ?? 0) }
            if let removed = line.firstMatch(of: /Rows Removed by Filter: (\d+)/) {
                rows += Int(removed.1) ?? 0
            }
        }
        return (rows, plan)
    }

    @Test("a backlog is drained in pages, by count and by bytes, in the order of publishing")
    func pages() async throws {
        try await with { server, drainer in
            let (slow, app) = (try AppSession(server), try AppSession(server))
            try slow.begin()
            try slow.publish("slow")
            try app.run(
                """
                SELECT count(heliograph.heliograph_publish('app', 'lobby', n::text))
                FROM generate_series(0, 4999) n
                """)
            let first = drainer.page()
            #expect(first.texts == numbers(0..<InboxPace.rowsMax))
            // What comes now belongs to the next batch, also where its ids are lower.
            try slow.commit()
            try app.publish("later")
            #expect(drainer.drain() == numbers(InboxPace.rowsMax..<5_000) + ["slow", "later"])
            try app.run(
                """
                SELECT count(heliograph.heliograph_publish('app', 'lobby', repeat('x', 32768)))
                FROM generate_series(1, 300) n
                """)
            let large = drainer.page()
            #expect(large.texts.count == 256)
            #expect(drainer.drain().count == 44)
            #expect(drainer.drain().isEmpty)
        }
    }

    @Test(
        "M-39: a later owner continues behind the last page that was kept, in the middle of a batch, too")
    func takeover() async throws {
        try await with { server, drainer in
            let (slow, app) = (try AppSession(server), try AppSession(server))
            try slow.begin()
            try slow.publish("slow")
            try app.run(
                """
                SELECT count(heliograph.heliograph_publish('app', 'lobby', n::text))
                FROM generate_series(0, 2999) n
                """)
            #expect(drainer.page().texts.count == InboxPace.rowsMax)
            try slow.commit()
            var next = try InboxDrainer(server.url)
            #expect(next.drain() == numbers(InboxPace.rowsMax..<3_000) + ["slow"])
            // The one before has a term that is over.
            try app.publish("next")
            #expect(drainer.page().failure?.kind == .fenced)
            #expect(next.drain() == ["next"])
            let all = try next.outbox()
            #expect(all.map(\.text) == numbers(0..<3_000) + ["slow", "next"])
            #expect(Set(all.map(\.sequence)).count == all.count && Set(all.map(\.source)).count == 2)
            next.close()
        }
    }

    @Test("M-39: a page whose commit is in doubt is published once, whether it was kept or not")
    func doubt() async throws {
        try await RunningPostgres.with { server in
            let proxy = try CommitProxy(to: server)
            defer { proxy.remove() }
            var drainer = try InboxDrainer(server.url(socket: proxy.directory))
            let app = try AppSession(server)
            var expected: [String] = []
            for round in 0..<3 {
                for cut in [CommitProxy.Cut.commit, .request] {
                    try app.publish("\(cut) \(round)")
                    expected.append("\(cut) \(round)")
                    proxy.cutNext(cut)
                    var seen: [String] = []
                    try await eventually("the page is drained") {
                        seen += drainer.page().texts
                        return !seen.isEmpty && !proxy.isWaiting
                    }
                    #expect(seen == ["\(cut) \(round)"])
                    #expect(drainer.drain().isEmpty)
                }
            }
            #expect(try drainer.outbox().map(\.text) == expected)
            drainer.close()
        }
    }

    @Test("a crash of the database loses and repeats nothing")
    func crash() async throws {
        try await RunningPostgres.with(["fsync": "on"]) { server in
            var drainer = try InboxDrainer(server.url)
            let app = try AppSession(server)
            try app.publish("drained")
            #expect(drainer.drain() == ["drained"])
            try app.publish("waits")
            let slow = try AppSession(server)
            try slow.begin()
            try slow.publish("dies with the database")
            server.kill()
            #expect(drainer.page().failure != nil)
            try await server.start()
            try await eventually("storage writes again") { drainer.prove() == nil }
            #expect(drainer.drain() == ["waits"])
            try AppSession(server).publish("after")
            #expect(drainer.drain() == ["after"])
            #expect(try drainer.outbox().map(\.text) == ["drained", "waits", "after"])
            drainer.close()
        }
    }

    @Test("D-18: while a page is in doubt nothing is drained, and afterwards it is published once")
    func stalled() async throws {
        try await RunningPostgres.with { server in
            var drainer = try InboxDrainer(server.url) {
                // Longer than a busy machine takes for a write that nothing holds up.
                ($0.timeout, $0.settleTimeout) = (.seconds(2), .milliseconds(500))
                $0.connectTimeout = .seconds(2)
            }
            let app = try AppSession(server)
            try app.publish("1")
            #expect(drainer.drain() == ["1"])
            try app.publish("2")
            try server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.query("SELECT pg_reload_conf()")
            try await eventually("the server waits for a standby") {
                try server.query("SHOW synchronous_standby_names") == "nobody"
            }
            #expect(drainer.page().failure?.kind == .stalled)
            try server.query("ALTER SYSTEM RESET synchronous_standby_names")
            try server.query("SELECT pg_reload_conf()")
            try await eventually("the store proves that it can write") { drainer.prove() == nil }
            _ = drainer.drain()
            #expect(try drainer.outbox().map(\.text) == ["1", "2"])
            drainer.close()
        }
    }

    // MARK: Rules

    @Test("M-40: messages that the rules refuse are counted, and those behind them are published")
    func refused() async throws {
        try await with { server, drainer in
            let app = try AppSession(server)
            try app.run("SELECT heliograph.heliograph_publish('unknown', 'lobby', 'a')")
            try app.publish("b")
            try app.publish("bad")
            try app.run("UPDATE heliograph.inbox SET channel = 'a.b' WHERE payload = 'bad'")
            try app.publish("c")
            let outcome = drainer.page()
            #expect(outcome.texts == ["b", "c"] && outcome.inbox.published == 2)
            #expect(outcome.inbox.refused.map(\.error.code) == [.invalidAppId, .invalidChannelName])
            #expect(drainer.drain().isEmpty)
        }
    }

    @Test("M-40: a message that the database refuses to keep doesn't stop those before and behind it")
    func poisoned() async throws {
        try await with { server, drainer in
            let app = try AppSession(server)
            for number in 0..<30 { try app.publish("\(number)") }
            // No name that the rules allow is refused by the database, so it is made to.
            try app.run(
                """
                CREATE FUNCTION heliograph.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF position('17'::bytea IN new.event) > 0 THEN RAISE EXCEPTION 'poison'; END IF;
                    RETURN new;
                END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON heliograph.outbox
                    FOR EACH ROW EXECUTE FUNCTION heliograph.refuse();
                """)
            var (texts, refused, reads) = ([String](), [InboxOutcome.Refused](), 0)
            while texts.count < 29, reads < 60 {
                let outcome = drainer.page()
                texts += outcome.texts
                refused += outcome.inbox.refused
                reads += 1
            }
            #expect(texts == numbers(0..<30).filter { $0 != "17" })
            #expect(refused.map(\.id) == [18])
            #expect(try drainer.outbox().map(\.text) == texts)
        }
    }

    @Test("M-41: history is kept with the message; where there is none it is published all the same")
    func history() async throws {
        try await with { server, drainer in
            let app = try AppSession(server)
            for _ in 0..<2 {
                try app.run(
                    """
                    SELECT heliograph.heliograph_publish('app', 'lobby', 'same', 'kind', 'anna', history => true),
                        heliograph.heliograph_publish('app', 'lobby', 'not kept'),
                        heliograph.heliograph_publish('quiet', 'lobby', 'quiet', history => true),
                        heliograph.heliograph_publish('app', 'anna', '\\x00ff'::bytea, channel_type => 'user',
                            history => true)
                    """)
            }
            let outcome = drainer.page()
            #expect(outcome.inbox.published == 8 && outcome.inbox.stored == 4)
            #expect(outcome.inbox.notStored == 2)
            let message = try #require(outcome.events.first?.publication?.message)
            #expect(message.type == .text && message.customType == "kind")
            #expect(outcome.events[0].publisher == "anna" && outcome.events[1].publisher == "server")
            #expect(outcome.events[0].feature == .message)
            #expect(outcome.events[3].channel == ChannelKey(appID: "app", type: .user, name: "anna"))
            #expect(outcome.events[3].publication?.message.payload == Data([0, 0xFF]))
            #expect(outcome.events[3].publication?.message.type == .binary)
            let kept = try server.query(
                """
                SELECT string_agg(c.name || ' ' || encode(h.payload, 'hex'), ',' ORDER BY c.name, time)
                FROM heliograph.history h JOIN heliograph.channels c ON c.id = h.channel
                """)
            let same = "lobby " + Data("same".utf8).map { String(format: "%02x", $0) }.joined()
            #expect(kept == "anna 00ff,anna 00ff,\(same),\(same)")
        }
    }

    /// With which words the function refuses a call; empty if it doesn't.
    private func words(_ server: RunningPostgres, _ arguments: String) throws -> String {
        do {
            try server.query("SELECT heliograph.heliograph_publish(\(arguments))")
            return ""
        } catch let failure as ServiceProcessFailure {
            return failure.description
        }
    }

    @Test("M-40: the function refuses in the app's transaction what can't be published")
    func function() async throws {
        try await with { (server, drainer) async throws in
            #expect(try words(server, "'app', 'lobby', repeat('x', 32768)") == "")
            #expect(
                try words(server, "'app', 'lobby', repeat('x', 32769)").contains(
                    "the payload has 32769 bytes, 32768 are allowed"))
            #expect(try words(server, "'app', 'lobby', NULL::text").contains("may be NULL"))
            #expect(try words(server, "'app', 'lobby', 'x', publisher => NULL").contains("may be NULL"))
            #expect(try words(server, "'', 'lobby', 'x'").contains("the app has 0 bytes"))
            #expect(
                try words(server, "'app', 'lobby', 'x', channel_type => 'topic'").contains("not 'topic'"))
            #expect(try words(server, "'app', 'lobby', 'x', custom_type => 'ä'").contains("custom type"))
            #expect(try words(server, "'app', 'lobby', 'x', publisher => 'a/b'").contains("no user id"))
            #expect(try words(server, "'app', repeat('c', 65), 'x'").contains("the channel name"))
            #expect(try words(server, "'app', '_lobby', 'x'").contains("does not begin with _"))
            #expect(drainer.drain().map(\.count) == [32_768])
        }
    }

    /// The characters that the function allows in a name, without publishing anything.
    private func allowed(_ server: RunningPostgres, _ call: String) throws -> String {
        try server.query(
            """
            CREATE FUNCTION pg_temp.try(name text) RETURNS boolean LANGUAGE plpgsql AS $$
            BEGIN PERFORM heliograph.heliograph_publish(\(call)); RETURN true;
            EXCEPTION WHEN invalid_parameter_value THEN RETURN false; END $$;
            SELECT string_agg(n::text, ',' ORDER BY n) FROM generate_series(1, 255) n
            WHERE pg_temp.try('a' || chr(n) || 'a')
            """)
    }

    private func characters(_ rule: NameRule) -> String {
        let names = (1...255).filter { number in
            let name = "a\(Character(UnicodeScalar(UInt8(number))))a"
            return refusal { try rule.check(name.utf8) } == nil
        }
        return names.map { "\($0)" }.joined(separator: ",")
    }

    @Test("the function allows the names that storage allows, and no others")
    func names() async throws {
        try await with { (server, _) async throws in
            #expect(try allowed(server, "'app', name, 'x'") == characters(.channel))
            #expect(try allowed(server, "'app', name, 'x', channel_type => 'user'") == characters(.user))
            #expect(try allowed(server, "'app', 'c', 'x', publisher => name") == characters(.user))
            #expect(
                try allowed(server, "'app', 'c', 'x', custom_type => name") == characters(.customType))
        }
    }

    @Test("nobody may publish until it is granted, and then without any right to the tables")
    func grants() async throws {
        try await with { server, drainer in
            try server.query("CREATE ROLE app_role LOGIN; CREATE TABLE public.mine (n int)")
            let call = "SELECT heliograph.heliograph_publish('app', 'lobby', 'x')"
            #expect(throws: (any Error).self) { try server.query("SET ROLE app_role; \(call)") }
            try server.query("GRANT USAGE ON SCHEMA heliograph TO app_role")
            let refused = #expect(throws: ServiceProcessFailure.self) {
                try server.query("SET ROLE app_role; \(call)")
            }
            #expect(refused?.description.contains("permission denied for function") == true)
            try server.query(
                """
                GRANT EXECUTE ON FUNCTION
                    heliograph.heliograph_publish(text, text, text, text, text, boolean, text) TO app_role
                """)
            try server.query("SET ROLE app_role; \(call)")
            #expect(throws: (any Error).self) {
                try server.query("SET ROLE app_role; SELECT * FROM heliograph.inbox")
            }
            #expect(drainer.drain() == ["x"])
        }
    }

    @Test("SQL finds the shard of a channel that storage finds")
    func shard() async throws {
        try await with { server, _ in
            try server.query("UPDATE heliograph.store SET shards = 7")
            try server.query(
                """
                SELECT heliograph.heliograph_publish('app', 'lobby', 'x'),
                    heliograph.heliograph_publish('app', 'lobby', 'x', channel_type => 'user')
                """)
            let shards = [ChannelType.message, .user].map { type in
                "\(ChannelKey(appID: "app", type: type, name: "lobby").storageShard(among: 7))"
            }
            #expect(
                try server.query("SELECT string_agg(shard::text, ',' ORDER BY id) FROM heliograph.inbox")
                    == shards.joined(separator: ","))
        }
    }

    // MARK: Keeping house

    private func rows(_ server: RunningPostgres) throws -> String {
        try server.query("SELECT count(*) FROM heliograph.inbox")
    }

    private func empty(_ server: RunningPostgres) throws {
        for slice in 0..<PostgresInbox.slices {
            let connection = try PostgresConnection(.init(url: server.url))
            defer { connection.close() }
            try? connection.execute(PostgresInbox.emptying(slice: slice), within: .seconds(5))
        }
    }

    @Test("a table is emptied when everything in it is drained, and not while somebody may need it")
    func emptied() async throws {
        try await with { server, drainer in
            let (app, slow) = (try AppSession(server), try AppSession(server))
            try app.publish("1")
            try empty(server)
            #expect(try rows(server) == "1", "it is not drained")
            #expect(drainer.drain() == ["1"])
            try slow.begin()
            try slow.publish("slow")
            try empty(server)
            #expect(try rows(server) == "1", "a transaction writes to it")
            try app.publish("2")
            #expect(drainer.drain() == ["2"])
            try slow.commit()
            try empty(server)
            #expect(try rows(server) == "3", "the slow one is not drained")
            #expect(drainer.drain() == ["slow"])
            try empty(server)
            #expect(try rows(server) == "0")
            try app.publish("3")
            #expect(drainer.drain() == ["3"])
        }
    }

    @Test(
        "after a dump was restored in another server, what was not drained is published, and no more",
        arguments: [true, false])
    func restored(_ isDrained: Bool) async throws {
        try await with { server, drainer in
            let app = try AppSession(server)
            // The numbers of transactions are far ahead of those of a new server.
            for number in 0..<300 { try app.publish("\(number)") }
            #expect(drainer.drain().count == 300)
            try app.run(
                """
                SELECT count(heliograph.heliograph_publish('app', 'lobby', n::text))
                FROM generate_series(0, 2499) n
                """)
            #expect(drainer.page().texts.count == InboxPace.rowsMax)
            if isDrained { #expect(drainer.drain().count == 500) }
            for text in isDrained ? [] : ["a", "b"] { try app.publish(text) }
            let dump = try server.dump()
            defer { try? FileManager.default.removeItem(atPath: dump) }
            try await RunningPostgres.with { other in
                try other.restore(dump)
                var next = try InboxDrainer(other.url)
                let left = numbers(InboxPace.rowsMax..<2_500) + ["a", "b"]
                #expect(next.drain() == (isDrained ? [] : left))
                #expect(next.drain().isEmpty)
                next.close()
                var again = try InboxDrainer(other.url)
                #expect(again.drain().isEmpty)
                try AppSession(other).publish("later")
                #expect(again.drain() == ["later"])
                again.close()
                // The servers of a test are copies of one. Others are known by their identifier.
                try other.query("UPDATE heliograph.store SET system = 'another'")
                var last = try InboxDrainer(other.url)
                #expect(last.drain().isEmpty)
                #expect(
                    try other.query(
                        "SELECT system = system_identifier::text FROM heliograph.store, pg_control_system()"
                    )
                        == "t")
                last.close()
            }
        }
    }

    // MARK: Random transactions

    /// What writers have committed, and which message each of them had seen before.
    private struct Ledger: Sendable {
        var committed: Set<String> = []
        var causes: [(cause: String, effect: String)] = []
        var latest: String?
    }

    @Test(
        "M-39: random transactions come exactly once, in the order of their causes, while owners change",
        arguments: 0..<3)
    func random(_ seed: UInt64) async throws {
        try await RunningPostgres.with { server in
            var drainer = try InboxDrainer(server.url)
            let ledger = Mutex(Ledger())
            let running = Mutex(6)
            for writer in 0..<6 {
                Thread.detachNewThread {
                    defer { running.withLock { $0 -= 1 } }
                    do {
                        try Self.write(writer, seed, server, ledger)
                    } catch {
                        Issue.record("writer \(writer): \(error)")
                    }
                }
            }
            var random = SeededGenerator(seed: seed)
            var seen: [String] = []
            while true {
                let isLast = running.withLock { $0 } == 0
                let drained = drainer.drain()
                seen += drained
                if !drained.isEmpty, Int.random(in: 0..<10, using: &random) == 0 {
                    drainer.close()
                    drainer = try InboxDrainer(server.url)
                }
                if isLast, drained.isEmpty { break }
            }
            let known = ledger.withLock { $0 }
            #expect(seen.count == known.committed.count && Set(seen) == known.committed)
            let places = Dictionary(zip(seen, 0...)) { first, _ in first }
            for pair in known.causes {
                let (cause, effect) = (
                    try #require(places[pair.cause]), try #require(places[pair.effect])
                )
                #expect(cause < effect, "\(pair.effect) came before \(pair.cause)")
            }
            #expect(try drainer.outbox().map(\.text) == seen)
            drainer.close()
        }
    }

    private static func write(
        _ writer: Int, _ seed: UInt64, _ server: RunningPostgres, _ ledger: borrowing Mutex<Ledger>
    ) throws {
        var random = SeededGenerator(seed: seed * 100 + UInt64(writer))
        let app = try AppSession(server)
        for round in 0..<60 {
            try app.begin()
            var mine: [String] = []
            let end = Double.random(in: 0..<1, using: &random)
            if Bool.random(using: &random) { try app.run("SELECT pg_current_xact_id()") }
            if Bool.random(using: &random) { try app.run("SELECT pg_sleep(0.005)") }
            let before = ledger.withLock { $0.latest }
            for number in 0...Int.random(in: 0...2, using: &random) {
                let name = "\(writer).\(round).\(number)"
                let isUndone = Int.random(in: 0..<5, using: &random) == 0
                if isUndone { try app.run("SAVEPOINT s") }
                try app.publish(name)
                if isUndone { try app.run("ROLLBACK TO s") } else { mine.append(name) }
            }
            if end < 0.1 { try app.run("SELECT pg_sleep(0.05)") }
            guard !(0.1..<0.25).contains(end) else {
                try app.run("ROLLBACK")
                continue
            }
            try app.commit()
            ledger.withLock { ledger in
                ledger.committed.formUnion(mine)
                guard let first = mine.first else { return }
                if let before { ledger.causes.append((before, first)) }
                ledger.latest = mine.last
            }
        }
        app.close()
    }
}
