import Dispatch
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMStorageServer

/// The end of the threads that wait for the disk.
@Suite struct StorageThreadsTests {
    /// Writes down in which order stores are closed.
    private final class Closings: Sendable {
        let order = Mutex<[String]>([])
        let writerIsClosed = DispatchSemaphore(value: 0)

        func note(_ store: String) { order.withLock { $0.append(store) } }
    }

    private final class Writer: WritableStore {
        private let store = MemoryStore(source: 1)
        private let closings: Closings
        private let claim: ShardClaim?
        private let isWantedMeanwhile: Bool

        /// - Parameter isWantedMeanwhile: whether the node wants the store while the first start is refused.
        init(_ closings: Closings, _ claim: ShardClaim? = nil, isWantedMeanwhile: Bool = false) {
            (self.closings, self.claim, self.isWantedMeanwhile) = (closings, claim, isWantedMeanwhile)
        }

        var source: UInt64 { store.source }
        func start() throws(StoreFailure) -> StoreStart {
            guard claim?.isWanted ?? true else {
                claim?.set(isWantedMeanwhile)
                throw StoreFailure(kind: .fenced, reason: "another's")
            }
            var start = try store.start()
            start.term = claim.map { _ in 7 }
            return start
        }
        func release() { closings.note("released") }
        func read(_ keys: GroupKeys) -> GroupState { store.read(keys) }
        func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten { try store.write(changes) }
        func confirm() {}
        func prove() {}

        func close() {
            closings.note("writer")
            closings.writerIsClosed.signal()
        }
    }

    /// Takes its time to close: until the writer has, if the writer doesn't wait for it.
    private final class Reader: ReadableStore {
        private let closings: Closings

        init(_ closings: Closings) { self.closings = closings }

        func close() {
            _ = closings.writerIsClosed.wait(timeout: .now() + .milliseconds(200))
            closings.note("reader")
        }

        func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
            try body()
        }
        func committedCounter() -> UInt64 { 0 }
        func metadata(of channel: ChannelKey) -> MetadataSet { MetadataSet() }
        func locks(of channel: ChannelKey) -> LockTable { LockTable() }
        func messages(_ query: HistorySelection, now: UInt64) -> HistoryMatches {
            HistoryMatches(of: query)
        }
        func events(after sequence: UInt64, limit: Int) -> [StorageOutboxEvent] { [] }
        func bans(after place: BansRequest, now: UInt64, limit: Int) -> [Ban] { [] }
        func eventFeeds(of app: String) -> [EventLogs.FeedKey: EventLogs.FeedMark] { [:] }
        func eventPage(_ request: EventsRequest, limit: Int) -> EventsResponse {
            EventsResponse(next: request.after)
        }
        func readers(_ request: ReadersRequest, limit: Int, now: UInt64) -> [EventReader] { [] }
        func deadLetters(_ request: DeadLettersRequest, limit: Int) -> [DeadLetter] { [] }
        func audit(_ request: AuditRequest, limit: Int) -> [AuditLine] { [] }
        func eventBounds(of app: String) -> (newest: StreamPosition, oldest: StreamPosition) {
            (StreamPosition(epoch: 1, offset: 0), StreamPosition(epoch: 1, offset: 0))
        }
    }

    @Test("at a stop the writer closes its store last, which moves the log into the database")
    func stop() async throws {
        let closings = Closings()
        let threads = StorageThreads(
            StorageThreads.Stores(openWriter: { Writer(closings) }, openReader: { Reader(closings) }),
            readers: 2, queueMax: 10, rules: StorageRules(), metrics: StorageMetrics(MetricsRegistry()))
        try await threads.start(
            StorageThreads.Listener(written: { _ in }, read: { _ in }, health: { _ in }))
        await threads.stop()
        #expect(closings.order.withLock { $0 } == ["reader", "reader", "writer"])
    }

    @Test("D-19: a store that the node wants while its writer begins is taken, too")
    func claimMeanwhile() async throws {
        let (closings, claim) = (Closings(), ShardClaim())
        let outcomes = Shared<[WriteOutcome]>([])
        let threads = StorageThreads(
            StorageThreads.Stores(
                openWriter: { Writer(closings, claim, isWantedMeanwhile: true) },
                openReader: { Reader(closings) }, claim: claim),
            readers: 1, queueMax: 10, rules: StorageRules(), metrics: StorageMetrics(MetricsRegistry()))
        try await threads.start(
            StorageThreads.Listener(
                written: { outcome in outcomes.withLock { $0.append(outcome) } }, read: { _ in },
                health: { _ in }))
        try await eventually("it has begun") { outcomes.present.contains { $0.hasBegun } }
        await threads.stop()
    }

    @Test("D-19: the writer takes the store when the node wants it, and gives it up between two groups")
    func claim() async throws {
        let closings = Closings()
        let claim = ShardClaim()
        let outcomes = Shared<[WriteOutcome]>([])
        let threads = StorageThreads(
            StorageThreads.Stores(
                openWriter: { Writer(closings, claim) }, openReader: { Reader(closings) }, claim: claim),
            readers: 1, queueMax: 10, rules: StorageRules(), metrics: StorageMetrics(MetricsRegistry()))
        try await threads.start(
            StorageThreads.Listener(
                written: { outcome in outcomes.withLock { $0.append(outcome) } }, read: { _ in },
                health: { _ in }))
        func write(_ request: UInt64) {
            let items = [MetadataItem(key: "k", value: "v")]
            _ = threads.queues.writes.put(
                StorageWrite(
                    MetadataEdit(
                        WriteMetadata(.set, of: .lobby, items: items), of: .message("lobby"), by: "anna"),
                    link: 1, request: request))
        }
        func answer(_ request: UInt64) async throws -> RTMError? {
            try await eventually("\(request) is answered") {
                outcomes.present.flatMap(\.answers).contains { $0.request == request }
            }
            let answered = outcomes.present.flatMap(\.answers).first { $0.request == request }
            if case .failure(let error) = answered?.result { return error }
            return nil
        }
        write(1)
        #expect(try await answer(1)?.retryAfter == .milliseconds(100))
        claim.set(true)
        // Nobody writes: the claim alone wakes the thread.
        try await eventually("it has begun") { outcomes.present.contains { $0.hasBegun } }
        write(2)
        #expect(try await answer(2) == nil)
        #expect(closings.order.withLock { $0 } == [])
        claim.set(false)
        try await eventually("it has given the store up") {
            outcomes.present.contains { $0.tenure == [.lost(isPlanned: true)] }
        }
        #expect(closings.order.withLock { $0 } == ["released"])
        write(3)
        #expect(try await answer(3)?.code == .storageNotAvailable)
        claim.set(true)
        try await eventually("it has begun again") { outcomes.present.count { $0.hasBegun } == 2 }
        write(4)
        #expect(try await answer(4) == nil)
        await threads.stop()
    }
}
