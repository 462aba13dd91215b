import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// The store is an interface: the rules do the same over another engine as over SQLite.
@Suite("Two engines under the same rules")
struct EngineTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    @Test("the same writes have the same answers and leave the same behind", arguments: 0..<20)
    func same(_ seed: UInt64) async throws {
        try await withDirectory { directory in
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            let file = try SQLiteWriter(options)
            let reader = try SQLiteReader(options)
            let memory = MemoryStore(source: file.source)
            var rules = StorageRules()
            rules.quotas = AppUsage.Quotas(channelSets: 2, locks: 2, historyBytes: 60_000)
            var overFile = try StorageWriter(file, rules: rules, now: Self.now)
            var overMemory = try StorageWriter(memory, rules: rules, now: Self.now)
            var writes = GeneratedWrites(seed: seed)
            for step in 0..<150 {
                let group = writes.group(try StoreContents(reader))
                let outcome = overFile.run(group, now: Self.now)
                let other = overMemory.run(group, now: Self.now)
                #expect(answers(outcome) == answers(other), "seed \(seed), step \(step)")
                #expect(outcome.events == other.events && outcome.settled == other.settled)
                #expect(
                    try StoreContents(reader) == StoreContents(memory), "seed \(seed), step \(step)")
            }
            reader.close()
            overFile.close()
        }
    }

    private func answers(_ outcome: WriteOutcome) -> [String] {
        outcome.answers.map { answered in
            switch answered.result {
            case .success(.call(let bytes)): "\(answered.request) \(Array(bytes.readableBytesView))"
            case .success(.waiting(let ticket)): "\(answered.request) waits \(ticket)"
            case .success(.historyAppended): "\(answered.request) stored"
            case .success(.purged(_, let count)): "\(answered.request) purged \(count)"
            case .success(.banned(let ban, let before)):
                "\(answered.request) \(ban) \(String(describing: before))"
            case .success(.keptAudit): "\(answered.request) audit"
            case .success(.claimedReader(let claimed)): "\(answered.request) \(claimed)"
            case .success(.keptReader(let isKept)): "\(answered.request) kept \(isKept)"
            case .success(.movedReader(let isFound)): "\(answered.request) moved \(isFound)"
            case .failure(let error): "\(answered.request) \(error)"
            }
        }
    }

    /// Whom a group has shut out or let in, or has found shut out.
    private func users(_ outcome: WriteOutcome) -> [String] {
        let asked = outcome.answers.compactMap { answered in
            if case .success(.banned(let ban, _)) = answered.result { ban.userID } else { nil }
        }
        return (asked + outcome.bans.map(\.userID)).sorted()
    }

    @Test("W-23: both engines say which ban held before, since when it holds, and list bans by app and user")
    func pages() async throws {
        func ban(_ app: String, _ user: String, until: UInt64) -> StorageWrite {
            StorageWrite(
                .ban(
                    Ban(
                        appID: app, userID: user, untilMilliseconds: until, reason: "r", endsSession: true,
                        by: "ann")),
                link: 1, request: 1)
        }
        func run<Store: WritableStore>(_ writer: inout StorageWriter<Store>) -> [Ban?] {
            let steps = [
                ban("b", "x", until: 1_100_000), ban("b", "x", until: 1_200_000), ban("b", "x", until: 0),
            ]
            let befores = steps.map { step -> Ban? in
                guard
                    case .success(.banned(_, let before))? = writer.run([step], now: Self.now).answers.first?
                        .result
                else { return nil }
                return before
            }
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
                .ban(
                    Ban(
                        appID: "a", userID: user, untilMilliseconds: until, reason: "r", endsSession: true,
                        by: "ann", tokensBeforeSeconds: tokensBefore)),
                link: 1, request: 1)
        }
        func run<Store: WritableStore>(_ writer: inout StorageWriter<Store>) -> [String] {
            let steps = [ban("x", tokensBefore: 7), ban("x"), ban("y", tokensBefore: 8), ban("x", until: 0)]
            _ = writer.run(steps, now: Self.now)
            _ = writer.run([ban("x", tokensBefore: 9)], now: Self.now)
            let listed = writer.run([StorageWrite(.listBans)], now: Self.now)
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
            let kept = again.run([StorageWrite(.listBans)], now: Self.now).bans
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
                .ban(Ban(appID: "a", userID: user, untilMilliseconds: until, reason: "r", endsSession: true)),
                link: 1, request: 1)
        }
        func run<Store: WritableStore>(_ writer: inout StorageWriter<Store>) -> [[String]] {
            let groups = [
                [
                    ban("bob", until: 1_100_000), ban("carol", until: 1_000_500),
                    ban("dave", until: 2_000_000),
                ],
                [ban("dave", until: 0)], [StorageWrite(.listBans)],
            ]
            var seen = groups.map { group in users(writer.run(group, now: Self.now)) }
            let later = StorageNow(wall: 1_000_500, steady: 1_500)
            seen.append(writer.run([StorageWrite(.listBans)], now: later).bans.map(\.userID))
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
