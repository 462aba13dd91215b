import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// The store is an interface: the rules do the same over another engine as over SQLite.
@Suite("Engines under the same rules")
struct EngineTests {
    static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    static var rules: StorageRules {
        var rules = StorageRules()
        rules.quotas = AppUsage.Quotas(
            channelSets: 2, locks: 2, historyBytes: 60_000, metadataBytes: 400, eventBytes: 1_500)
        return rules
    }

    @Test("the same writes have the same answers and leave the same behind", arguments: series(of: 8))
    func same(_ seed: UInt64) async throws {
        try await withDirectory { directory in
            let file = try Engine.file(directory, Self.rules, Self.now)
            let memory = MemoryStore(source: Engine.source)
            try compare(file, Engine("memory", memory, memory, Self.rules, Self.now), seed: seed)
        }
    }

    /// Gives both engines the same generated writes.
    func compare(_ first: Engine, _ second: Engine, seed: UInt64) throws {
        defer { for engine in [first, second] { engine.close() } }
        var writes = GeneratedWrites(seed: seed, hours: true)
        for step in 0..<150 {
            let group = writes.group(try StoreContents(first.reader, now: writes.now))
            let (outcome, other) = (first.run(group, writes.now), second.run(group, writes.now))
            #expect(answers(outcome) == answers(other), "\(second.name), seed \(seed), step \(step)")
            #expect(outcome.events == other.events && outcome.settled == other.settled)
            #expect(outcome.expired == other.expired, "\(second.name), seed \(seed), step \(step)")
            #expect(outcome.failure == nil)
            #expect(other.failure == nil)
            let contents = (
                try StoreContents(first.reader, now: writes.now),
                try StoreContents(second.reader, now: writes.now)
            )
            #expect(contents.0 == contents.1, "\(second.name), seed \(seed), step \(step)")
            let usages = (try first.usage(writes.now), try second.usage(writes.now))
            #expect(usages.0 == usages.1, "\(second.name), seed \(seed), step \(step)")
            guard contents.0 == contents.1, usages.0 == usages.1 else { return }
        }
    }

    private func answers(_ outcome: WriteOutcome) -> [String] {
        outcome.answers.map { answered in
            switch answered.result {
            case .success(let answer as ClientAnswer):
                "\(answered.request) \(Array(answer.field.readableBytesView)) \(answer.ticket)"
            case .success(let answer): "\(answered.request) \(answer)"
            case .failure(let error): "\(answered.request) \(error)"
            }
        }
    }

    /// Whom a group has shut out or let in, or has found shut out.
    private func users(_ outcome: WriteOutcome) -> [String] {
        let asked = outcome.answers.compactMap { answered in
            let kept: BanKept? = answered.answer()
            return kept?.ban.userID
        }
        return (asked + outcome.bans.map(\.userID)).sorted()
    }

    @Test("W-23: both engines say which ban held before, since when it holds, and list bans by app and user")
    func pages() async throws {
        func ban(_ app: String, _ user: String, until: UInt64) -> StorageWrite {
            StorageWrite(
                Ban(
                    appID: app, userID: user, untilMilliseconds: until, reason: "r", endsSession: true,
                    by: "ann"), link: 1, request: 1)
        }
        func run<Store: WritableStore>(_ writer: inout StorageWriter<Store>) -> [Ban?] {
            let steps = [
                ban("b", "x", until: 1_100_000), ban("b", "x", until: 1_200_000), ban("b", "x", until: 0),
            ]
            let befores = steps.map { writer.run([$0], now: Self.now).answer(BanKept.self)?.before }
            for (app, user) in [("b", "y"), ("a", "z"), ("b", "x")] {
                _ = writer.run([ban(app, user, until: 1_100_000)], now: Self.now)
            }
            return befores
        }
        func pages(_ reader: some ReadableStore) throws -> [[String]] {
            let places = [BansRequest(), BansRequest(afterApp: "a", afterUser: "z")]
            let bans = try places.map { try reader.bans(after: $0, now: Self.now.wall, limit: 2) }
            let later = try reader.bans(after: BansRequest(), now: 1_100_000, limit: 2)
            return (bans + [later]).map {
                $0.map { "\($0.appID)/\($0.userID) \($0.by) \($0.sinceMilliseconds)" }
            }
        }
        try await withDirectory { directory in
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            let file = try SQLiteWriter(options)
            let memory = MemoryStore(source: file.source)
            var overFile = try StorageWriter(file, rules: StorageRules(), now: Self.now)
            var overMemory = try StorageWriter(memory, rules: StorageRules(), now: Self.now)
            let befores = run(&overFile)
            #expect(befores == run(&overMemory))
            #expect(befores.map { $0?.untilMilliseconds } == [nil, 1_100_000, 1_200_000])
            #expect(befores[1]?.by == "ann" && befores[1]?.sinceMilliseconds == Self.now.wall)
            let reader = try SQLiteReader(options)
            let since = Self.now.wall
            let expected = [
                ["a/z ann \(since)", "b/x ann \(since)"], ["b/x ann \(since)", "b/y ann \(since)"], [],
            ]
            #expect(try pages(reader) == expected)
            #expect(try pages(memory) == expected)
            reader.close()
            overFile.close()
        }
    }

    @Test("W-29: both engines keep a revocation of tokens beside a ban of the user, and over a restart")
    func revocations() async throws {
        func ban(_ user: String, tokensBefore: UInt64 = 0, until: UInt64 = 2_000_000) -> StorageWrite {
            StorageWrite(
                Ban(
                    appID: "a", userID: user, untilMilliseconds: until, reason: "r", endsSession: true,
                    by: "ann", tokensBeforeSeconds: tokensBefore), link: 1, request: 1)
        }
        func run<Store: WritableStore>(_ writer: inout StorageWriter<Store>) -> [String] {
            let steps = [ban("x", tokensBefore: 7), ban("x"), ban("y", tokensBefore: 8), ban("x", until: 0)]
            _ = writer.run(steps, now: Self.now)
            _ = writer.run([ban("x", tokensBefore: 9)], now: Self.now)
            let listed = writer.run([StorageWrite(BanListing())], now: Self.now)
            return listed.bans.map { "\($0.userID) \($0.tokensBeforeSeconds)" }.sorted()
        }
        try await withDirectory { directory in
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            let file = try SQLiteWriter(options)
            var overMemory = try StorageWriter(
                MemoryStore(source: file.source), rules: StorageRules(), now: Self.now)
            var overFile = try StorageWriter(file, rules: StorageRules(), now: Self.now)
            #expect(run(&overFile) == ["x 9", "y 8"])
            #expect(run(&overMemory) == ["x 9", "y 8"])
            overFile.close()
            var again = try StorageWriter(SQLiteWriter(options), rules: StorageRules(), now: Self.now)
            let kept = again.run([StorageWrite(BanListing())], now: Self.now).bans
            #expect(Set(kept.map(\.tokensBeforeSeconds)) == [8, 9])
            let reader = try SQLiteReader(options)
            #expect(try reader.bans(after: BansRequest(), now: Self.now.wall, limit: 10).isEmpty)
            reader.close()
            again.close()
        }
    }

    @Test("S-4: both engines keep who is shut out, forget whom an operator lets in, and what has ended")
    func bans() async throws {
        func ban(_ user: String, until: UInt64) -> StorageWrite {
            StorageWrite(
                Ban(appID: "a", userID: user, untilMilliseconds: until, reason: "r", endsSession: true),
                link: 1, request: 1)
        }
        func run<Store: WritableStore>(_ writer: inout StorageWriter<Store>) -> [[String]] {
            let groups = [
                [
                    ban("bob", until: 1_100_000), ban("carol", until: 1_000_500),
                    ban("dave", until: 2_000_000),
                ],
                [ban("dave", until: 0)], [StorageWrite(BanListing())],
            ]
            var seen = groups.map { group in users(writer.run(group, now: Self.now)) }
            let later = StorageNow(wall: 1_000_500, steady: 1_500)
            seen.append(writer.run([StorageWrite(BanListing())], now: later).bans.map(\.userID))
            return seen
        }
        try await withDirectory { directory in
            let file = try SQLiteWriter(
                SQLiteOptions(path: directory + "/storage.db", synchronous: .off))
            var overFile = try StorageWriter(file, rules: StorageRules(), now: Self.now)
            var overMemory = try StorageWriter(
                MemoryStore(source: file.source), rules: StorageRules(), now: Self.now)
            let expected = [["bob", "carol", "dave"], ["dave"], ["bob", "carol"], ["bob"]]
            #expect(run(&overFile) == expected)
            #expect(run(&overMemory) == expected)
            overFile.close()
        }
    }
}

/// A writer and a reader of one engine over an empty store.
final class Engine {
    static let source: UInt64 = 77

    let name: String
    let reader: any ReadableStore
    let run: ([StorageWrite], StorageNow) -> WriteOutcome
    /// What the app of the generated writes has.
    let usage: (StorageNow) throws -> AppUsage?
    let close: () -> Void

    init<Store: WritableStore>(
        _ name: String, _ store: Store, _ reader: some ReadableStore, _ rules: StorageRules, _ now: StorageNow
    ) throws {
        var writer = try StorageWriter(store, rules: rules, now: now)
        self.name = name
        self.reader = reader
        run = { writer.run($0, now: $1) }
        usage = {
            var keys = GroupKeys(now: $0.wall, historyBytesMax: nil)
            keys.apps = ["app"]
            return try store.read(keys).usages["app"]
        }
        close = {
            reader.close()
            store.close()
        }
    }

    static func file(_ directory: String, _ rules: StorageRules, _ now: StorageNow) throws -> Engine {
        let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
        let writer = try SQLiteWriter(options, source: source)
        return try Engine("SQLite", writer, SQLiteReader(options), rules, now)
    }
}

/// What an app's backends see of its events.
struct EventContents: Equatable {
    let page: EventsResponse
    let newest: StreamPosition
    let oldest: StreamPosition
    let feeds: [EventLogs.FeedKey: EventLogs.FeedMark]

    init(_ reader: some ReadableStore, _ request: EventsRequest) throws {
        page = try reader.eventPage(request, limit: 7)
        (newest, oldest) = try reader.eventBounds(of: request.appID)
        feeds = try reader.eventFeeds(of: request.appID)
    }
}

/// What messaging sends of two apps, with gaps and repetitions, and what else happens to events.
struct GeneratedFeeds {
    private var random: SeededGenerator
    private var places: [EventLogs.FeedKey: FeedPosition] = [:]
    private var time: UInt64 = 1_000_000
    private var positions: [StreamPosition] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> any StorageChange {
        time += UInt64.random(in: 0...40_000, using: &random)
        let app = ["app", "b"].randomElement(using: &random) ?? "app"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return EventSettlement(appID: app, time: time)
        case 1:
            let cutoffs = random.chance(1, in: 8) ? [:] : ["app": time - min(time, 300_000), "b": 0]
            return ExpiredEvents(cutoffs: cutoffs, limit: Int.random(in: 1...9, using: &random))
        default: return feed(app)
        }
    }

    private mutating func feed(_ app: String) -> CollectedFeed {
        let key = EventLogs.FeedKey(appID: app, shard: random.chance(1, in: 3) ? 1 : 0)
        let after = places[key] ?? FeedPosition()
        let next = FeedPosition(epoch: 7, sequence: after.offset + 1, partition: 1, offset: after.offset + 1)
        // Now and then the same page comes again.
        if !random.chance(1, in: 6) { places[key] = next }
        let entries = (0..<Int.random(in: 0...4, using: &random)).map { _ in entry() }
        return CollectedFeed(
            appID: app, shard: key.shard, after: after, next: next, gap: random.chance(1, in: 9),
            entries: entries)
    }

    private mutating func entry() -> CollectedFeed.Entry {
        let user = ["ann", "ben"].randomElement(using: &random) ?? ""
        let event: PublishedEntry.Event =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .presence(joined: [user], left: [], timedOut: [])
            case 1: .presence(joined: [], left: [user], timedOut: [])
            case 2: .lock
            default: .message
            }
        let content = PublishedEntry(
            channelType: random.chance(1, in: 4) ? .user : .message,
            channel: ["a", "b"].randomElement(using: &random) ?? "", timestampMilliseconds: time, event: event
        )
        return .init(content: content, frame: random.bytes(upTo: 50))
    }

    /// What is asked of the stores now: from the beginning, and from a place that was seen.
    var requests: [EventsRequest] {
        let after = positions.suffix(20).first ?? StreamPosition(epoch: 0, offset: 0)
        return [
            EventsRequest(appID: "app", after: after),
            EventsRequest(appID: "b", after: .init(epoch: 0, offset: 0), channelPrefix: "a"),
            EventsRequest(appID: "app", after: .init(epoch: 0, offset: 0)),
        ]
    }

    mutating func saw(_ contents: EventContents) { positions.append(contents.page.next) }
}
