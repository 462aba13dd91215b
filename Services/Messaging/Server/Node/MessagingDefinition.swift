import NIOCore
import NIOPosix
import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// The messaging service as a part of a program.
package enum MessagingDefinition {
    /// The service that listens at `messaging.listen` for the other services' processes.
    package static let service = ServiceDefinition(
        name: "messaging", summary: "Keeps the logs of channels and sends their entries to the edges.",
        keys: [MessagingKeys.listen.declaration] + ServiceLinkKeys.network + MessagingKeys.limits,
        rules: MessagingKeys.rules + ServiceLinkKeys.rules(listen: MessagingKeys.listen),
        check: ServiceLinkConfiguration.problem
    ) { context in
        try await assemble(context, at: .address(context.configuration[MessagingKeys.listen]))
    }

    /// The service for callers in the same process.
    package static func inProcess(_ endpoint: InProcessEndpoint) -> ServiceDefinition {
        ServiceDefinition(
            name: service.name, summary: service.summary, keys: MessagingKeys.limits,
            rules: MessagingKeys.rules,
            keysElsewhere: [MessagingKeys.listen.declaration] + ServiceLinkKeys.network
        ) { context in
            try await assemble(context, at: .inProcess(endpoint))
        }
    }

    private static func assemble(_ context: ServiceContext, at place: ServiceLinkPlace) async throws
        -> Assembly
    {
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
        return Assembly([LogSweep(node: node, loop: loop), ServiceLinkListener(server, at: place)])
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
