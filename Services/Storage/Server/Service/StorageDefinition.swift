import Foundation
import Logging
import NIOCore
import NIOPosix
import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// The storage service as a part of a program.
package enum StorageDefinition {
    private static let keys =
        CommonKeys.apps.declarations + ServiceLinkKeys.declarations + StorageKeys.declarations
    private static let summary = "Keeps metadata, locks and history in a database."

    /// The service that listens at `storage.listen` for edges in other processes.
    package static let service = ServiceDefinition(
        name: "storage", summary: summary,
        keys: keys,
        rules: ServiceLinkKeys.rules(listen: StorageKeys.listen) + [StorageKeys.messaging.rule]
            + StorageKeys.rules,
        check: problem,
        commands: StorageCommands.all(data: StorageKeys.data)
            + OperatorCommands.all(access),
        descriptors: descriptors
    ) { context in
        let configuration = context.configuration
        let data = configuration[StorageKeys.data]
        let parts = try await parts(
            context, data: data, messaging: StorageKeys.messaging.addresses(configuration),
            at: .address(configuration[StorageKeys.listen]))
        return Assembly([DataDirectory(StorageKeys.data, configuration)] + parts)
    }

    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        ServiceLinkConfiguration.problem(configuration, read)
            ?? DataDirectory.problem(StorageKeys.data, configuration)
    }

    /// The service for callers in the same process.
    ///
    /// - Parameter data: the key of the directory, which the program has taken for itself.
    package static func inProcess(
        _ endpoint: InProcessEndpoint, messaging: InProcessEndpoint, data: ConfigurationKey<String>
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: service.name, summary: summary, keys: keys, isInProcess: true, rules: StorageKeys.rules,
            commands: StorageCommands.all(data: data) + OperatorCommands.all(access(data)),
            descriptors: descriptors
        ) { context in
            Assembly(
                try await parts(
                    context, data: context.configuration[data], messaging: [.inProcess(messaging)],
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

    /// Each thread that reads opens the database, its log and at times a temporary file.
    @Sendable private static func descriptors(_ configuration: Configuration) -> Int {
        3 * configuration[StorageKeys.readers]
    }

    private static func parts(
        _ context: ServiceContext, data: String, messaging: [ServiceLinkAddress],
        at endpoint: ServiceLinkEndpoint
    ) async throws -> [any Service] {
        let configuration = context.configuration
        let rules = StorageRules(configuration)
        let metrics = StorageMetrics(
            context.metrics, apps: configuration[CommonKeys.apps].map(\.id),
            bytesMax: configuration[StorageKeys.bytesMax])
        let hasOthers = configuration[StorageKeys.database] != nil
        let threads = StorageThreads(
            .chosen(configuration, data: data, isNetworked: endpoint.isNetworked),
            readers: configuration[StorageKeys.readers],
            queueMax: configuration[StorageKeys.queueMax], rules: rules, metrics: metrics)
        let loop = context.eventLoopGroup.next()
        let link = try ServiceLinkConfiguration(context, isNetworked: endpoint.isNetworked)
        let probe = context.probe("messaging")
        let node = try await loop.submit {
            let outbox = StorageOutbox(
                to: messaging, link, queues: threads.queues, metrics: metrics, probe: probe,
                endOfTurn: .shared(on: loop), logger: context.logger, isActive: !hasOthers)
            let collector = EventCollector(
                from: messaging, link, queues: threads.queues, metrics: metrics,
                endOfTurn: .shared(on: loop), logger: context.logger, wallClock: WallClock.milliseconds)
            let shard = StorageShard(
                queues: threads.queues, retention: rules.retention, outbox: outbox, collector: collector,
                on: loop, metrics: metrics, logger: context.logger, hasOthers: hasOthers)
            return NIOLoopBound(StorageNode([shard]), eventLoop: loop)
        }.get()
        context.onChange(of: CommonKeys.apps.declarations + StorageKeys.live) { next in
            let rules = StorageRules(next)
            return {
                loop.execute {
                    node.value.keepHistory(for: rules.retention)
                    node.value.keepEvents(for: rules.events)
                }
            }
        }
        var server = ServiceLinkServerConfiguration(service: "storage")
        server.link = link
        server.announcesLeader = hasOthers
        server.fit(context, at: endpoint)
        let listener = ServiceLinkServer(server, links: loop, logger: context.logger) {
            node.value.handler(of: $0)
        }
        let services: [any Service] = [
            StorageDatabase(
                threads: threads, node: node, loop: loop, events: rules.events,
                probe: context.probe("database"),
                leaseProbe: hasOthers ? context.probe("lease") : nil),
            ServiceLinkListener(listener, at: endpoint),
        ]
        guard !endpoint.isNetworked else { return services }
        return services + [OperatorListener(listener, data: data, logger: context.logger)]
    }
}

extension StorageThreads.Stores {
    /// The engine that the configuration chooses.
    ///
    /// - Parameter isNetworked: whether callers in other processes reach this node.
    static func chosen(_ configuration: Configuration, data: String, isNetworked: Bool) -> Self {
        #if PostgreSQL
            if let url = configuration[StorageKeys.database] {
                let password = configuration[StorageKeys.databasePassword]?.revealed
                return .postgres(
                    PostgresOptions(
                        url: url, password: password, node: node(data),
                        address: isNetworked ? address(configuration) : ""))
            }
        #endif
        return .sqlite(
            SQLiteOptions(
                path: StorageCommands.file(data), synchronous: configuration[StorageKeys.synchronous],
                bytesMax: configuration[StorageKeys.bytesMax],
                cacheBytes: configuration[StorageKeys.cacheBytes]))
    }

    #if PostgreSQL
        /// Who has the directory is the only process that has it, and keeps the name over its restarts.
        private static func node(_ data: String) -> String {
            "\(ProcessInfo.processInfo.hostName):\(URL(fileURLWithPath: data).standardizedFileURL.path)"
        }

        /// Where the other services reach this node, if that is known.
        private static func address(_ configuration: Configuration) -> String {
            if let place = configuration[StorageKeys.advertise] { return "\(place)" }
            let listen = configuration[StorageKeys.listen]
            return listen.isEverywhere || listen.port == 0 ? "" : "\(listen)"
        }

        static func postgres(_ options: PostgresOptions) -> Self {
            Self(
                openWriter: { report throws(StoreFailure) in try PostgresWriter(options, report: report) },
                openReader: { () throws(StoreFailure) in try PostgresReader(options) })
        }
    #endif

    static func sqlite(_ options: SQLiteOptions) -> Self {
        Self(
            openWriter: { _ throws(StoreFailure) in try SQLiteWriter(options) },
            openReader: { () throws(StoreFailure) in try SQLiteReader(options) })
    }
}

/// The database while the service runs, and its recurring work: it removes old messages and unused channels,
/// and sends events to messaging.
private struct StorageDatabase: Service {
    private static let cleaningInterval = TimeAmount.seconds(1)

    let name = "storage database"
    let threads: StorageThreads
    let node: NIOLoopBound<StorageNode>
    let loop: any EventLoop
    let events: [String: UInt64]
    let probe: ReadinessProbe
    /// Nil where no other node can have the store.
    let leaseProbe: ReadinessProbe?

    func start() async throws {
        let (node, loop, probe, leaseProbe) = (self.node, self.loop, self.probe, self.leaseProbe)
        try await threads.start(
            StorageThreads.Listener(
                written: { outcome in loop.execute { node.value.shards[0].written(outcome) } },
                read: { outcomes in loop.execute { node.value.shards[0].read(outcomes) } },
                health: { failure in
                    // A node that another one leads can serve as soon as that is gone.
                    if let failure, failure.kind != .fenced {
                        probe.notReady(failure.reason)
                    } else {
                        probe.ready()
                    }
                },
                nodes: { nodes in
                    if let failure = nodes.failure {
                        leaseProbe?.notReady(failure)
                    } else {
                        leaseProbe?.ready()
                        loop.execute { node.value.learned(nodes) }
                    }
                }))
        try await loop.submit {
            node.value.start()
            node.value.keepEvents(for: events)
        }.get()
        loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.cleaningInterval) { _ in
            node.value.cleanUp()
        }
    }

    func shutdown(deadline: ContinuousClock.Instant) async {
        try? await loop.submit { node.value.stop() }.get()
        await threads.stop()
    }
}
