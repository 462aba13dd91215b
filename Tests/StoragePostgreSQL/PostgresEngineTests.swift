import Foundation
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// What the tests of storage demand of an engine, of this one.
@Suite("PostgreSQL under the rules of all engines")
struct PostgresEngineTests {
    /// How many histories are generated; `SEEDS=200` makes it a fuzzer that runs for minutes.
    private static let seeds = ProcessInfo.processInfo.environment["SEEDS"].flatMap { UInt64($0) }

    @Test(
        "H-15, D-17: the same writes have the same answers as over a file, and leave the same behind"
    )
    func writes() async throws {
        try await RunningPostgres.with { server in
            for seed in 0..<(Self.seeds ?? 8) {
                try await withDirectory { directory in
                    let file = try Engine.file(directory, EngineTests.rules, EngineTests.now)
                    let other = try Engine.postgres(server, "seed\(seed)", EngineTests.rules, EngineTests.now)
                    try EngineTests().compare(file, other, seed: seed)
                    let wrong = try server.query(Self.wrongUsages, database: "seed\(seed)")
                    #expect(wrong == "0", "seed \(seed)")
                }
            }
        }
    }

    /// How many apps have another sum than their hours have, or hours other sums than their messages.
    private static let wrongUsages = """
        SELECT count(*) FROM (
            (SELECT app, sum(bytes) FROM heliograph.history_usage GROUP BY app HAVING sum(bytes) <> 0
            EXCEPT SELECT app, history_bytes FROM heliograph.usage)
            UNION ALL
            (SELECT hour::text, sum(messages) FROM heliograph.history_usage GROUP BY hour
                HAVING sum(messages) <> 0
            EXCEPT SELECT ((expiry_ms - 1) / 3600000 + 1)::text, count(*) FROM heliograph.history GROUP BY 1)
            ) w
        """

    @Test("a read that the server refuses doesn't take those behind it down")
    func refusedRead() async throws {
        try await RunningPostgres.with { server in
            let options = try Engine.newDatabase(server, "reads")
            let engine = try Engine.postgres(options, EngineTests.rules, EngineTests.now)
            // No text of PostgreSQL has this byte.
            let refused = StorageRead(BansRequest(afterApp: "app", afterUser: "\0")) { _, _ in }
            let answered = StorageRead(BansRequest()) { _, _ in }
            let outcomes = PostgresReader(options).run(
                [answered, refused, answered, refused, answered], now: 1)
            #expect(outcomes.map { $0.refusal == nil } == [true, false, true, false, true])
            engine.close()
        }
    }

    @Test("W-41: the events of apps are the same as over a file, with the places in their feeds")
    func events() async throws {
        try await RunningPostgres.with { server in
            for seed in 0..<(Self.seeds ?? 4) {
                try await withDirectory { directory in
                    let file = try Engine.file(directory, EngineTests.rules, EngineTests.now)
                    let other = try Engine.postgres(server, "seed\(seed)", EngineTests.rules, EngineTests.now)
                    defer { for engine in [file, other] { engine.close() } }
                    var feeds = GeneratedFeeds(seed: seed)
                    for step in 0..<100 {
                        let work = feeds.next()
                        let outcomes = [file, other].map { $0.run([StorageWrite(work)], EngineTests.now) }
                        #expect(
                            outcomes[0].eventsKept == outcomes[1].eventsKept, "seed \(seed), step \(step)"
                        )
                        #expect(outcomes[0].newEvents == outcomes[1].newEvents)
                        #expect(outcomes[0].eventsExpired == outcomes[1].eventsExpired)
                        #expect(
                            outcomes[0].collected.map(\.isKept) == outcomes[1].collected.map(\.isKept))
                        for request in feeds.requests {
                            let first = try EventContents(file.reader, request)
                            let second = try EventContents(other.reader, request)
                            #expect(first == second, "seed \(seed), step \(step)")
                            feeds.saw(first)
                        }
                    }
                }
            }
        }
    }

    @Test("W-31: the audit trail is bounded")
    func audit() async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                let (rules, now) = (StorageRules(), AuditStoreTests.now)
                try AuditStoreTests().bound([
                    Engine.file(directory, rules, now), Engine.postgres(server, "audit", rules, now),
                ])
            }
        }
    }

    @Test("D-17: compare-and-set and reads of 100 clients fit one order that agrees with real time")
    func metadata() async throws { try await LinearizabilityTests().metadata(.postgres) }

    @Test("K-4, K-5: of 100 clients that want one lock one has it at a time, and all get it")
    func lock() async throws { try await LinearizabilityTests().lock(.postgres) }
}

/// A real `rtm-storage`, or its database, is killed while clients write.
@Suite("Storage over PostgreSQL is killed under load", .serialized)
struct PostgresKillTests {
    @Test("every acknowledged write is there, none by half, and each change was announced exactly once")
    func kill() async throws { try await StorageKillTests().kill(.postgres) }

    @Test("the same holds when the database is killed in place of the service")
    func killDatabase() async throws { try await StorageKillTests().killDatabase(.postgres) }

    @Test("H-10: every message whose storing was acknowledged is found after the kills, once and whole")
    func history() async throws { try await StorageKillTests().history(.postgres) }

    @Test("a lock has one owner over every crash, and its tokens only grow")
    func locks() async throws { try await StorageKillTests().locks(.postgres) }
}

extension StorageEngine {
    /// With a server of the test's own.
    static let postgres = StorageEngine(testDescription: "postgres", database: PostgresDatabase())
}

extension Engine {
    static func postgres(
        _ server: RunningPostgres, _ name: String, _ rules: StorageRules, _ now: StorageNow
    ) throws -> Engine {
        try postgres(newDatabase(server, name), rules, now)
    }

    static func newDatabase(_ server: RunningPostgres, _ name: String) throws -> PostgresOptions {
        try server.query("CREATE DATABASE \(name)")
        var options = PostgresOptions(url: server.url(database: name))
        // A server of a test shares the cores with others.
        options.timeout = .seconds(10)
        options.shards = 1
        return options
    }

    static func postgres(
        _ options: PostgresOptions, _ rules: StorageRules, _ now: StorageNow
    ) throws -> Engine {
        let writer = try PostgresWriter(options, source: source)
        return try Engine("PostgreSQL", writer, PostgresReader(options), rules, now)
    }
}
