import OrderedCollections
import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

/// A group of calls reads the store once and writes it once. In between it works on its own view.
@Suite("The view of the store that a group of calls has")
struct StoreGroupTests {
    private static let now = StorageNow(wall: 1_000, steady: 1_000)
    private static let lobby = ChannelKey.message("lobby")

    /// Counts what an engine is asked.
    private final class CountingStore: WritableStore {
        private let store = MemoryStore(source: 1)
        var reads = 0
        var writes: [GroupChanges] = []
        /// Whether it reports nothing about sets.
        var forgetsSets = false

        var source: UInt64 { store.source }
        func start() throws(StoreFailure) -> StoreStart { try store.start() }
        func confirm() {}
        func prove() {}
        func close() {}

        func read(_ keys: GroupKeys) -> GroupState {
            reads += 1
            var state = store.read(keys)
            if forgetsSets { state.sets = [:] }
            return state
        }

        func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten {
            writes.append(changes)
            return try store.write(changes)
        }
    }

    private func set(_ key: String, _ revision: Int64, request: UInt64) -> StorageWrite {
        let items = [MetadataItem(key: key, value: "\(request)")]
        let write = WriteMetadata(.set, of: .lobby, items: items, majorRevision: revision)
        return StorageWrite(MetadataEdit(write, of: Self.lobby, by: "anna"), link: 1, request: request)
    }

    private func lock(_ action: LockRequest.Action, request: UInt64) -> StorageWrite {
        StorageWrite(
            LockChange(
                LockRequest(action, "l", at: .lobby), of: Self.lobby, ticket: request, by: .user("anna")),
            link: 1, request: request)
    }

    private func message(_ number: UInt64) -> StorageWrite {
        let content = HistoryMessage(
            type: .binary, payload: Array(repeating: 1, count: 900), customType: "", publisher: "anna",
            timestampMilliseconds: number)
        let message = StoredMessage(
            channel: Self.lobby, content: content, origin: .init(instance: 1, sequence: number), expiry: nil)
        return StorageWrite(message, link: 1, request: number)
    }

    private func refused(_ outcome: WriteOutcome) -> [UInt64] {
        outcome.answers.compactMap { if case .failure = $0.result { $0.request } else { nil } }
    }

    @Test(
        "D-6, D-20: a group is one read and one write, and each call sees what those before it have changed")
    func group() throws {
        let store = CountingStore()
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        var underLock = WriteMetadata(
            .set, of: .lobby, items: [MetadataItem(key: "c", value: "7")], majorRevision: 2)
        underLock.lock = "l"
        let group = [
            set("a", -1, request: 1), set("b", 1, request: 2), set("b", 1, request: 3),
            lock(.set(ttlSeconds: 10), request: 4), lock(.set(ttlSeconds: 10), request: 5),
            lock(.acquire(retry: false, heldToken: 0), request: 6),
            StorageWrite(MetadataEdit(underLock, of: Self.lobby, by: "anna"), link: 1, request: 7),
        ]
        let outcome = writer.run(group, now: Self.now)
        #expect(refused(outcome) == [3, 5])
        #expect(store.reads == 1 && store.writes.count == 1)
        let change = try #require(store.writes.first?.sets[Self.lobby])
        #expect(change.set.majorRevision == 3 && change.set.items.map(\.value) == ["1", "2", "7"])
        #expect(Set(change.change.entries.keys) == ["a", "b", "c"])
        #expect(store.writes.first?.locks.count == 1 && store.writes.first?.events == outcome.events)
    }

    @Test("a group that changes nothing writes nothing")
    func nothing() throws {
        let store = CountingStore()
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        #expect(refused(writer.run([set("a", 9, request: 1)], now: Self.now)) == [1])
        #expect(store.reads == 1 && store.writes.isEmpty)
    }

    @Test("H-15: a message that comes twice in a group counts once in the quota of its app")
    func quota() throws {
        var rules = StorageRules()
        rules.quotas.historyBytes = 2_000
        var writer = try StorageWriter(CountingStore(), rules: rules, now: Self.now)
        let outcome = writer.run([1, 1, 2, 3, 2].map(message), now: Self.now)
        #expect(refused(outcome) == [3])
        #expect(refused(writer.run([message(2), message(4)], now: Self.now)) == [4])
    }

    @Test("a value that was not collected refuses the call that needs it, and no other")
    func missing() throws {
        let store = CountingStore()
        store.forgetsSets = true
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        let outcome = writer.run(
            [set("a", 0, request: 1), lock(.set(ttlSeconds: 10), request: 2)], now: Self.now)
        #expect(refused(outcome) == [1] && outcome.answers.count == 2)
        #expect(outcome.failure?.kind == .refused)
        #expect(outcome.failure?.reason.contains("lobby") == true)
    }

    @Test("S-4: who is shut out is known, whatever else of its group the store refuses")
    func listing() throws {
        let store = CountingStore()
        store.forgetsSets = true
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        let outcome = writer.run([StorageWrite(BanListing()), set("a", 0, request: 1)], now: Self.now)
        #expect(refused(outcome) == [1] && outcome.hasListedBans && !outcome.hasNotListedBans)
    }
}
