import Foundation
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// The server of the database is gone for good, and its standby takes its place, under load.
@Suite("The database fails over", .serialized, .ends(withinMinutes: 5))
struct StorageFailoverTests {
    private static let writers = 6

    @Test(
        "D-18: over a synchronous standby nothing acknowledged is missing, nothing took place twice, and the same processes continue"
    )
    func synchronous() async throws {
        try await RunningPostgres.with { old in
            try await old.withStandby(isSynchronous: true) { standby in
                // The standby becomes a server that waits for none.
                let url = old.url(or: standby)
                try await failOver(url) {
                    // The network between the two is gone first: what is committed now waits.
                    try standby.pauseReplication()
                    try await eventually("a commit waits for the standby") {
                        try old.query(
                            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "0"
                    }
                    old.kill()
                    try standby.resumeReplication()
                    try standby.promote()
                    try standby.query("ALTER SYSTEM RESET synchronous_standby_names")
                    try standby.query("SELECT pg_reload_conf()")
                }
            }
        }
    }

    private func failOver(_ url: String, _ strike: () async throws -> Void) async throws {
        try await withDirectory { directory in
            try await LogHost.with { host in
                let channels = (0..<Self.writers).map { "channel \($0)" }
                let log = try await host.reader(channels.map { ChannelKey.message($0) })
                let ports = try FreePorts.take(2)
                var processes: [ServiceProcess] = []
                for port in ports {
                    let folder = directory + "/node-\(port)"
                    try FileManager.default.createDirectory(
                        atPath: folder, withIntermediateDirectories: true)
                    let process = try host.start(folder, ["--database", url], port: port)
                    _ = try await process.listening()
                    processes.append(process)
                }
                let caller = try await host.router(to: .tcp(host: "127.0.0.1", port: ports[0]))
                let ledgers = WriteLedgers()
                let isDone = Shared(false)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for channel in channels {
                        group.addTask { await Self.write(to: channel, caller, ledgers, until: isDone) }
                    }
                    try await eventually("enough writes", within: .seconds(60)) { ledgers.count >= 300 }
                    try await strike()
                    let before = ledgers.count
                    try await eventually("writes after the failover", within: .seconds(60)) {
                        ledgers.count >= before + 300
                    }
                    isDone.withLock { $0 = true }
                    try await group.waitForAll()
                }
                for channel in channels {
                    try await ledgers.check(channel, caller, log)
                }
                for process in processes { process.signal(SIGTERM) }
                for process in processes { #expect(try await process.exit() == 0, "\(process.log)") }
                try await caller.close()
                try await log.close()
            }
        }
    }

    @Test("a standby that was behind takes over: whoever knows what is lost doesn't continue with it")
    func behind() async throws {
        let now = StorageNow(wall: 1_000_000, steady: 1_000)
        try await RunningPostgres.with { old in
            try await old.withStandby(isSynchronous: false) { standby in
                var options = PostgresOptions(url: old.url(or: standby))
                (options.timeout, options.shards) = (.seconds(10), 1)
                let engine = try Engine.postgres(options, StorageRules(), now)
                defer { engine.close() }
                var feeds = GeneratedFeeds(seed: 1)
                func collect(_ count: UInt64) throws -> StreamPosition {
                    for _ in 0..<1_000 where try newest(engine).offset < count {
                        #expect(engine.run([StorageWrite(feeds.next())], now).failure == nil)
                    }
                    return try newest(engine)
                }
                let items = [MetadataItem(key: "k", value: "v")]
                let write = StorageWrite(
                    MetadataEdit(
                        WriteMetadata(.set, of: .lobby, items: items), of: .message("lobby"), by: "anna"),
                    link: 1, request: 1)
                let begun = engine.run([write], now)
                _ = try collect(10)
                try await eventually("the standby has what the server has") {
                    try old.query(
                        "SELECT replay_lsn = pg_current_wal_insert_lsn() FROM pg_stat_replication") == "t"
                }
                standby.stop()
                let lost = try collect(20)
                old.kill()
                try await standby.start()
                try standby.promote()
                // The connection is lost between two groups, so nothing is in doubt.
                var outcome = WriteOutcome()
                var causes: Set<StoreFailure.Kind> = []
                try await eventually("the owner has the shard again", within: .seconds(60)) {
                    outcome = engine.run([write], now)
                    if let failure = outcome.failure { causes.insert(failure.kind) }
                    return outcome.failure == nil
                }
                #expect(causes.contains(.wentBack))
                #expect(outcome.hasBegun, "callers attach again")
                #expect(outcome.term ?? 0 > begun.term ?? 0)
                #expect(try newest(engine).offset < lost.offset)
                let page = try engine.reader.eventPage(
                    EventsRequest(appID: "app", after: lost), limit: 7)
                #expect(page.events.first?.type == .gap)
            }
        }
    }

    private func newest(_ engine: Engine) throws -> StreamPosition {
        func read(_ reader: some ReadableStore) throws -> StreamPosition {
            try reader.snapshot { () throws(StoreFailure) in try reader.eventBounds(of: "app").newest }
        }
        return try read(engine.reader)
    }

    /// Writes one value after the other. What is refused is left, because it may have taken place.
    private static func write(
        to channel: String, _ caller: RoutedCaller, _ ledgers: WriteLedgers, until isDone: Shared<Bool>
    ) async {
        for number in 0... {
            if isDone.present || Task.isCancelled { return }
            try? await ledgers.write("\(number)", to: channel, caller)
        }
    }
}
