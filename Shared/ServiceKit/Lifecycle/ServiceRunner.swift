internal import Logging
internal import NIOPosix
internal import RTMModel
internal import RTMServiceLink
internal import Synchronization

/// Runs a program in this process: admin port, assemblies, drain. It knows nothing of signals, arguments or
/// `exit`, so tests run whole programs inside their own process.
package struct ServiceRunner: Sendable {
    private let program: ServiceProgram
    private let live: LiveConfiguration
    private let reloading: Reloading?
    private let eventLoopGroup: MultiThreadedEventLoopGroup
    private let logger: Logger
    private let lifecycle: Lifecycle
    private let readiness: ReadinessRegistry
    private let metrics = MetricsRegistry()
    private let pages = AdminPageRegistry()
    private let admin: AdminServer
    private let report: @Sendable () -> NodeReport
    /// Nil where nothing is traced.
    private let tracing: Tracing?
    private let started = StartedServices()
    private let accepting: AcceptPolicy
    private let certificates = CertificateReports()
    private let notify: @Sendable (SystemdNotice) -> Void

    /// - Parameters:
    ///   - notify: reports the start and the end to whoever started the process.
    ///   - reload: reads the configuration anew; nil if it stays as it is.
    init(
        _ program: ServiceProgram, configuration: Configuration, eventLoopGroup: MultiThreadedEventLoopGroup,
        logger: Logger, lifecycle: Lifecycle, notify: @escaping @Sendable (SystemdNotice) -> Void = { _ in },
        reload: (@Sendable () throws(ConfigurationError) -> Configuration)? = nil
    ) {
        self.program = program
        self.notify = notify
        let live = LiveConfiguration(configuration, rules: program.rules)
        self.live = live
        reloading = reload.map { Reloading(live, logger: logger, load: $0) }
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        self.lifecycle = lifecycle
        let readiness = ReadinessRegistry(logger: logger) { lifecycle.state.isEnding }
        self.readiness = readiness
        ProcessMetrics.declare(in: metrics, program: program.name)
        certificates.declare(in: metrics, keys: program.schema.certificates)
        TurnMetrics(metrics).watch(eventLoopGroup)
        tracing = Tracing(configuration, program: program.name, eventLoopGroup, metrics, logger)
        let pages = AdminPages(
            program: program.name, configuration: { live.present }, metrics: metrics,
            state: { lifecycle.state }, readiness: { readiness.snapshot }, others: self.pages,
            started: NodeStart(milliseconds: WallClock.milliseconds()),
            isLoopback: configuration[program.adminKey].isLoopback)
        report = { pages.report() }
        let plan = DescriptorPlan(
            limit: DescriptorLimit.present,
            loops: eventLoopGroup.makeIterator().reduce(0) { count, _ in count + 1 },
            more: program.services.map { $0.descriptors(configuration) }.reduce(0, +))
        accepting = AcceptReports(metrics, readiness).policy(plan)
        admin = AdminServer(
            address: configuration[program.adminKey], pages: pages, loop: eventLoopGroup.next(),
            accepting: accepting, logger: logger)
    }

    /// Takes over what has changed in the configuration, as SIGHUP asks for.
    package func reload() {
        if !lifecycle.state.isEnding { reloading?.reload(because: "SIGHUP") }
    }

    /// Returns when the program is stopped by a signal or by a failure, and at the latest at the deadline of
    /// the shutdown, whatever the services do.
    package func run() async -> ExitCode {
        let end = Latch<ExitCode>()
        // Unstructured: a service that ignores both deadline and cancellation must not keep this function
        // from returning.
        let work = Task { end.resolve(await serve()) }
        if let deadline = await lifecycle.stopRequested() {
            // Unstructured: for the same reason. The first of the two tasks to end resolves the latch.
            let cutOff = Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                logger.warning(
                    "shutdown cut off", metadata: ["unfinished": .array(started.names.map { "\($0)" })])
                end.resolve(lifecycle.drained())
            }
            _ = await end.wait()
            cutOff.cancel()
        } else {
            lifecycle.failed(CancellationError())
        }
        work.cancel()
        return lifecycle.drained()
    }

    private func serve() async -> ExitCode {
        await start()
        if lifecycle.started() { await announce() }
        await withTaskGroup(of: Void.self) { group in
            // If the program never became ready, the services that were started are only shut down.
            for service in lifecycle.state == .running ? started.all : [] {
                group.addTask {
                    do { try await service.run() } catch { lifecycle.failed(error) }
                }
            }
            if let reloading { group.addTask { try? await reloading.run() } }
            if let deadline = await lifecycle.stopRequested() { await shutDown(by: deadline) }
            group.cancelAll()
        }
        await tracing?.finish()
        await admin.stop()
        return lifecycle.drained()
    }

    private func shutDown(by deadline: ContinuousClock.Instant) async {
        notify(.ending)
        while let service = started.last {
            await service.shutdown(deadline: deadline)
            started.removeLast()
        }
    }

    /// Starts everything in order. A request to stop cancels it, and a failure requests the stop.
    private func start() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await startServices() } catch { lifecycle.failed(error) }
            }
            group.addTask { _ = await lifecycle.stopRequested() }
            await group.next()
            group.cancelAll()
        }
    }

    private func startServices() async throws {
        if let shortage = accepting.plan.shortage { throw ServiceFailure.configuration(shortage) }
        try await admin.start()
        try await tracing?.start()
        for definition in program.services {
            let context = ServiceContext(
                service: definition.name, configuration: live.present,
                logger: Logger(label: definition.name),
                metrics: metrics, readiness: readiness, eventLoopGroup: eventLoopGroup, live: live,
                pages: pages, accepting: accepting, listening: await listening(), certificates: certificates,
                report: report)
            for service in try await definition.assemble(context).services {
                try Task.checkCancellation()
                try await service.start()
                started.append(service)
            }
        }
    }

    /// Where the process listens by now.
    private func listening() async -> [String: HostPort] {
        var listening: [String: HostPort] = [:]
        if let address = admin.address { listening["admin"] = address }
        for service in started.all {
            for listener in await service.listening { listening[listener.purpose] = listener.address }
        }
        return listening
    }

    private func announce() async {
        let listening = await listening()
        logger.notice(
            "started",
            metadata: [
                "version": "\(BuildInformation.version)", "configuration": "\(live.present.sources)",
                "listening": .dictionary(listening.mapValues { .stringConvertible($0) }),
            ])
        notify(.started)
        let ignored = live.present.origins.ignored
        if !ignored.isEmpty {
            logger.notice(
                "settings without effect in this program",
                metadata: ["settings": .array(ignored.map { "\($0)" })])
        }
        let serviceLinks = live.present.origins.serviceLinks
        if !serviceLinks.isEmpty {
            logger.notice(
                "variables that Kubernetes makes of Services are passed over; a pod with enableServiceLinks: false has none",
                metadata: ["variables": .array(serviceLinks.prefix(10).map { "\($0)" })])
        }
        if let greeting = program.greeting {
            let isTerminal = StandardStream.output.isTerminal
            LogOutput.process.add(greeting(listening, live.present, isTerminal), to: .output)
        }
    }
}

/// The services whose `start` has returned, in that order.
private final class StartedServices: Sendable {
    private let services = Mutex<[any Service]>([])

    var all: [any Service] { services.withLock { $0 } }
    var last: (any Service)? { all.last }
    var names: [String] { all.map(\.name) }

    func append(_ service: any Service) { services.withLock { $0.append(service) } }
    func removeLast() { services.withLock { _ = $0.removeLast() } }
}
