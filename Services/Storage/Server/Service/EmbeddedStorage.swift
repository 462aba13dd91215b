import Dispatch
package import Logging
package import NIOCore
import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// Storage without threads and sockets: what waits for the store is done on the event loop, and whoever makes
/// it brings the callers and the time.
package final class EmbeddedStorage {
    /// Reads leave out what has expired, so that nobody notices when it is removed.
    private static let cleaningInterval = TimeAmount.seconds(60)
    private static let groupMax = 1_024

    private let eventLoop: any EventLoop
    private let queues: StorageQueues
    private let events: [String: UInt64]
    private let shard: StorageShard
    private let server: ServiceLinkServer
    private let reader: SQLiteReader
    private var writer: StorageWriter<SQLiteWriter>
    private let wallClock: () -> UInt64
    private let turn = Turn()
    private var cleaning: RepeatedTask?
    private var expiry: Scheduled<Void>?

    /// Does what waits at the end of the present turn of the loop.
    private final class Turn {
        var work: (() -> Void)?
        private var isDue = false

        func comes(on eventLoop: any EventLoop) {
            guard !isDue else { return }
            isDue = true
            eventLoop.assumeIsolated().execute {
                self.isDue = false
                self.work?()
            }
        }
    }

    /// - Parameters:
    ///   - directory: keeps the database from one life to the next.
    ///   - wallClock: the time in milliseconds (UTC).
    package init(
        _ configuration: Configuration, in directory: String, messaging: [ServiceLinkAddress],
        _ link: ServiceLinkConfiguration, random: inout some RandomNumberGenerator,
        on eventLoop: any EventLoop, logger: Logger, wallClock: @escaping () -> UInt64
    ) throws {
        let rules = StorageRules(configuration)
        let metrics = StorageMetrics(MetricsRegistry())
        let options = SQLiteOptions(path: StorageCommands.file(directory), synchronous: .off)
        let source = UInt64.random(in: 1...UInt64(Int64.max), using: &random)
        writer = try StorageWriter(
            SQLiteWriter(options, source: source), rules: rules, now: Self.now(eventLoop, wallClock()))
        reader = try SQLiteReader(options)
        let bound = NIOLoopBound(turn, eventLoop: eventLoop)
        queues = StorageQueues(countMax: configuration[StorageKeys.queueMax], readers: 1) {
            bound.value.comes(on: eventLoop)
        }
        let outbox = StorageOutbox(
            to: messaging, link, queues: queues, metrics: metrics,
            probe: ReadinessRegistry(logger: logger).probe("messaging"), endOfTurn: .shared(on: eventLoop),
            logger: logger, interval: .seconds(1))
        let collector = EventCollector(
            from: messaging, link, queues: queues, metrics: metrics, endOfTurn: .shared(on: eventLoop),
            logger: logger, interval: .seconds(1), wallClock: wallClock)
        events = rules.events
        let shard = StorageShard(
            queues: queues, retention: rules.retention, outbox: outbox, collector: collector, on: eventLoop,
            metrics: metrics, logger: logger, wallClock: wallClock)
        self.shard = shard
        self.eventLoop = eventLoop
        self.wallClock = wallClock
        let handler = NIOLoopBound(shard, eventLoop: eventLoop)
        var configuration = ServiceLinkServerConfiguration(service: "storage")
        configuration.incarnation = random.next() | 1
        server = ServiceLinkServer(configuration, links: eventLoop, logger: logger) { _ in handler.value }
    }

    package func start() {
        turn.work = { [unowned self] in work() }
        shard.start()
        shard.keepEvents(for: events)
        let bound = NIOLoopBound(shard, eventLoop: eventLoop)
        cleaning = eventLoop.scheduleRepeatedTask(
            initialDelay: Self.cleaningInterval, delay: Self.cleaningInterval
        ) { _ in bound.value.cleanUp() }
        awaitExpiry()
    }

    /// The process is gone, and what it has acknowledged is in its directory.
    package func stop() {
        turn.work = nil
        cleaning?.cancel()
        expiry?.cancel()
        shard.stop()
        // The writer is the last to close, because only it can move the log into the database.
        reader.close()
        writer.close()
    }

    /// Takes a caller's transport.
    package func accept() -> any ServiceLinkTransportReceiver { server.receiver(on: eventLoop) }

    private var now: StorageNow { Self.now(eventLoop, wallClock()) }

    private static func now(_ eventLoop: any EventLoop, _ wall: UInt64) -> StorageNow {
        StorageNow(wall: wall, steady: eventLoop.now.uptimeNanoseconds / 1_000_000)
    }

    private func work() {
        let writes = queues.writes.take(countMax: Self.groupMax, until: .now()) ?? []
        if !writes.isEmpty || writer.isDue(now) { shard.written(writer.run(writes, now: now)) }
        let reads = queues.reads.take(countMax: Self.groupMax, until: .now()) ?? []
        if !reads.isEmpty { shard.read(reader.run(reads, now: wallClock())) }
        if queues.writes.count + queues.reads.count > 0 { turn.comes(on: eventLoop) }
        awaitExpiry()
    }

    /// Wakes when the ttl of a lock may end.
    private func awaitExpiry() {
        expiry?.cancel()
        expiry = writer.nextDeadline.map { deadline in
            eventLoop.assumeIsolated().scheduleTask(
                deadline: .uptimeNanoseconds(deadline * 1_000_000)
            ) { [unowned self] in work() }
        }
    }
}
