package import Logging
package import NIOPosix
package import RTMServiceLink

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

    /// What the listeners of the process have in common.
    package let accepting: AcceptPolicy

    /// Where the services before this one listen, by purpose. An address that was taken and left out is not
    /// among them.
    package let listening: [String: HostPort]

    /// Where the parts report until when their certificates are valid.
    package let certificates: CertificateReports

    private let service: String
    private let readiness: ReadinessRegistry
    private let live: LiveConfiguration
    private let pages: AdminPageRegistry
    private let reporting: (@Sendable () -> NodeReport)?

    package init(
        service: String, configuration: Configuration, logger: Logger, metrics: MetricsRegistry,
        readiness: ReadinessRegistry, eventLoopGroup: MultiThreadedEventLoopGroup,
        live: LiveConfiguration? = nil, pages: AdminPageRegistry = AdminPageRegistry(),
        accepting: AcceptPolicy = .unlimited, listening: [String: HostPort] = [:],
        certificates: CertificateReports = CertificateReports(),
        report: (@Sendable () -> NodeReport)? = nil
    ) {
        self.service = service
        self.configuration = configuration
        self.logger = logger
        self.metrics = metrics
        self.readiness = readiness
        self.live = live ?? LiveConfiguration(configuration)
        self.eventLoopGroup = eventLoopGroup
        self.pages = pages
        self.accepting = accepting
        self.listening = listening
        self.certificates = certificates
        reporting = report
    }

    /// What this process reports at `/node`; nil in a test without a program.
    package var report: NodeReport? { reporting?() }

    /// Whether all probes are ready that the program needs.
    package var isReady: Bool { readiness.snapshot.isReady }

    /// Adds a readiness probe of this service. It is not ready until the service reports it.
    ///
    /// - Parameter isRequired: whether the program is ready only if the probe is.
    package func probe(_ name: String, isRequired: Bool = true) -> ReadinessProbe {
        readiness.probe("\(service) \(name)", isRequired: isRequired)
    }

    /// Adds a page to the admin port.
    ///
    /// - Parameter path: begins with a slash, and is listed in docs/metrics.md.
    package func page(_ path: String) -> AdminPage { pages.page(path) }

    /// Adds a page to the admin port that is made for each request. Where other machines reach the port, who
    /// asks needs the key.
    ///
    /// - Parameters:
    ///   - path: begins with a slash, and is listed in docs/metrics.md.
    ///   - key: a key of the service that a running program takes over.
    package func page(
        _ path: String, _ methods: [String] = ["GET"], key: ConfigurationKey<Secret?>,
        answer: @escaping @Sendable (AdminRequest) async -> AdminAnswer
    ) {
        pages.add(
            path,
            AdminRoute(
                methods: methods, key: { [live] in live.present[key] }, keyName: key.declaration.name,
                answer: answer))
    }

    /// Has this service take over new values of the keys while the program runs (SIGHUP, changed files).
    package func onChange(of keys: [KeyDeclaration], _ taking: @escaping LiveConfiguration.Taking) {
        live.onChange(of: keys, taking)
    }
}
