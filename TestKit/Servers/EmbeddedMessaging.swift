import Logging
import NIOCore
import RTMMessagingServer
import RTMServiceKit
import RTMServiceLink

/// A messaging node of one shard, without journal and sockets: whoever makes it brings the callers, the time
/// and the chance.
final class EmbeddedMessaging {
    /// Entries that are too old leave memory within this time.
    private static let sweepInterval = TimeAmount.seconds(10)
    private static let channelsPerSweep = 1_000

    private let shard: MessagingShard
    private let server: ServiceLinkServer
    private let eventLoop: any EventLoop
    private var sweep: RepeatedTask?

    /// - Parameter clock: the time in milliseconds (UTC).
    init(
        _ configuration: Configuration, random: inout some RandomNumberGenerator, on eventLoop: any EventLoop,
        logger: Logger, clock: @escaping () -> UInt64
    ) {
        let shard = MessagingShard(
            limits: BrokerLimits(configuration), firstEpoch: random.next() >> 8, secret: random.next(),
            metrics: MessagingMetrics(MetricsRegistry()), logger: logger, clock: clock)
        self.shard = shard
        self.eventLoop = eventLoop
        let bound = NIOLoopBound(shard, eventLoop: eventLoop)
        var link = ServiceLinkServerConfiguration(service: "messaging")
        link.incarnation = random.next() | 1
        server = ServiceLinkServer(link, links: eventLoop, logger: logger) { _ in bound.value }
    }

    func start() {
        let bound = NIOLoopBound(shard, eventLoop: eventLoop)
        sweep = eventLoop.scheduleRepeatedTask(
            initialDelay: Self.sweepInterval, delay: Self.sweepInterval
        ) { _ in bound.value.sweep(Self.channelsPerSweep) }
    }

    /// The process is gone, with all its logs.
    func stop() { sweep?.cancel() }

    /// Takes a caller's transport.
    func accept() -> any ServiceLinkTransportReceiver { server.receiver(on: eventLoop) }
}
