import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMStorageServer

/// What a shard believes of its tenure follows what its writer has gone through, in the same order.
@Suite("A shard learns of its writer's tenure") struct StorageTenureTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    private static func write(_ request: UInt64) -> StorageWrite {
        let write = WriteMetadata(.set, of: .lobby, items: [MetadataItem(key: "k", value: "v")])
        return StorageWrite(MetadataEdit(write, of: .message("lobby"), by: "anna"), link: 1, request: request)
    }

    /// A shard of a database that nodes share, on its loop, and no messaging beside it.
    private func withShard(_ body: @escaping @Sendable (StorageShard) throws -> Void) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await loop.submit {
            let (metrics, link) = (StorageMetrics(MetricsRegistry()), ServiceLinkConfiguration())
            let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            let queues = StorageQueues(countMax: 10, readers: 1)
            let messaging = [ServiceLinkAddress.inProcess(InProcessEndpoint(name: "messaging"))]
            let outbox = StorageOutbox(
                to: messaging, link, queues: queues, metrics: metrics,
                probe: ReadinessRegistry(logger: logger).probe("messaging"), endOfTurn: .shared(on: loop),
                logger: logger)
            let collector = EventCollector(
                from: messaging, link, queues: queues, metrics: metrics, endOfTurn: .shared(on: loop),
                logger: logger, wallClock: WallClock.milliseconds)
            let shard = StorageShard(
                queues: queues, retention: StorageRules().retention, outbox: outbox, collector: collector,
                on: loop, metrics: metrics, logger: logger, hasOthers: true)
            defer { shard.stop() }
            try body(shard)
        }.get()
    }

    @Test("D-19: a node whose first group is fenced at once does not believe that it leads")
    func fencedAtOnce() async throws {
        try await withShard { shard in
            let store = MemoryStore(source: 1, startsOfOthers: 1, after: 6)
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            store.trouble = .fence(starts: 100)
            let outcome = writer.run([Self.write(1)], now: Self.now)
            #expect(outcome.failure?.kind == .fenced)
            shard.written(outcome)
            #expect(!shard.leadership.serves && shard.leadership.announcement == nil)
        }
    }

    @Test("D-19: a writer may begin before its shard has started: the events are those of its term")
    func startsBehind() async throws {
        try await withShard { shard in
            let store = MemoryStore(source: 1, after: 6)
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            shard.written(writer.run([], now: Self.now))
            shard.start()
            #expect(shard.outbox.state == .sending(term: 7))
            store.trouble = .fence(starts: 1)
            shard.written(writer.run([Self.write(1)], now: Self.now))
            #expect(shard.outbox.state == .paused)
        }
    }

    @Test("D-19: a node that loses the store in a group and has it again in the same one leads")
    func hasItAgain() async throws {
        try await withShard { shard in
            let store = MemoryStore(source: 1, after: 6)
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            shard.written(writer.run([], now: Self.now))
            #expect(shard.leadership.announcement?.term == 7)
            store.trouble = .fence(starts: 0)
            var outcome = writer.run([Self.write(1)], now: Self.now)
            outcome.append(writer.run([Self.write(2)], now: Self.now))
            shard.written(outcome)
            #expect(shard.leadership.announcement?.term == 8)
        }
    }
}
