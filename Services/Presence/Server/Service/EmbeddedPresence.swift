package import Logging
package import NIOCore
package import RTMServiceKit
package import RTMServiceLink

/// A presence node with its rosters in memory and without sockets: whoever makes it brings the callers, the
/// time and the chance.
package final class EmbeddedPresence {
    let node: PresenceNode
    private let server: ServiceLinkServer
    private let eventLoop: any EventLoop
    private let sweepInterval: TimeAmount
    private var sweep: RepeatedTask?

    package convenience init(
        _ configuration: Configuration, messaging: [ServiceLinkAddress], _ link: ServiceLinkConfiguration,
        random: inout some RandomNumberGenerator, on eventLoop: any EventLoop, logger: Logger
    ) {
        self.init(
            PresenceRules(configuration), messaging: messaging, link,
            sweepInterval: TimeAmount(configuration[PresenceKeys.sweepInterval]), random: &random,
            on: eventLoop, logger: logger)
    }

    init(
        _ rules: PresenceRules, messaging: [ServiceLinkAddress], _ link: ServiceLinkConfiguration,
        snapshots: SnapshotLimits = SnapshotLimits(), sweepInterval: TimeAmount,
        random: inout some RandomNumberGenerator, on eventLoop: any EventLoop, logger: Logger
    ) {
        var settings = PresenceNode.Settings(
            messaging: messaging, link: link, states: rules.states,
            leaseTimeToLive: .milliseconds(rules.leaseTimeToLive))
        settings.snapshots = snapshots
        let store = InMemoryPresenceStore(rules, source: random.next() | 1) {
            eventLoop.now.uptimeNanoseconds / 1_000_000
        }
        node = PresenceNode(
            settings, store: store, on: eventLoop, metrics: PresenceMetrics(MetricsRegistry()),
            messagingProbe: nil, logger: logger)
        let bound = NIOLoopBound(node, eventLoop: eventLoop)
        var configuration = ServiceLinkServerConfiguration(service: "presence")
        configuration.incarnation = random.next() | 1
        server = ServiceLinkServer(configuration, links: eventLoop, logger: logger) { _ in bound.value }
        self.eventLoop = eventLoop
        self.sweepInterval = sweepInterval
    }

    package func start() {
        let bound = NIOLoopBound(node, eventLoop: eventLoop)
        sweep = eventLoop.scheduleRepeatedTask(initialDelay: sweepInterval, delay: sweepInterval) { _ in
            bound.value.sweep()
        }
        node.start()
    }

    /// The process is gone, with all that it knew.
    package func stop() {
        sweep?.cancel()
        node.shutdown()
    }

    /// Takes a caller's transport.
    package func accept() -> any ServiceLinkTransportReceiver { server.receiver(on: eventLoop) }
}
