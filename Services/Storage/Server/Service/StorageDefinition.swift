import Foundation
import Logging
import NIOCore
import NIOPosix
import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// The storage service as a part of a program.
package enum StorageDefinition {
    private static let name = "storage"
    private static let keys =
        CommonKeys.apps.declarations + ServiceLinkKeys.declarations + StorageKeys.declarations
    private static let summary = "Keeps metadata, locks and history in a database."

    /// The service that listens at `storage.listen` for edges in other processes.
    ///
    /// - Parameter engine: that of `storage.database`; nil in a program that was built without it.
    package static func service(_ engine: (any DatabaseEngine)? = nil) -> ServiceDefinition {
        ServiceDefinition(
            name: name, summary: summary,
            keys: keys,
            rules: ServiceLinkKeys.rules(listen: StorageKeys.listen) + [StorageKeys.messaging.rule]
                + StorageKeys.rules(engine),
            check: problem,
            commands: StorageCommands.all(data: StorageKeys.data, engine) + OperatorCommands.all(access),
            descriptors: descriptors
        ) { context in
            let configuration = context.configuration
            let data = configuration[StorageKeys.data]
            let parts = try await parts(
                context, engine, data: data, messaging: StorageKeys.messaging.addresses(configuration),
                at: .address(configuration[StorageKeys.listen]))
            return Assembly([DataDirectory(StorageKeys.data, configuration)] + parts)
        }
    }

    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        ServiceLinkConfiguration.problem(configuration, read)
            ?? DataDirectory.problem(StorageKeys.data, configuration)
    }

    /// The service for callers in the same process.
    ///
    /// - Parameters:
    ///   - data: the key of the directory, which the program has taken for itself.
    ///   - engine: that of `storage.database`; nil in a program that was built without it.
    package static func inProcess(
        _ endpoint: InProcessEndpoint, messaging: InProcessEndpoint, data: ConfigurationKey<String>,
        engine: (any DatabaseEngine)? = nil
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: name, summary: summary, keys: keys, isInProcess: true, rules: StorageKeys.rules(engine),
            commands: StorageCommands.all(data: data, engine) + OperatorCommands.all(access(data)),
            descriptors: descriptors
        ) { context in
            Assembly(
                try await parts(
                    context, engine, data: context.configuration[data], messaging: [.inProcess(messaging)],
                    at: .inProcess(endpoint)))
        }
    }

    /// Operators reach the service at its port.
    private static let access = OperatorCommands.Access(
        address: { configuration in
            let listen = configuration[StorageKeys.listen]
            return .tcp(host: listen.host, port: listen.port)
        },
        link: { try ServiceLinkConfiguration($0) })

    /// Operators reach the service by a socket in its data directory.
    private static func access(_ data: ConfigurationKey<String>) -> OperatorCommands.Access {
        OperatorCommands.Access(
            address: { .path(OperatorListener.path($0[data])) },
            link: { configuration in
                var link = ServiceLinkConfiguration()
                link.secret = ServiceLinkSecret(configuration[ServiceLinkKeys.secret]?.revealed ?? "")
                return link
            })
    }

    /// Each thread that reads opens the database, its log and at times a temporary file. Over PostgreSQL it
    /// has a connection, and each shard has threads and links of its own.
    @Sendable private static func descriptors(_ configuration: Configuration) -> Int {
        let readers = configuration[StorageKeys.readers]
        guard configuration[StorageKeys.database] != nil else { return 3 * readers }
        return 1 + configuration[StorageKeys.shards] * (1 + readers + 8)
    }

    private static func parts(
        _ context: ServiceContext, _ engine: (any DatabaseEngine)?, data: String,
        messaging: [ServiceLinkAddress], at endpoint: ServiceLinkEndpoint
    ) async throws -> [any Service] {
        let configuration = context.configuration
        let rules = StorageRules(configuration)
        let metrics = StorageMetrics(
            context.metrics, apps: configuration[CommonKeys.apps].map(\.id),
            bytesMax: configuration[StorageKeys.bytesMax])
        let chosen = ChosenStores(
            configuration, engine, data: data, isNetworked: endpoint.isNetworked,
            connections: metrics.connections)
        // Whoever connects reads them for each connection.
        if let url = configuration[StorageKeys.database], let path = engine?.authorities(in: url) {
            context.certificates.follow(StorageKeys.database, authoritiesIn: path)
        }
        let hasOthers = chosen.membership != nil
        let threads = chosen.shards.map { stores in
            StorageThreads(
                stores, readers: configuration[StorageKeys.readers],
                queueMax: configuration[StorageKeys.queueMax], rules: rules, metrics: metrics)
        }
        for threads in threads { threads.publish(InboxRules(configuration)) }
        let loop = context.eventLoopGroup.next()
        let link = try ServiceLinkConfiguration(context, isNetworked: endpoint.isNetworked)
        let probes = context.probes("messaging", shards: threads.count)
        let node = try await loop.submit {
            let shards = threads.enumerated().map { shard, threads in
                let logger = context.logger(ofShard: shard, among: chosen.shards.count)
                let outbox = StorageOutbox(
                    to: messaging, link, queues: threads.queues, metrics: metrics, probe: probes[shard],
                    endOfTurn: .shared(on: loop), logger: logger)
                let collector = EventCollector(
                    from: messaging, link, queues: threads.queues, metrics: metrics,
                    endOfTurn: .shared(on: loop), logger: logger, wallClock: WallClock.milliseconds)
                return StorageShard(
                    shard, among: chosen.shards.count, queues: threads.queues, retention: rules.retention,
                    outbox: outbox, collector: collector,
                    on: loop, metrics: metrics, logger: logger, hasOthers: hasOthers)
            }
            return NIOLoopBound(StorageNode(shards), eventLoop: loop)
        }.get()
        context.onChange(of: CommonKeys.apps.declarations + StorageKeys.live) { next in
            let (rules, inbox) = (StorageRules(next), InboxRules(next))
            return {
                for threads in threads { threads.publish(inbox) }
                loop.execute {
                    node.value.keepHistory(for: rules.retention)
                    node.value.keepEvents(for: rules.events)
                }
            }
        }
        var server = ServiceLinkServerConfiguration(service: "storage")
        server.link = link
        server.announcesLeader = hasOthers
        server.spread(over: threads.count)
        server.fit(context, at: endpoint)
        let listener = ServiceLinkServer(server, links: loop, logger: context.logger) {
            node.value.handler(of: $0)
        }
        let services: [any Service] = [
            StorageDatabase(
                threads: threads, membership: chosen.membership, node: node, loop: loop,
                events: rules.events,
                probes: context.probes("database", shards: threads.count),
                leaseProbe: hasOthers ? context.probe("lease") : nil, metrics: metrics,
                logger: context.logger),
            ServiceLinkListener(listener, at: endpoint),
        ]
        let transfer = chosen.membership.map { ShardTransfer(membership: $0, loop: loop) }
        let last: [any Service] = transfer.map { [$0] } ?? []
        guard !endpoint.isNetworked else { return services + last }
        return services + [OperatorListener(listener, data: data, logger: context.logger)] + last
    }
}

/// The database while the service runs, and its recurring work: it removes old messages and unused channels,
/// and sends events to messaging.
private struct StorageDatabase: Service {
    private static let cleaningInterval = TimeAmount.seconds(1)
    private static let joiningInterval = Duration.seconds(1)

    let name = "storage database"
    /// By shard.
    let threads: [StorageThreads]
    /// Nil where no other node can have the database.
    let membership: (any StorageMembership)?
    let node: NIOLoopBound<StorageNode>
    let loop: any EventLoop
    let events: [String: UInt64]
    /// By shard.
    let probes: [ReadinessProbe]
    let leaseProbe: ReadinessProbe?
    let metrics: StorageMetrics
    let logger: Logger

    func start() async throws {
        try await join()
        do {
            for shard in threads.indices { try await threads[shard].start(listener(of: shard)) }
        } catch {
            if let membership { try? await NIOThreadPool.singleton.runIfActive { membership.end() } }
            throw error
        }
        try await loop.submit {
            node.value.start()
            node.value.keepEvents(for: events)
        }.get()
        loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.cleaningInterval) { [node] _ in
            node.value.cleanUp()
        }
    }

    /// Waits for the database as long as it can't be reached: it may be started together with the services.
    private func join() async throws {
        guard let membership else { return }
        var reported: String?
        while let failure = try await join(membership) {
            guard failure.kind == .unreachable else {
                throw ServiceFailure.unavailable("the database", failure.sentence)
            }
            leaseProbe?.notReady(failure.reason)
            if failure.reason != reported {
                logger.warning("the database can't be reached", metadata: ["reason": "\(failure.reason)"])
                reported = failure.reason
            }
            try await Task.sleep(for: Self.joiningInterval)
        }
    }

    private func join(_ membership: any StorageMembership) async throws -> StoreFailure? {
        let (node, loop, probe, metrics) = (self.node, self.loop, self.leaseProbe, self.metrics)
        return try await NIOThreadPool.singleton.runIfActive {
            do throws(StoreFailure) {
                try membership.start { nodes in
                    if let failure = nodes.failure {
                        probe?.notReady(failure)
                    } else {
                        probe?.ready(nodes.durability?.sentence)
                        metrics.synchronousStandbys.set(nodes.durability?.standbys ?? 0)
                        loop.execute { node.value.learned(nodes) }
                    }
                }
                return nil
            } catch {
                return error
            }
        }
    }

    private func listener(of shard: Int) -> StorageThreads.Listener {
        let (node, loop, probe) = (self.node, self.loop, probes[shard])
        return StorageThreads.Listener(
            written: { outcome in loop.execute { node.value.shards[shard].written(outcome) } },
            read: { outcomes in loop.execute { node.value.shards[shard].read(outcomes) } },
            health: { failure in
                if let failure { probe.notReady(failure.reason) } else { probe.ready() }
            })
    }

    func shutdown(deadline: ContinuousClock.Instant) async {
        try? await loop.submit { node.value.stop() }.get()
        await withTaskGroup(of: Void.self) { group in
            for threads in threads { group.addTask { await threads.stop() } }
        }
        if let membership {
            try? await NIOThreadPool.singleton.runIfActive { membership.end() }
        }
    }
}

/// Gives the shards to the other nodes before the links close: every call that is under way is answered, and
/// callers learn who leads next.
private struct ShardTransfer: Service {
    let name = "transfer of shards"
    let membership: any StorageMembership
    let loop: any EventLoop

    func shutdown(deadline: ContinuousClock.Instant) async {
        let isGiven = try? await NIOThreadPool.singleton.runIfActive { membership.leave() }
        guard isGiven == true else { return }
        try? await loop.scheduleTask(in: StorageShard.transferTime) {}.futureResult.get()
    }
}
