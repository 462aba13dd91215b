package import Logging
package import NIOPosix

/// What the main hands to a service: everything that belongs to the process and not to the service.
package struct ServiceContext: Sendable {
    /// The configuration with every key that the definition lists, and the common ones.
    package let configuration: Configuration
    /// The logger; it carries the service's name.
    package let logger: Logger
    /// The metrics that all services of the process share. Names begin with `rtm_<service>_`.
    package let metrics: MetricsRegistry
    /// The event loops of the process. The main shuts them down; services never do.
    package let eventLoopGroup: MultiThreadedEventLoopGroup

    private let service: String
    private let readiness: ReadinessRegistry

    package init(
        service: String, configuration: Configuration, logger: Logger, metrics: MetricsRegistry,
        readiness: ReadinessRegistry, eventLoopGroup: MultiThreadedEventLoopGroup
    ) {
        self.service = service
        self.configuration = configuration
        self.logger = logger
        self.metrics = metrics
        self.readiness = readiness
        self.eventLoopGroup = eventLoopGroup
    }

    /// Adds a readiness probe of this service. It is not ready until the service reports it.
    package func probe(_ name: String) -> ReadinessProbe { readiness.probe("\(service) \(name)") }
}
