import Logging
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
        rules: MessagingKeys.rules + MessagingKeys.journalRules + MessagingKeys.redis.rules
            + ServiceLinkKeys.rules(listen: MessagingKeys.listen),
        check: problem,
        descriptors: descriptors
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

    /// Each loop of an edge has a link for each shard.
    @Sendable private static func descriptors(_ configuration: Configuration) -> Int {
        8 * configuration[MessagingKeys.shards]
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
        let shards = hasJournal ? context.configuration[MessagingKeys.shards] : 1
        let limits = BrokerLimits(context.configuration)
        let metrics = MessagingMetrics(context.metrics)
        let page = context.page("/shards")
        let node = try await loop.submit {
            let era = Broker.randomFirstEpoch()
            let parts = (0..<shards).map { shard in
                let part = limits.part(shard, among: shards)
                var logger = context.logger
                if shards > 1 { logger[metadataKey: "shard"] = "\(shard)" }
                return MessagingShard(
                    limits: part, firstEpoch: part.firstEpoch(in: era), metrics: metrics, logger: logger,
                    clock: WallClock.milliseconds)
            }
            return NIOLoopBound(
                MessagingNode(parts, metrics: metrics, page: page, clock: WallClock.milliseconds),
                eventLoop: loop)
        }.get()
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.link = try ServiceLinkConfiguration(context, isNetworked: place.isNetworked)
        configuration.shards = shards
        // A caller has a link for each shard, and opens all of them together.
        configuration.linksMax *= shards
        configuration.strangersMax *= shards
        configuration.strangersPerAddressMax *= shards
        if hasJournal {
            configuration.relays = ServiceLinkRelays(
                to: { node.value.address(of: $0) }, observe: { metrics.count($0) })
        }
        configuration.fit(context, at: place)
        let server = ServiceLinkServer(configuration, links: loop, logger: context.logger) {
            node.value.handler(of: $0)
        }
        let journals = hasJournal ? try await Journals(context, limits, of: node, on: loop) : nil
        let rest: [any Service] = [LogSweep(node: node, loop: loop), ServiceLinkListener(server, at: place)]
        // The journals end first: links that close would tell them that everybody is offline.
        return Assembly(rest + (journals.map { [$0] } ?? []))
    }
}

/// The journals of a node's shards, while the service runs.
private struct Journals: Service {
    private struct Parts {
        let journals: [RedisJournal]
        let registry: NodeRegistry
    }

    let name = "journal"
    private let node: NIOLoopBound<MessagingNode>
    private let parts: NIOLoopBound<Parts>
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
        let shards = configuration[MessagingKeys.shards]
        let (prefix, lease) = (configuration[keys.prefix], configuration[MessagingKeys.journalLease])
        let name = await Self.name(configuration, redis.deployment).text
        let parts = (0..<shards).map { limits.part($0, among: shards) }
        let layout = "\(shards) shards of \(parts[0].partitionCount) partitions"
        let journalLimits = JournalLimits(
            lease: lease.milliseconds, retention: limits.ageMax,
            bytesMax: configuration[MessagingKeys.journalBytesMax],
            backlogMax: configuration[MessagingKeys.journalBacklogMax],
            reconnect: redis.reconnectMax.milliseconds)
        let confirmation = JournalConfirmation(
            configuration[MessagingKeys.durability], lease: lease.milliseconds, shards: shards)
        let metrics = JournalMetrics(context.metrics, shards: shards)
        let probes = (0..<shards).map { context.probe(shards == 1 ? "journal" : "journal \($0)") }
        self.node = node
        self.loop = loop
        self.parts = try await loop.submit {
            // Callers may come before the journals are started.
            for shard in node.value.shards { shard.lead = nil }
            let client = RedisClient(
                redis, scripts: JournalScripts.all, on: loop, logger: context.logger)
            let journals = (0..<shards).map { shard in
                RedisJournal(
                    client,
                    names: JournalNames(prefix: prefix, of: parts[shard], node: name, layout: layout),
                    limits: journalLimits,
                    confirmation: confirmation, probe: probes[shard], metrics: metrics,
                    logger: node.value.shards[shard].logger)
            }
            let registry = NodeRegistry(
                client, prefix: prefix, node: name, layout: layout, journals: journals,
                lease: lease.milliseconds, logger: context.logger, tell: node.value.learned)
            return NIOLoopBound(Parts(journals: journals, registry: registry), eventLoop: loop)
        }.get()
    }

    private static func name(
        _ configuration: Configuration, _ redis: RedisConfiguration.Deployment
    ) async -> NodeName {
        if let advertised = configuration[MessagingKeys.advertise] { return NodeName(advertised) }
        var place = configuration[MessagingKeys.listen]
        if place.isEverywhere, let own = await OwnAddress(towards: redis).find() { place.host = own }
        // Several nodes may listen at the same address, each on a machine or in a container of its own.
        return NodeName(place)
    }

    func start() async throws {
        try await loop.submit {
            let endOfTurn = EndOfTurn.shared(on: loop)
            for (shard, journal) in zip(node.value.shards, parts.value.journals) {
                shard.keep(journal, endOfTurn)
            }
            parts.value.registry.start()
        }.get()
    }

    /// Other nodes lead when what this one said is written.
    func shutdown(deadline: ContinuousClock.Instant) async {
        let promise = loop.makePromise(of: Void.self)
        let time = max(.zero, deadline - .now).milliseconds
        loop.execute { parts.value.registry.shutdown(within: time) { promise.succeed() } }
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
