import Logging
import NIOCore
import NIOPosix
package import RTMAppConfiguration
package import RTMPublishHook
package import RTMServiceKit
package import RTMServiceLink

/// The edge as a service of a program.
package enum EdgeDefinition {
    /// Reaches the other services at their addresses.
    ///
    /// - Parameters:
    ///   - hooks: asks the hooks of the configuration; nil for an edge that has no such keys.
    ///   - keys: gets keys of JWTs from their URLs; nil for an edge that fetches none.
    package static func service(
        hooks: PublishHookCallers.Make?, keys: KeyFetches.Make?
    ) -> ServiceDefinition {
        definition(isNetworked: true, hooks, keys) { context, link in
            let configuration = context.configuration
            return EdgeServiceLinks(
                messaging: EdgeKeys.messaging.addresses(configuration),
                presence: EdgeKeys.presence.addresses(configuration),
                storage: EdgeKeys.storage.addresses(configuration), link: link,
                node: "edge \(configuration[EdgeKeys.listen])")
        }
    }

    /// Reaches the other services in the same process.
    package static func inProcess(
        messaging: InProcessEndpoint, presence: InProcessEndpoint, storage: InProcessEndpoint,
        hooks: @escaping PublishHookCallers.Make, keys: @escaping KeyFetches.Make
    ) -> ServiceDefinition {
        definition(isNetworked: false, hooks, keys) { _, link in
            EdgeServiceLinks(
                messaging: [.inProcess(messaging)], presence: [.inProcess(presence)],
                storage: [.inProcess(storage)],
                link: link, node: "edge")
        }
    }

    private static func definition(
        isNetworked: Bool, _ hooks: PublishHookCallers.Make?, _ keys: KeyFetches.Make?,
        links: @escaping @Sendable (ServiceContext, ServiceLinkConfiguration) -> EdgeServiceLinks
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: "edge", summary: "Takes client connections and hands them what their channels carry.",
            keys: ConfiguredApp.keys + ServiceLinkKeys.declarations + EdgeKeys.declarations
                + (hooks == nil ? [] : PublishHookKeys.declarations),
            isInProcess: !isNetworked,
            rules: EdgeKeys.rules + [EdgeKeys.drain] + (hooks == nil ? [] : PublishHookKeys.rules)
                + (isNetworked
                    ? [EdgeKeys.messaging.rule, EdgeKeys.presence.rule, EdgeKeys.storage.rule] : []),
            check: isNetworked ? problemOnNetwork : problem
        ) { context in
            let link = try ServiceLinkConfiguration(context, isNetworked: isNetworked)
            return try await assemble(
                context, links(context, link),
                hooks.map { PublishHookCallers($0, on: context.eventLoopGroup) },
                keys.map { KeyFetches($0, context, .edge) })
        }
    }

    @Sendable private static func problemOnNetwork(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        problem(configuration, read) ?? ServiceLinkConfiguration.problem(configuration, read)
    }

    /// What can't be used of the files that the configuration names.
    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        let isTLS = EdgeKeys.hasTLS(configuration)
        return (isTLS ? EdgeKeys.identity.problem(configuration, read) : nil)
            ?? ConfiguredApp.problem(configuration, read)
    }

    private static func assemble(
        _ context: ServiceContext, _ links: EdgeServiceLinks, _ callers: PublishHookCallers?,
        _ fetches: KeyFetches?
    ) async throws -> Assembly {
        let configuration = context.configuration
        var edge = try EdgeConfiguration(configuration, fetches)
        fetches?.take(configuration)
        warnOfExposure(edge, configuration, context.logger)
        ConfiguredApp.reportKeys(of: try ConfiguredApp.all(in: configuration), context.logger)
        let metrics = EdgeMetrics(context.metrics, apps: edge.applications.map(\.id))
        metrics.ratesAreLifted(configuration[EdgeKeys.ratesUnlimited])
        let group = context.eventLoopGroup
        let loopCount = group.makeIterator().reduce(0) { count, _ in count + 1 }
        edge.limits.outboundLoopBytesMax /= max(1, loopCount)
        let reachability = Reachability(
            loops: loopCount,
            probes: [
                .messaging: context.probe("messaging"),
                .presence: context.probe("presence", isRequired: false),
                .storage: context.probe("storage", isRequired: false),
            ], metrics: context.metrics)
        let sharedRates = SharedRates(edge.applications)
        let canaries = CanaryReports(
            loops: loopCount, probe: context.probe("canary"), metrics: context.metrics)
        let hooks = callers?.take(configuration) ?? [:]
        let loops = try await EdgeNode.make(on: group) { [edge] number, eventLoop in
            EdgeLoop(
                eventLoop: eventLoop, number: number, configuration: edge, links: links, metrics: metrics,
                reachability: reachability, logger: context.logger, sharedRates: sharedRates, hooks: hooks,
                reportCanary: { canaries.report($0, ofLoop: number) })
        }
        OperatorPages.add(of: loops, to: context)
        let limiter = connectionLimiter(edge.limits, context.accepting.plan, context.logger)
        let tls = EdgeKeys.hasTLS(configuration) ? try ListenerTLS(EdgeKeys.identity, context) : nil
        let live = EdgeKeys.live + (callers == nil ? [] : PublishHookKeys.live)
        context.onChange(of: ConfiguredApp.keys + live) { next in
            let applications = try EdgeConfiguration(next, fetches).applications
            let apps = try ConfiguredApp.all(in: next)
            return {
                ConfiguredApp.reportKeys(of: apps, context.logger)
                fetches?.take(next)
                sharedRates.take(applications)
                loops.take(applications, callers?.take(next) ?? [:])
            }
        }
        let parts = [callers as (any Service)?, fetches].compactMap { $0 } + [loops]
        return Assembly(parts + subscriberCount(configuration, tls, loops, limiter, metrics, context))
    }

    private static func connectionLimiter(
        _ limits: EdgeLimits, _ plan: DescriptorPlan, _ logger: Logger
    ) -> ConnectionLimiter {
        if plan.connectionsMax < limits.connectionsMax {
            logger.warning(
                "the process may have fewer descriptors than edge.connections.max needs",
                metadata: [
                    "descriptors": "\(plan.limit ?? 0)", "connections": "\(plan.connectionsMax)",
                    "edge.connections.max": "\(limits.connectionsMax)",
                ])
        }
        return ConnectionLimiter(
            totalMax: min(limits.connectionsMax, plan.connectionsMax),
            perAddressMax: limits.connectionsPerAddressMax, refusedMax: plan.refusedMax)
    }

    private static func subscriberCount(
        _ configuration: Configuration, _ tls: ListenerTLS?, _ loops: EdgeNode, _ limiter: ConnectionLimiter,
        _ metrics: EdgeMetrics, _ context: ServiceContext
    ) -> [EdgeListener] {
        let gate = WebSocketGate(
            path: configuration[EdgeKeys.webSocketPath], origins: configuration[EdgeKeys.webSocketOrigins])
        let balancers = configuration[EdgeKeys.balancers].compactMap(AddressRange.init)
        let all: [(String, HostPort?, hasTLS: Bool, WebSocketGate?)] = [
            ("edge", configuration[EdgeKeys.listen], false, nil),
            ("edge.tls", configuration[EdgeKeys.tlsListen], true, nil),
            ("edge.webSocket", configuration[EdgeKeys.webSocketListen], false, gate),
            ("edge.webSocket.tls", configuration[EdgeKeys.webSocketTLSListen], true, gate),
        ]
        return all.compactMap { purpose, address, hasTLS, gate in
            guard let address else { return nil }
            return EdgeListener(
                purpose: purpose, address: address,
                // Only standalone has a default for it.
                isOptional: purpose == "edge.webSocket" && !configuration.isSet(EdgeKeys.webSocketListen),
                tls: hasTLS ? tls : nil, webSocket: gate,
                balancers: balancers, loops: loops, limiter: limiter,
                accepting: context.accepting, metrics: metrics, logger: context.logger)
        }
    }

    /// What is fine on one machine and rarely meant on a network.
    private static func warnOfExposure(
        _ edge: EdgeConfiguration, _ configuration: Configuration, _ logger: Logger
    ) {
        if configuration[EdgeKeys.ratesUnlimited] {
            logger.warning(
                "no rate is kept: one client may take the whole installation; this is for measuring only",
                metadata: [EdgeKeys.ratesUnlimited.declaration.name: "true"])
        }
        let open = edge.applications.filter { $0.tokens == nil }.map(\.id)
        let clear = [configuration[EdgeKeys.listen], configuration[EdgeKeys.webSocketListen]]
            .compactMap { $0 }.filter { !$0.isLoopback }
        let secure = [configuration[EdgeKeys.tlsListen], configuration[EdgeKeys.webSocketTLSListen]]
            .compactMap { $0 }.filter { !$0.isLoopback }
        for address in clear + secure where !open.isEmpty {
            logger.warning(
                "anyone who reaches this address may log in as any user: apps that need no token",
                metadata: ["address": "\(address)", "apps": .array(open.prefix(10).map { "\($0)" })])
        }
        for address in clear {
            logger.warning(
                "connections to this address are not encrypted", metadata: ["address": "\(address)"])
        }
    }
}

extension HostPort {
    fileprivate var tcp: ServiceLinkAddress { .tcp(host: host, port: port) }
}
