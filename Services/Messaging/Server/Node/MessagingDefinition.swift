import NIOCore
import NIOPosix
import RTMModel
import RTMRedis
import RTMRedisConfiguration
package import RTMServiceKit
package import RTMServiceLink
import RTMWire

/// The messaging service as a part of a program.
package enum MessagingDefinition {
    /// The service that listens at `messaging.listen` for the other services' processes.
    package static let service = ServiceDefinition(
        name: "messaging", summary: "Keeps the logs of channels and sends their entries to the edges.",
        keys: [MessagingKeys.listen.declaration] + ServiceLinkKeys.network + MessagingKeys.limits
            + MessagingKeys.journal,
        rules: MessagingKeys.rules + MessagingKeys.redis.rules
            + ServiceLinkKeys.rules(listen: MessagingKeys.listen),
        check: problem
    ) { context in
        try await assemble(
            context, at: .address(context.configuration[MessagingKeys.listen]), hasJournal: true)
    }

    /// What can't be used of the files that the configuration names.
    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        ServiceLinkConfiguration.problem(configuration, read)
            ?? MessagingKeys.redis.problem(configuration, read)
    }

    /// The service for callers in the same process.
    package static func inProcess(_ endpoint: InProcessEndpoint) -> ServiceDefinition {
        ServiceDefinition(
            name: service.name, summary: service.summary, keys: MessagingKeys.limits,
            rules: MessagingKeys.rules,
            keysElsewhere: [MessagingKeys.listen.declaration] + ServiceLinkKeys.network
                + MessagingKeys.journal
        ) { context in
            try await assemble(context, at: .inProcess(endpoint), hasJournal: false)
        }
    }

    private static func assemble(
        _ context: ServiceContext, at place: ServiceLinkPlace, hasJournal: Bool
    ) async throws -> Assembly {
        let loop = context.eventLoopGroup.next()
        let limits = BrokerLimits(context.configuration)
        let metrics = MessagingMetrics(context.metrics)
        let node = try await loop.submit {
            NIOLoopBound(
                MessagingNode(
                    limits: limits, firstEpoch: EmbeddedBroker.randomFirstEpoch(), metrics: metrics,
                    logger: context.logger, clock: WallClock.milliseconds),
                eventLoop: loop)
        }.get()
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.link = try ServiceLinkConfiguration(context, isNetworked: place.isNetworked)
        let server = ServiceLinkServer(configuration, links: loop, logger: context.logger) { _ in node.value }
        let journal = hasJournal ? try await Journal(context, limits, of: node, on: loop) : nil
        let rest: [any Service] = [LogSweep(node: node, loop: loop), ServiceLinkListener(server, at: place)]
        return Assembly((journal.map { [$0] } ?? []) + rest)
    }
}

/// The journal of a node, while the service runs.
private struct Journal: Service {
    let name = "journal"
    private let node: NIOLoopBound<MessagingNode>
    private let redis: NIOLoopBound<RedisJournal>
    private let loop: any EventLoop

    /// Nil where no Redis is configured.
    init?(
        _ context: ServiceContext, _ limits: BrokerLimits, of node: NIOLoopBound<MessagingNode>,
        on loop: any EventLoop
    ) async throws {
        let configuration = context.configuration
        let keys = MessagingKeys.redis
        guard let redis = try keys.redis(configuration, { try TextFile.read($0) }) else { return nil }
        keys.follow(context, with: redis)
        let names = JournalNames(
            prefix: configuration[keys.prefix], node: "messaging \(configuration[MessagingKeys.listen])",
            partitions: limits.partitionCount)
        let journalLimits = JournalLimits(
            lease: configuration[MessagingKeys.journalLease].milliseconds, retention: limits.ageMax,
            bytesMax: configuration[MessagingKeys.journalBytesMax],
            backlogMax: configuration[MessagingKeys.journalBacklogMax])
        let metrics = JournalMetrics(context.metrics)
        let probe = context.probe("journal")
        self.node = node
        self.loop = loop
        self.redis = try await loop.submit {
            NIOLoopBound(
                RedisJournal(
                    redis, names: names, limits: journalLimits, on: loop, probe: probe, metrics: metrics,
                    logger: context.logger),
                eventLoop: loop)
        }.get()
    }

    func start() async throws {
        try await loop.submit { node.value.keep(redis.value, EndOfTurn.shared(on: loop)) }.get()
    }

    /// Another node may lead when the links of this one are closed and what it said is written.
    func shutdown(deadline: ContinuousClock.Instant) async {
        let promise = loop.makePromise(of: Void.self)
        loop.execute { redis.value.shutdown { promise.succeed() } }
        try? await promise.futureResult.get()
    }
}

/// Walks over the logs, some at a time, so that entries that are too old leave memory although nobody asks
/// for them.
private struct LogSweep: Service {
    /// At this pace it takes less than two minutes to visit a million channels, and one step takes well under
    /// a millisecond.
    private static let interval = TimeAmount.milliseconds(100)
    private static let channelsPerStep = 1_000

    let name = "log sweep"
    let node: NIOLoopBound<MessagingNode>
    let loop: any EventLoop

    func start() async throws {
        loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            guard node.value.sweep(Self.channelsPerStep) else { return }
            // The event loop has no time for it.
            NIOThreadPool.singleton.submit { _ in MachineMemory.release() }
        }
    }
}
