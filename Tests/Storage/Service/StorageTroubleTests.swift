import Foundation
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// The service while its database can't do what it should.
@Suite("Storage in trouble")
struct StorageTroubleTests {
    private func isReady(_ running: RunningStorage) -> Bool {
        running.readiness.snapshot.probes.allSatisfy { $0.status == .ready }
    }

    @Test(
        "a full database refuses with a typed error and isn't ready; what was there stays; room makes it ready"
    )
    func full() async throws {
        try await RunningStorage.withCaller(["--storage-bytes-max", "600KiB"]) { running, caller in
            try await caller.write([("a", "1")])
            let large = String(repeating: "x", count: 16_000)
            for number in 0..<8 { try await caller.write([("large", large)], to: "channel \(number)") }
            for number in 0..<20 { try await caller.write([("\(number)", "small")], to: "small") }
            try await eventually("ready") { isReady(running) }
            var refused: RTMError?
            for number in 0..<500 as Range<UInt64> where refused == nil {
                refused = await failure {
                    try await caller.appendHistory(
                        to: .message("c\(number)"), by: "anna", at: WallClock.milliseconds(),
                        Array(repeating: 1, count: 8_000))
                }
            }
            #expect(refused?.code == .historyOperationFailed && refused?.isRetryable == true)
            #expect(refused?.reason == "storage can't write or read at the moment")
            #expect(refused?.limit == .init(name: "storage bytes", value: 600 * 1_024))
            try await eventually("not ready") { !isReady(running) }
            #expect(try await caller.metadata().items.map(\.value) == ["1"])
            // What gives room back may use the reserve: each of these frees less than its event takes.
            for number in 0..<20 {
                try await caller.write(.metadataRemove, [("\(number)", "")], to: "small")
            }
            // A write that succeeds is no proof that there is room again.
            try await caller.write(.metadataRemove, [("large", "")], to: "channel 0")
            #expect(!isReady(running))
            for number in 1..<8 {
                try await caller.write(.metadataRemove, [("large", "")], to: "channel \(number)")
            }
            try await eventually("ready again") { isReady(running) }
            try await caller.write(.metadataUpdate, [("a", "2")])
        }
    }

    @Test("a program that was built without PostgreSQL refuses a database, and says how one is built with it")
    func withoutEngine() {
        let definition = StorageDefinition.service()
        let schema = ConfigurationSchema(definition.keys, section: "storage")
        let loader = ConfigurationLoader(schema: schema, rules: definition.rules) { _ in "" }
        let error = #expect(throws: ConfigurationError.self) {
            try loader.load(arguments: ["--database", "postgres://rtm@db/rtm"], environment: [:])
        }
        let problems = error?.problems.map(\.description) ?? []
        #expect(
            problems.count == 1
                && problems[0].contains("built without PostgreSQL: build it with POSTGRESQL=1")
        )
    }

    @Test("H-15: an app that has its share of history is refused by a typed limit, and others go on")
    func appShare() async throws {
        let arguments = ["--storage-history-app-bytes-max", "100KiB", "--apps", "app,second"]
        try await RunningStorage.withCaller(arguments) { running, caller in
            let time = WallClock.milliseconds()
            func store(_ number: UInt64, app: String = "app") async throws {
                try await caller.appendHistory(
                    to: ChannelKey(appID: app, type: .message, name: "lobby"), by: "anna", at: time + number,
                    Array(repeating: 1, count: 8_000))
            }
            var refused: RTMError?
            for number in 0..<50 as Range<UInt64> where refused == nil {
                refused = await failure { try await store(number) }
            }
            #expect(refused?.code == .historyOperationFailed && refused?.retryAfter != nil)
            #expect(refused?.limit == .init(name: "history bytes of an app", value: 100 * 1_024))
            try await store(1, app: "second")
            #expect(isReady(running), "a full share is no failure of the service")
            try await eventually("the metric") {
                PrometheusExporter.text(running.metrics).contains(
                    "rtm_storage_app_history_bytes{app=\"second\"} 8068\n")
            }
        }
    }

    @Test("H-15: what is stored already is acknowledged again by a full share, and expiry gives room")
    func roomInShare() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(SQLiteOptions(path: directory + "/storage.db", synchronous: .off))
            var rules = StorageRules()
            rules.quotas.historyBytes = 2_000
            let start: UInt64 = 1_800_000_000_000
            var writer = try StorageWriter(
                store, rules: rules, now: StorageNow(wall: start, steady: 0))
            defer { writer.close() }
            func refusal(_ number: UInt64, after milliseconds: UInt64 = 0) -> RTMError? {
                let content = HistoryMessage(
                    type: .binary, payload: Array(repeating: 1, count: 900), customType: "",
                    publisher: "anna",
                    timestampMilliseconds: start + number)
                let message = StoredMessage(
                    channel: .message("lobby"), content: content,
                    origin: .init(instance: 1, sequence: number), expiry: start + 60_000)
                let write = StorageWrite(message, link: 1, request: number)
                let now = StorageNow(wall: start + milliseconds, steady: milliseconds)
                _ = writer.run([StorageWrite(ExpiredHistory(limit: 9))], now: now)
                return writer.run([write], now: now).answers.compactMap {
                    if case .failure(let error) = $0.result { error } else { nil }
                }.first
            }
            #expect([1, 2, 3, 2].map { refusal($0)?.code } == [nil, nil, .historyOperationFailed, nil])
            #expect(refusal(3, after: 60_001) == nil)
        }
    }

    @Test("S-4, H-15: a database that messages and metadata have filled keeps bans, revocations and locks")
    func reserve() async throws {
        try await withDirectory { directory in
            let options = SQLiteOptions(
                path: directory + "/storage.db", synchronous: .off, bytesMax: 2 << 20)
            let now = StorageNow(wall: 1_800_000_000_000, steady: 1_000)
            var writer = try StorageWriter(SQLiteWriter(options), rules: StorageRules(), now: now)
            defer { writer.close() }
            func message(_ number: UInt64, bytes: Int) -> StorageWrite {
                let content = HistoryMessage(
                    type: .binary, payload: Array(repeating: 1, count: bytes), customType: "",
                    publisher: "anna", timestampMilliseconds: now.wall + number)
                let message = StoredMessage(
                    channel: .message("lobby"), content: content, origin: nil, expiry: nil)
                return StorageWrite(message, link: 1, request: number)
            }
            func ban(_ number: UInt64, tokensBefore: UInt64 = 0) -> StorageWrite {
                let ban = Ban(
                    appID: "app", userID: "user \(number)", untilMilliseconds: now.wall + 60_000,
                    reason: String(repeating: "r", count: 200), endsSession: true, by: "t",
                    tokensBeforeSeconds: tokensBefore)
                return StorageWrite(ban, link: 1, request: number)
            }
            func lock(_ number: UInt64, _ name: String) -> StorageWrite {
                let request = LockRequest(
                    .set(ttlSeconds: 10), name, at: LockPlace(channelType: .message, channel: "lobby"))
                return StorageWrite(
                    LockChange(request, of: .message("lobby"), ticket: number, by: .user("anna")), link: 1,
                    request: number)
            }
            func refused(_ writes: StorageWrite...) -> Set<UInt64> {
                Set(
                    writer.run(writes, now: now).answers.compactMap {
                        if case .failure = $0.result { $0.request } else { nil }
                    })
            }
            // Long ones fill the pages, and short ones what is left.
            for bytes in [4_000, 500, 10] {
                var number: UInt64 = 0
                repeat {
                    number += 1
                } while refused(message(UInt64(bytes) * 100_000 + number, bytes: bytes)).isEmpty
            }
            let mixed = refused(
                message(1, bytes: 4_000), ban(2), lock(3, "x"), message(4, bytes: 4_000),
                ban(5, tokensBefore: 7))
            #expect(mixed == [1, 4])
            // Whoever makes locks without end leaves the bans their half.
            var number: UInt64 = 10
            while refused(lock(number, String(repeating: "l", count: 40) + "\(number)")).isEmpty,
                number < 9_000
            {
                number += 1
            }
            #expect(number < 9_000)
            for number in 10_000..<10_050 as Range<UInt64> { #expect(refused(ban(number)).isEmpty) }
            #expect(refused(message(8, bytes: 4_000)) == [8], "the reserve is for nothing else afterwards")
        }
    }

    @Test("L-42: an app that has its share of metadata is refused by a typed limit, and others go on")
    func metadataShare() async throws {
        let arguments = ["--storage-metadata-app-bytes-max", "20KiB", "--apps", "app,second"]
        try await RunningStorage.withCaller(arguments) { running, caller in
            let large = String(repeating: "x", count: 8_000)
            for number in 0..<2 { try await caller.write([("large", large)], to: "channel \(number)") }
            let refused = await failure { try await caller.write([("large", large)], to: "channel 2") }
            #expect(refused?.code == .storageOperationFailed)
            #expect(refused?.limit == .init(name: "bytes of metadata of an app", value: 20 * 1_024))
            #expect(isReady(running), "a full share is no failure of the service")
            try await caller.write(.metadataRemove, [("large", "")], to: "channel 0")
            try await caller.write([("large", large)], to: "channel 2")
        }
    }

    @Test("a locked database refuses writes with a typed error and answers reads")
    func locked() async throws {
        try await withDirectory { directory in
            try await RunningStorage.with(directory) { running in
                let caller = try await running.caller()
                try await caller.write([("a", "1")])
                let other = try SQLiteConnection(path: directory + "/storage.db", .readWrite)
                try other.execute("BEGIN IMMEDIATE")
                let refused = await failure { try await caller.write([("a", "2")]) }
                #expect(refused?.code == .storageNotAvailable && refused?.retryAfter != nil)
                #expect(
                    await failure { try await caller.setLock() }?.code == .lockOperationFailed)
                #expect(try await caller.metadata().items.map(\.value) == ["1"])
                #expect(!isReady(running))
                try other.execute("ROLLBACK")
                other.close()
                try await eventually("ready again") { isReady(running) }
                #expect(try await caller.write([("a", "3")]) == 2, "the refused write left nothing behind")
                try await caller.close()
            }
        }
    }

    @Test(
        "a database file that is deleted or replaced makes the service not ready, and nothing is acknowledged"
    )
    func deleted() async throws {
        try await withDirectory { directory in
            let path = directory + "/storage.db"
            try await RunningStorage.with(directory) { running in
                let caller = try await running.caller()
                try await caller.write([("a", "1")])
                try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
                // Nobody writes: the service looks by itself.
                try await eventually("not ready") { !isReady(running) }
                let refused = await failure { try await caller.write([("a", "2")]) }
                #expect(refused?.code == .storageNotAvailable && refused?.retryAfter != nil)
                try FileManager.default.copyItem(atPath: path + ".away", toPath: path)
                #expect(await failure { try await caller.write([("a", "3")]) }?.code == .storageNotAvailable)
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
                try await eventually("ready again") { isReady(running) }
                #expect(try await caller.write(.metadataUpdate, [("a", "4")]) == 2)
                try await caller.close()
            }
        }
    }

    @Test("a directory is used by one service at a time")
    func exclusive() async throws {
        try await withDirectory { directory in
            try await RunningStorage.with(directory) { _ in
                await #expect(throws: ServiceFailure.self) {
                    try await RunningStorage.with(directory) { _ in }
                }
            }
        }
    }

    @Test("a newer schema, a file that is no database and a directory that can't be written end the start")
    func start() async throws {
        try await withDirectory { directory in
            try SQLiteWriter(SQLiteOptions(path: directory + "/storage.db")).close()
            let connection = try SQLiteConnection(path: directory + "/storage.db", .readWrite)
            try connection.execute("PRAGMA user_version = 77")
            connection.close()
            await #expect(throws: ServiceFailure.self) { try await RunningStorage.with(directory) { _ in } }
        }
        try await withDirectory { directory in
            try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: directory + "/storage.db"))
            await #expect(throws: ServiceFailure.self) { try await RunningStorage.with(directory) { _ in } }
        }
        // /proc takes no files from anybody. The tests may run as root, whom no permission stops.
        await #expect(throws: ServiceFailure.self) {
            try await RunningStorage.with("/proc/rtm-storage") { _ in }
        }
    }

    @Test("one call that can't be kept doesn't take the others of its group down")
    func group() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(SQLiteOptions(path: directory + "/storage.db", synchronous: .off))
            let now = StorageNow(wall: 1, steady: 1)
            var writer = try StorageWriter(store, rules: StorageRules(), now: now)
            let writes = (1...5).map { number in
                StorageWrite(
                    MetadataEdit(
                        WriteMetadata(
                            .set, of: .lobby, items: [MetadataItem(key: "a", value: "\(number)")],
                            majorRevision: number == 3 ? 99 : 0), of: .message("lobby"), by: "anna"), link: 1,
                    request: UInt64(number))
            }
            let outcome = writer.run(writes, now: now)
            #expect(outcome.answers.map(\.request) == [1, 2, 3, 4, 5])
            let refused = outcome.answers.filter { if case .failure = $0.result { true } else { false } }
            #expect(refused.map(\.request) == [3])
            #expect(outcome.events.count == 4 && outcome.failure == nil)
            writer.close()
        }
    }
}
