import NIOCore
import NIOPosix
import RTMModel
import RTMRedis
package import RTMServiceKit
package import RTMServiceLink
import RTMWire

/// The presence service as a part of a program.
package enum PresenceDefinition {
    private static let keys = ServiceLinkKeys.declarations + PresenceKeys.declarations
    private static let summary = "Knows who is in which channel, and announces changes to the other users."

    /// The service that listens at `presence.listen` for edges in other processes, and connects to messaging
    /// at its address.
    package static let service = ServiceDefinition(
        name: "presence", summary: summary,
        keys: keys,
        rules: PresenceKeys.rules + PresenceKeys.redis.rules
            + [PresenceKeys.redisRule, PresenceKeys.messaging.rule]
            + ServiceLinkKeys.rules(listen: PresenceKeys.listen),
        check: problem
    ) { context in
        try await assemble(
            context, at: .address(context.configuration[PresenceKeys.listen]),
            messaging: PresenceKeys.messaging.addresses(context.configuration), hasRedis: true)
    }

    /// What can't be used of the files that the configuration names.
    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        ServiceLinkConfiguration.problem(configuration, read)
            ?? PresenceKeys.redis.problem(configuration, read)
    }

    /// The service for callers in the same process; messaging is in that process, too.
    package static func inProcess(
        _ endpoint: InProcessEndpoint, messaging: InProcessEndpoint
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: "presence", summary: summary, keys: keys, isInProcess: true, rules: PresenceKeys.rules
        ) { context in
            try await assemble(
                context, at: .inProcess(endpoint), messaging: [.inProcess(messaging)], hasRedis: false)
        }
    }

    private static func assemble(
        _ context: ServiceContext, at endpoint: ServiceLinkEndpoint, messaging: [ServiceLinkAddress],
        hasRedis: Bool
    ) async throws -> Assembly {
        let configuration = context.configuration
        let rules = PresenceRules(configuration)
        let link = try ServiceLinkConfiguration(context, isNetworked: endpoint.isNetworked)
        let redis = hasRedis ? try PresenceKeys.redis.redis(configuration) { try TextFile.read($0) } : nil
        if let redis { PresenceKeys.redis.follow(context, with: redis) }
        let loop = context.eventLoopGroup.next()
        let metrics = PresenceMetrics(context.metrics)
        metrics.goneBound.set(goneBound(configuration, overRedis: redis != nil))
        let settings = PresenceNode.Settings(
            messaging: messaging, link: link, states: rules.states,
            leaseTimeToLive: configuration[PresenceKeys.leaseTimeToLive])
        let probe = context.probe("messaging")
        let redisProbe = redis.map { _ in context.probe("redis") }
        let node = try await loop.submit {
            let store = store(rules, redis, context, redisProbe, metrics.redis, on: loop)
            return NIOLoopBound(
                PresenceNode(
                    settings, store: store, on: loop, metrics: metrics, messagingProbe: probe,
                    logger: context.logger),
                eventLoop: loop)
        }.get()
        var server = ServiceLinkServerConfiguration(service: "presence")
        server.link = link
        server.fit(context, at: endpoint)
        let links = ServiceLinkServer(server, links: loop, logger: context.logger) { _ in node.value }
        let sweep = configuration[PresenceKeys.sweepInterval]
        return Assembly([
            PresenceLife(node: node, loop: loop, sweepInterval: sweep),
            ServiceLinkListener(links, at: endpoint),
        ])
    }

    private static func store(
        _ rules: PresenceRules, _ redis: RedisConfiguration?, _ context: ServiceContext,
        _ probe: ReadinessProbe?, _ metrics: RedisMetrics, on loop: any EventLoop
    ) -> any PresenceStore {
        guard let redis else {
            return InMemoryPresenceStore(rules, source: .random(in: 1...UInt64.max)) {
                NIODeadline.now().uptimeNanoseconds / 1_000_000
            }
        }
        let store = RedisPresenceStore(
            redis, prefix: context.configuration[PresenceKeys.redis.prefix], rules: rules, on: loop,
            probe: probe, logger: context.logger)
        store.client.observer = metrics
        return store
    }

    /// The longest time until other users learn that a user of a dead edge is gone, in whole seconds. First
    /// the lease ends that the edge renewed last, then the presence timeouts end, then the users of a big
    /// channel get the next interval, and each of these steps is noticed by a sweep. Over Redis the
    /// node that has claimed a step may die, and its claim has to end first.
    static func goneBound(_ configuration: Configuration, overRedis: Bool) -> Int {
        var sum =
            configuration[PresenceKeys.leaseTimeToLive] + .seconds(Limits.presenceTimeout.upperBound)
            + configuration[PresenceKeys.interval] + configuration[PresenceKeys.sweepInterval] * 3
        if overRedis { sum += .milliseconds(RedisPresenceStore.claim) }
        return Int((sum.milliseconds + 999) / 1_000)
    }
}

/// Starts the node, sweeps it at a regular interval, and shuts it down.
private struct PresenceLife: Service {
    let name = "presence node"
    let node: NIOLoopBound<PresenceNode>
    let loop: any EventLoop
    let sweepInterval: Duration

    func start() async throws {
        let interval = TimeAmount.milliseconds(Int64(sweepInterval.milliseconds))
        try await loop.submit {
            node.value.start()
            loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
                node.value.sweep()
            }
        }.get()
    }

    func shutdown(deadline: ContinuousClock.Instant) async {
        try? await loop.submit { node.value.shutdown() }.get()
    }
}
