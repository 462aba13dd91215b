import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMRedis
package import RTMServiceKit
package import RTMServiceLink
import RTMWire

/// The messaging service of a program.
package enum MessagingDefinition {
    /// The service that listens at `messaging.listen` for the other services' processes.
    package static let service = ServiceDefinition(
        name: "messaging", summary: "Keeps the logs of channels and sends their entries to the edges.",
        keys: keys,
        rules: MessagingKeys.rules + MessagingKeys.journalRules + MessagingKeys.redis.rules
            + ServiceLinkKeys.rules(listen: MessagingKeys.listen),
        check: problem,
        descriptors: descriptors
    ) { context in
        try await assemble(
            context, at: .address(context.configuration[MessagingKeys.listen]), hasJournal: true)
    }

    private static let keys = ServiceLinkKeys.declarations + MessagingKeys.declarations

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
            name: service.name, summary: service.summary, keys: keys, isInProcess: true,
            rules: MessagingKeys.rules
        ) { context in
            try await assemble(context, at: .inProcess(endpoint), hasJournal: false)
        }
    }

    private static func assemble(
        _ context: ServiceContext, at endpoint: ServiceLinkEndpoint, hasJournal: Bool
    ) async throws -> Assembly {
        let loop = context.eventLoopGroup.next()
        let shards = hasJournal ? context.configuration[MessagingKeys.shards] : 1
        let limits = BrokerLimits(context.configuration)
        let metrics = MessagingMetrics(context.metrics)
        let page = context.page("/shards")
        let settings = hasJournal ? try await JournalSettings(context, limits) : nil
        if hasJournal, settings == nil {
            context.logger.warning(
                "this node leads with new logs: clients that come back to older ones get gaps",
                metadata: ["cause": "without messaging.redis.endpoints there is no journal"])
        }
        let (node, journals) = try await loop.submit {
            let firstEpoch = Broker.randomFirstEpoch()
            let loggers = (0..<shards).map { context.logger(ofShard: $0, among: shards) }
            let client = settings.map {
                RedisClient($0.redis, scripts: JournalScripts.all, on: loop, logger: context.logger)
            }
            let journals = client.flatMap { settings?.journals($0, limits, loggers) }
            let node = MessagingNode(
                (0..<shards).map { shard in
                    let limits = limits.share(of: shard, among: shards)
                    return MessagingShard(
                        limits: limits, firstEpoch: limits.firstEpoch(from: firstEpoch),
                        journal: journals.map {
                            ShardJournal(redis: $0[shard], endOfTurn: .shared(on: loop))
                        },
                        metrics: metrics, logger: loggers[shard], clock: WallClock.milliseconds)
                }, metrics: metrics, page: page, clock: WallClock.milliseconds)
            let registry = client.flatMap { client in
                settings?.registry(client, journals ?? [], logger: context.logger) { node.learned($0) }
            }
            let bound = NIOLoopBound(node, eventLoop: loop)
            return (
                bound,
                registry.map {
                    Journals(node: bound, registry: NIOLoopBound($0, eventLoop: loop), loop: loop)
                }
            )
        }.get()
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.link = try ServiceLinkConfiguration(context, isNetworked: endpoint.isNetworked)
        configuration.spread(over: shards)
        if hasJournal {
            configuration.relays = ServiceLinkRelays(
                to: { node.value.address(of: $0) }, observe: { metrics.count($0) })
        }
        configuration.fit(context, at: endpoint)
        let server = ServiceLinkServer(configuration, links: loop, logger: context.logger) {
            node.value.handler(of: $0)
        }
        let rest: [any Service] = [
            LogSweep(node: node, loop: loop), ServiceLinkListener(server, at: endpoint),
        ]
        // The journals end first: links that close would record that everybody is offline.
        return Assembly(rest + (journals.map { [$0] } ?? []))
    }
}

/// The journals of a node, as they are configured.
private struct JournalSettings: Sendable {
    let redis: RedisConfiguration
    private let prefix: String
    private let node: String
    private let layout: String
    private let limits: JournalLimits
    private let confirmation: JournalConfirmation
    private let metrics: JournalMetrics
    private let probes: [ReadinessProbe]

    /// Nil where no Redis is configured.
    init?(_ context: ServiceContext, _ brokerLimits: BrokerLimits) async throws {
        let configuration = context.configuration
        let keys = MessagingKeys.redis
        guard let redis = try keys.redis(configuration, { try TextFile.read($0) }) else { return nil }
        keys.follow(context, with: redis)
        let shards = configuration[MessagingKeys.shards]
        let partitions = brokerLimits.share(of: 0, among: shards).partitionCount
        self.redis = redis
        prefix = configuration[keys.prefix]
        node = await Self.name(configuration, redis.deployment).text
        layout = "\(shards) shards of \(partitions) partitions"
        limits = JournalLimits(
            configuration, retention: brokerLimits.ageMax, reconnect: redis.reconnectMax.milliseconds)
        confirmation = JournalConfirmation(
            configuration[MessagingKeys.durability], lease: limits.lease, shards: shards)
        metrics = JournalMetrics(context.metrics, shards: shards)
        probes = context.probes("journal", shards: shards)
    }

    private static func name(
        _ configuration: Configuration, _ redis: RedisConfiguration.Deployment
    ) async -> NodeName {
        if let advertised = configuration[MessagingKeys.advertise] { return NodeName(advertised) }
        var endpoint = configuration[MessagingKeys.listen]
        if endpoint.isEverywhere, let own = await OwnAddress(towards: redis.places).find() {
            endpoint.host = own
        }
        // Several nodes may listen at the same address, each on a machine or in a container of its own.
        return NodeName(endpoint)
    }

    /// The journals of all shards, which share a client.
    func journals(
        _ client: RedisClient, _ brokerLimits: BrokerLimits, _ loggers: [Logger]
    ) -> [RedisJournal] {
        probes.indices.map { shard in
            let names = JournalNames(
                prefix: prefix, of: brokerLimits.share(of: shard, among: probes.count), node: node,
                layout: layout)
            return RedisJournal(
                client, names: names, limits: limits, confirmation: confirmation, probe: probes[shard],
                metrics: metrics, logger: loggers[shard])
        }
    }

    func registry(
        _ client: RedisClient, _ journals: [RedisJournal], logger: Logger,
        didLearnNodes: @escaping ([String]) -> Void
    ) -> NodeRegistry {
        NodeRegistry(
            client, prefix: prefix, node: node, layout: layout, journals: journals, lease: limits.lease,
            logger: logger, didLearnNodes: didLearnNodes)
    }
}

extension RedisConfiguration.Deployment {
    /// Where Redis is, or who knows it, over a network.
    fileprivate var places: [HostPort] {
        let endpoints =
            switch self {
            case .server(let endpoint): [endpoint]
            case .sentinel(let endpoints, _): endpoints
            case .cluster(let seeds): seeds
            }
        return endpoints.compactMap {
            if case .tcp(let host, let port) = $0 { HostPort(host: host, port: port) } else { nil }
        }
    }
}

/// The journals of a node's shards, while the service runs.
private struct Journals: Service {
    let name = "journal"
    let node: NIOLoopBound<MessagingNode>
    let registry: NIOLoopBound<NodeRegistry>
    let loop: any EventLoop

    func start() async throws {
        try await loop.submit {
            for shard in node.value.shards { shard.startJournal() }
            registry.value.start()
        }.get()
    }

    /// Other nodes lead when everything is written.
    func shutdown(deadline: ContinuousClock.Instant) async {
        let promise = loop.makePromise(of: Void.self)
        let time = max(.zero, deadline - .now).milliseconds
        loop.execute { registry.value.shutdown(within: time) { promise.succeed() } }
        try? await promise.futureResult.get()
    }
}

/// Visits the logs, some at a time, so that entries that are too old leave memory although nobody reads
/// them.
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
