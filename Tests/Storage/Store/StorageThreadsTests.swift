import Dispatch
import RTMModel
import RTMServiceKit
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

        init(_ closings: Closings) { self.closings = closings }

        var source: UInt64 { store.source }
        func start() throws(StoreFailure) -> StoreStart { try store.start() }
        func read(_ keys: GroupKeys) -> GroupState { store.read(keys) }
        func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten { try store.write(changes) }
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
}
