package import Logging
package import NIOCore
package import RTMServiceKit
package import RTMServiceLink

/// An edge of one event loop and without sockets: its owner brings the connections, the time and the
/// random numbers. Worlds with a virtual clock have such edges.
package final class EmbeddedEdge {
    let loop: EdgeLoop

    /// What an edge depends on, and a world decides.
    package struct Environment {
        let eventLoop: any EventLoop
        let wallClock: () -> UInt64
        let random: any RandomNumberGenerator
        let logger: Logger

        /// - Parameter wallClock: the time in milliseconds (UTC).
        package init(
            eventLoop: any EventLoop, wallClock: @escaping () -> UInt64, random: any RandomNumberGenerator,
            logger: Logger
        ) {
            self.eventLoop = eventLoop
            self.wallClock = wallClock
            self.random = random
            self.logger = logger
        }
    }

    /// Where the edge finds the services.
    package struct Services {
        let messaging: [ServiceLinkAddress]
        let presence: [ServiceLinkAddress]
        let storage: [ServiceLinkAddress]
        let link: ServiceLinkConfiguration

        package init(
            messaging: [ServiceLinkAddress], presence: [ServiceLinkAddress], storage: [ServiceLinkAddress],
            link: ServiceLinkConfiguration
        ) {
            self.messaging = messaging
            self.presence = presence
            self.storage = storage
            self.link = link
        }
    }

    package convenience init(
        _ configuration: Configuration, named name: String, _ services: Services, in environment: Environment
    ) throws {
        self.init(try EdgeConfiguration(configuration), named: name, services, in: environment)
    }

    init(
        _ configuration: EdgeConfiguration, named name: String, _ services: Services,
        in environment: Environment
    ) {
        let metrics = MetricsRegistry()
        let probe = ReadinessRegistry(logger: environment.logger).probe("messaging")
        loop = EdgeLoop(
            eventLoop: environment.eventLoop, configuration: configuration,
            links: EdgeServiceLinks(
                messaging: services.messaging, presence: services.presence, storage: services.storage,
                link: services.link, node: name),
            metrics: EdgeMetrics(metrics),
            reachability: Reachability(loops: 1, messaging: probe, metrics: metrics),
            logger: environment.logger,
            wallClock: environment.wallClock, random: environment.random)
    }

    package func start() { loop.start() }

    /// The process is gone.
    package func stop() { loop.stop() }

    /// Disconnects all clients, as before an update, and stops.
    package func drain(_ drained: EventLoopPromise<Void>) { loop.drain(drained) }

    /// The end of the pipeline of one more connection.
    package func makeConnection() -> any ChannelHandler {
        ConnectionHandler(loop: loop)
    }
}
