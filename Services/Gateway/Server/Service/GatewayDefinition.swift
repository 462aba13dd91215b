import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import RTMAPIKey
import RTMAppConfiguration
import RTMPublishHook
package import RTMServiceKit
package import RTMServiceLink
import RTMWebhookCall

/// The gateway as a service of a program.
package enum GatewayDefinition {
    /// Reaches the other services at their addresses.
    package static let service = definition(isNetworked: true, developmentKey: nil) { configuration in
        GatewayCalls.Addresses(
            messaging: GatewayKeys.messaging.addresses(configuration),
            presence: GatewayKeys.presence.addresses(configuration),
            storage: configuration[GatewayKeys.storage].tcp)
    }

    /// Reaches the other services in the same process.
    ///
    /// - Parameters:
    ///   - developmentKey: may do everything in every app, where the configuration names no keys.
    ///   - socket: the WebSocket of the edge in the same process.
    package static func inProcess(
        messaging: InProcessEndpoint, presence: InProcessEndpoint, storage: InProcessEndpoint,
        developmentKey: APIKey, socket: @escaping @Sendable (Configuration) -> String?
    ) -> ServiceDefinition {
        definition(isNetworked: false, developmentKey: developmentKey, socket: socket) { _ in
            GatewayCalls.Addresses(
                messaging: [.inProcess(messaging)], presence: [.inProcess(presence)],
                storage: .inProcess(storage))
        }
    }

    private static func definition(
        isNetworked: Bool, developmentKey: APIKey?,
        socket: @escaping @Sendable (Configuration) -> String? = { _ in nil },
        addresses: @escaping @Sendable (Configuration) -> GatewayCalls.Addresses
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: "gateway", summary: "Answers backends over HTTP.",
            keys: ConfiguredApp.keys + ServiceLinkKeys.declarations + GatewayKeys.declarations
                + PublishHookKeys.declarations,
            isInProcess: !isNetworked,
            rules: [ConfiguredApp.rule, nodesRule] + webhookRules + PublishHookKeys.rules
                + (isNetworked ? [GatewayKeys.messaging.rule, GatewayKeys.presence.rule] : []),
            check: isNetworked ? problemOnNetwork : problem
        ) { context in
            let link = try ServiceLinkConfiguration(context, isNetworked: isNetworked)
            var console = ConsoleRoutes.Settings()
            console.sockets = context.configuration[GatewayKeys.consoleEdges]
            if console.sockets.isEmpty {
                console.sockets = [socket(context.configuration)].compactMap(\.self)
            }
            console.hasSample = developmentKey != nil && context.configuration[GatewayKeys.keys].isEmpty
            return try await assemble(
                context, addresses(context.configuration), link, developmentKey, console)
        }
    }

    @Sendable private static func problemOnNetwork(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        problem(configuration, read) ?? ServiceLinkConfiguration.problem(configuration, read)
    }

    private static let nodesRule = ConfigurationRule(GatewayKeys.nodes) { texts in
        texts.first { (try? HostPort(text: $0)) == nil }.map { "has \"\($0)\", which is not HOST:PORT" }
    }

    @Sendable private static func nodePlaces(_ configuration: Configuration) -> [HostPort] {
        configuration[GatewayKeys.nodes].compactMap { try? HostPort(text: $0) }
    }

    private static let webhookRules = [
        ConfigurationRule(GatewayKeys.webhooks) { WebhookRecord.problem($0) },
        .networks(GatewayKeys.privateAddresses),
    ]

    /// What can't be used of the files that the configuration names.
    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            _ = try GatewayTLS.configuration(configuration, read)
            return ConfiguredApp.problem(configuration, read)
        } catch {
            return error.problems.first
        }
    }

    private static func assemble(
        _ context: ServiceContext, _ addresses: GatewayCalls.Addresses, _ link: ServiceLinkConfiguration,
        _ developmentKey: APIKey?, _ console: ConsoleRoutes.Settings
    ) async throws -> Assembly {
        let configuration = context.configuration
        let keys = KeyRing(records(configuration, developmentKey))
        let bans = GatewayBans()
        let authentication = Authentication(keys, bans, try ConfiguredApp.all(in: configuration))
        let rates = RequestRates(RequestRates.Rates(configuration))
        let eventLoop = context.eventLoopGroup.next()
        let probes = GatewayCalls.Probes(
            messaging: context.probe("messaging"), presence: context.probe("presence", isRequired: false),
            storage: context.probe("storage", isRequired: false))
        let calls = try await eventLoop.submit {
            NIOLoopBound(
                GatewayCalls(
                    to: addresses, link, node: "gateway \(configuration[GatewayKeys.listen])", probes: probes,
                    banned: bans, endOfTurn: .shared(on: eventLoop), logger: context.logger),
                eventLoop: eventLoop)
        }.get()
        let backend = Backend(calls: calls, eventLoop: eventLoop)
        let webhooks = makeWebhooks(context, backend)
        let nodes = NodeReports(nodePlaces(configuration)) { context.report }
        let callers = PublishHookCallers(HTTPPublishHook.make, on: context.eventLoopGroup)
        let hooks = GatewayHooks(
            callers.take(configuration), on: eventLoop,
            PublishHookMetrics(context.metrics, .gateway), context.logger)
        context.onChange(of: ConfiguredApp.keys + GatewayKeys.live + PublishHookKeys.live) { next in
            let apps = try ConfiguredApp.all(in: next)
            return {
                keys.take(records(next, developmentKey))
                authentication.take(apps)
                rates.take(RequestRates.Rates(next))
                webhooks.take(next[GatewayKeys.webhooks])
                nodes.take(nodePlaces(next))
                hooks.take(callers.take(next))
            }
        }
        let api = GatewayAPI(
            backend: backend, authentication: authentication, rates: rates,
            metrics: GatewayMetrics(context.metrics), webhooks: webhooks, nodes: nodes, hooks: hooks,
            bodyBytesMax: configuration[GatewayKeys.bodyBytesMax],
            logger: context.logger)
        return Assembly(
            [callers, GatewayLinks(calls: calls, eventLoop: eventLoop), webhooks]
                + (try listeners(context, api, console)))
    }

    private static func makeWebhooks(_ context: ServiceContext, _ backend: Backend) -> Webhooks {
        let configuration = context.configuration
        var settings = WebhookQueue.Settings()
        settings.giveUpAfter = TimeAmount(configuration[GatewayKeys.giveUpAfter])
        settings.lease = TimeAmount(configuration[GatewayKeys.webhookLease])
        let environment = WebhookReceiver.Environment(
            rules: AddressRules(
                allowed: configuration[GatewayKeys.privateAddresses].compactMap(AddressRange.init)),
            rulesKey: GatewayKeys.privateAddresses.declaration.name,
            timeout: TimeAmount(configuration[GatewayKeys.webhookTimeout]),
            eventLoopGroup: context.eventLoopGroup)
        // Two gateways must not take each other for themselves, also where they listen at the same address.
        let node = "\(configuration[GatewayKeys.listen]) \(String(UInt64.random(in: 0 ... .max), radix: 36))"
        return Webhooks(
            configuration[GatewayKeys.webhooks], node: node, settings, environment, backend,
            WebhookMetrics(context.metrics), context.logger)
    }

    private static func records(_ configuration: Configuration, _ developmentKey: APIKey?) -> [APIKeyRecord] {
        let records = configuration[GatewayKeys.keys]
        guard records.isEmpty, let key = developmentKey else { return records }
        return [APIKeyRecord(id: key.id, hash: key.hash, app: "*", scopes: [.admin])]
    }

    private static func listeners(
        _ context: ServiceContext, _ api: GatewayAPI, _ console: ConsoleRoutes.Settings
    ) throws -> [GatewayListener] {
        let configuration = context.configuration
        let tls = try GatewayTLS.configuration(configuration) { try TextFile.read($0) }
        func listener(_ purpose: String, _ place: HostPort, _ tls: TLSConfiguration?) throws
            -> GatewayListener
        {
            var console = console
            console.isSecure = tls != nil
            return try GatewayListener(
                purpose: purpose, at: place, tls: tls, api.router(console),
                idleTimeout: configuration[GatewayKeys.idleTimeout],
                connectionsMax: configuration[GatewayKeys.connectionsMax], accepting: context.accepting,
                on: context.eventLoopGroup, context.logger)
        }
        var all = [try listener("gateway", configuration[GatewayKeys.listen], nil)]
        if let place = configuration[GatewayKeys.tlsListen], let tls {
            all.append(try listener("gateway.tls", place, tls))
        }
        return all
    }
}

/// Opens the links of the gateway, and closes them after its listeners.
private struct GatewayLinks: Service {
    let name = "gateway links"
    let calls: NIOLoopBound<GatewayCalls>
    let eventLoop: any EventLoop

    func start() async throws { try await eventLoop.submit { calls.value.start() }.get() }

    func shutdown(deadline: ContinuousClock.Instant) async {
        try? await eventLoop.submit { calls.value.shutdown() }.get()
    }
}

extension HostPort {
    fileprivate var tcp: ServiceLinkAddress { .tcp(host: host, port: port) }
}
