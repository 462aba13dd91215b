import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// A store over a network may not be able to say whether it has kept a group, and it may belong to another
/// node meanwhile.
@Suite("Storage begins anew when it no longer knows what the store has")
struct DoubtTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)
    private static let lobby = ChannelKey.message("lobby")

    private static func now(after milliseconds: UInt64) -> StorageNow {
        StorageNow(wall: now.wall + milliseconds, steady: now.steady + milliseconds)
    }

    private func set(_ revision: Int64, request: UInt64) -> StorageWrite {
        let items = [MetadataItem(key: "k", value: "\(request)")]
        let write = WriteMetadata(.set, of: .lobby, items: items, majorRevision: revision)
        return StorageWrite(MetadataEdit(write, of: Self.lobby, by: "anna"), link: 1, request: request)
    }

    private func lock(_ action: LockRequest.Action, by user: String, request: UInt64) -> StorageWrite {
        StorageWrite(
            LockChange(
                LockRequest(action, "l", at: .lobby), of: Self.lobby, ticket: request, by: .user(user)),
            link: 1, request: request)
    }

    private func refusals(_ outcome: WriteOutcome) -> [RTMError] {
        outcome.answers.compactMap { if case .failure(let error) = $0.result { error } else { nil } }
    }

    @Test(
        "D-18: after a commit in doubt callers learn that nobody knows, and the next compare meets what is there",
        arguments: [true, false])
    func compare(isKept: Bool) throws {
        let store = MemoryStore(source: 1)
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        #expect(refusals(writer.run([set(-1, request: 1)], now: Self.now)).isEmpty)
        store.trouble = .doubt(isKept: isKept)
        let doubt = writer.run([set(1, request: 2), set(2, request: 3)], now: Self.now)
        #expect(refusals(doubt).map(\.code) == [.storageNotAvailable, .storageNotAvailable])
        #expect(refusals(doubt).first?.reason == "the database stalls: the call may have taken place")
        #expect(doubt.failure?.kind == .stalled && doubt.events.isEmpty && !doubt.hasBegun)
        let next = writer.run([set(1, request: 4)], now: Self.now)
        #expect(next.hasBegun)
        #expect(refusals(next).map(\.code) == (isKept ? [.storageOutdatedRevision] : []))
        let last = writer.run([set(isKept ? 3 : 2, request: 5)], now: Self.now)
        #expect(refusals(last).isEmpty && !last.hasBegun)
        // Events of the group in doubt are in the store exactly if its writes are.
        #expect(store.events(after: 0, limit: 10).count == (isKept ? 4 : 3))
        let sequences = store.events(after: 0, limit: 10).map(\.sequence)
        #expect(sequences == sequences.sorted() && Set(sequences).count == sequences.count)
    }

    @Test("K-4: locks that were waited for have no line any more, and each owner counts as away")
    func locks() throws {
        let store = MemoryStore(source: 1)
        var rules = StorageRules()
        rules.lockGraceMilliseconds = 5_000
        var writer = try StorageWriter(store, rules: rules, now: Self.now)
        let first = writer.run(
            [
                lock(.set(ttlSeconds: 10), by: "anna", request: 1),
                lock(.acquire(retry: false, heldToken: 0), by: "anna", request: 2),
                lock(.acquire(retry: true, heldToken: 0), by: "ben", request: 3),
            ], now: Self.now)
        #expect(refusals(first).isEmpty && writer.nextDeadline == nil)
        store.trouble = .doubt(isKept: false)
        _ = writer.run([set(0, request: 4)], now: Self.now)
        #expect(writer.nextDeadline == nil && writer.busyLockChannels == 0)
        let anew = writer.run([lock(.release(withdraw: false), by: "anna", request: 5)], now: Self.now)
        #expect(anew.hasBegun && refusals(anew).isEmpty && anew.settled.isEmpty)
        let other = writer.run(
            [lock(.acquire(retry: false, heldToken: 0), by: "carol", request: 6)], now: Self.now)
        #expect(refusals(other).isEmpty)
    }

    @Test("while another node has the store every call is refused, and a proof begins anew, too")
    func fenced() throws {
        let store = MemoryStore(source: 1, after: 6)
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        #expect(writer.run([], now: Self.now).tenure == [.began(term: 7)])
        store.trouble = .fence(starts: 2)
        for request in 1...2 as ClosedRange<UInt64> {
            let outcome = writer.run([set(0, request: request)], now: Self.now)
            #expect(outcome.failure?.kind == .fenced && refusals(outcome).count == 1)
            #expect(outcome.tenure == (request == 1 ? [.lost(isPlanned: false)] : []))
        }
        #expect(writer.prove(now: Self.now)?.kind == .fenced)
        #expect(!writer.isDue(Self.now))
        #expect(writer.prove(now: Self.now) == nil)
        #expect(writer.isDue(Self.now))
        let outcome = writer.run([set(-1, request: 3)], now: Self.now)
        #expect(outcome.tenure == [.began(term: 8)] && refusals(outcome).isEmpty)
    }

    @Test("D-19: a proof that finds the store with another node is news for the shard, without any write")
    func provenLost() throws {
        let store = MemoryStore(source: 1, after: 6)
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        store.trouble = .doubt(isKept: false)
        #expect(writer.run([set(0, request: 1)], now: Self.now).tenure == [.began(term: 7)])
        store.startsOfOthers = 2
        #expect(writer.prove(now: Self.now)?.kind == .fenced)
        #expect(writer.isDue(Self.now) && writer.nextDeadline == 0)
        #expect(writer.run([], now: Self.now).tenure == [.lost(isPlanned: false)])
        #expect(!writer.isDue(Self.now))
    }

    @Test("D-19: a writer waits for a store that another node has, and asks for it ten times a second")
    func follows() throws {
        let store = MemoryStore(source: 1, startsOfOthers: 2, after: 6)
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        #expect(!writer.isDue(Self.now) && writer.tenure.deadline == nil)
        func step(after milliseconds: UInt64) -> ShardTenure.Step {
            writer.nextStep(isWanted: true, now: Self.now(after: milliseconds))
        }
        #expect(step(after: 0) == .ask)
        let proven = writer.prove(now: Self.now)
        let failure = try #require(proven)
        // Another node has it, so nothing is wrong with it.
        var health = StoreHealth()
        let isNews = health.failed(failure, Self.now)
        #expect(!isNews && health.proofDeadline == nil)
        #expect(writer.tenure.deadline == Self.now.steady + 100)
        #expect(step(after: 99) == .run && step(after: 100) == .ask)
        #expect(writer.prove(now: Self.now(after: 100)) == nil)
        // Nobody has to call before it is known that this node leads.
        #expect(writer.isDue(Self.now) && writer.nextDeadline == 0)
        #expect(writer.run([], now: Self.now).hasBegun)
        #expect(writer.nextDeadline == nil)
        _ = health.failed(StoreFailure(kind: .stalled, reason: ""), Self.now)
        #expect(health.proofDeadline == Self.now.steady + 1_000)
    }

    @Test(
        "over any doubts a writer answers and keeps the same as one that is made over the store",
        arguments: 0..<20)
    func generated(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writes = GeneratedWrites(seed: seed)
        var rules = StorageRules()
        rules.quotas = AppUsage.Quotas(channelSets: 2, locks: 2, historyBytes: 60_000)
        let (store, other) = (MemoryStore(source: 1), MemoryStore(source: 1))
        var writer = try StorageWriter(store, rules: rules, now: Self.now)
        var reference = try StorageWriter(other, rules: rules, now: Self.now)
        for step in 0..<150 {
            let group = writes.group(try StoreContents(store))
            let isKept = random.chance(1, in: 2)
            if random.chance(1, in: 5) {
                store.trouble = .doubt(isKept: isKept)
                let doubt = writer.run(group, now: Self.now)
                // A group that changes nothing has no commit.
                if doubt.failure != nil {
                    if isKept { _ = reference.run(group, now: Self.now) }
                    reference = try StorageWriter(other, rules: rules, now: Self.now)
                    #expect(try StoreContents(store) == StoreContents(other), "seed \(seed), step \(step)")
                    continue
                }
                store.trouble = nil
            } else {
                _ = writer.run(group, now: Self.now)
            }
            _ = reference.run(group, now: Self.now)
            #expect(try StoreContents(store) == StoreContents(other), "seed \(seed), step \(step)")
        }
    }
}
