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
            rules.quotas = AppUsage.Quotas(channelSets: 2, locks: 2)
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
            case .success(.banned): "\(answered.request) banned"
            case .failure(let error): "\(answered.request) \(error)"
            }
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
            var seen = groups.map { group in writer.run(group, now: Self.now).bans.map(\.userID).sorted() }
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
