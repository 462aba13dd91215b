import Logging
import NIOCore
import NIOPosix
import RTMAppConfiguration
import RTMCredentials
import RTMPublishHook
import RTMServiceKit
import RTMServiceLink
import RTMWebhookCall

/// A gateway: its links to the other services, its webhooks and hooks, and its listeners.
struct GatewayNode {
    let assembly: Assembly

    /// - Parameter developmentKey: may do everything in every app, where the configuration names no keys.
    init(
        _ context: ServiceContext, _ addresses: GatewayCalls.Addresses, _ link: ServiceLinkConfiguration,
        _ developmentKey: APIKey?, _ console: ConsoleRoutes.Settings
    ) async throws {
        let configuration = context.configuration
        let keys = KeyRing(Self.records(configuration, developmentKey))
        let bans = GatewayBans()
        let fetches = KeyFetches(HTTPKeyDownload.make, context, .gateway)
        let apps = try ConfiguredApp.all(in: configuration, fetches)
        fetches.take(configuration)
        ConfiguredApp.reportKeys(of: apps, context.logger)
        let places = EventPlaces(countMax: configuration[GatewayKeys.eventsPerKeyMax])
        let authentication = Authentication(
            keys, bans, apps, places: places, secret: configuration[ServiceLinkKeys.secret]?.revealed)
        let rates = RequestRates(RequestRates.Rates(configuration))
        let origins = AllowedOrigins(configuration[GatewayKeys.origins])
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
        let webhooks = Self.makeWebhooks(context, backend)
        let nodes = NodeReports(Self.nodePlaces(configuration)) { context.report }
        let callers = PublishHookCallers(HTTPPublishHook.make, on: context.eventLoopGroup)
        let hooks = GatewayHooks(
            callers.take(configuration), on: eventLoop,
            PublishHookMetrics(context.metrics, .gateway), context.logger)
        context.onChange(of: ConfiguredApp.keys + GatewayKeys.live + PublishHookKeys.live) { next in
            let apps = try ConfiguredApp.all(in: next, fetches)
            return {
                fetches.take(next)
                ConfiguredApp.reportKeys(of: apps, context.logger)
                let records = Self.records(next, developmentKey)
                keys.take(records)
                places.take(records, countMax: next[GatewayKeys.eventsPerKeyMax])
                authentication.take(apps)
                rates.take(RequestRates.Rates(next))
                origins.take(next[GatewayKeys.origins])
                webhooks.take(next[GatewayKeys.webhooks])
                nodes.take(Self.nodePlaces(next))
                hooks.take(callers.take(next))
            }
        }
        let api = GatewayAPI(
            backend: backend, authentication: authentication, rates: rates,
            metrics: GatewayMetrics(context.metrics), webhooks: webhooks, nodes: nodes, hooks: hooks,
            memory: GatewayMemory(
                bodyBytesMax: configuration[GatewayKeys.bodyBytesMax],
                bodiesBytesMax: configuration[GatewayKeys.bodiesTotalBytesMax],
                pagesBytesMax: configuration[GatewayKeys.pagesTotalBytesMax],
                processors: System.coreCount),
            bodyBytesMax: configuration[GatewayKeys.bodyBytesMax],
            logger: context.logger)
        assembly = Assembly(
            [callers, fetches, GatewayLinks(calls: calls, eventLoop: eventLoop), webhooks]
                + (try Self.listeners(context, api, origins, console, isBesideOthers: developmentKey != nil)))
    }

    @Sendable private static func nodePlaces(_ configuration: Configuration) -> [HostPort] {
        configuration[GatewayKeys.nodes].compactMap { try? HostPort(text: $0) }
    }

    private static func makeWebhooks(_ context: ServiceContext, _ backend: Backend) -> Webhooks {
        let configuration = context.configuration
        var settings = WebhookQueue.Settings()
        settings.giveUpAfter = TimeAmount(configuration[GatewayKeys.giveUpAfter])
        settings.lease = TimeAmount(configuration[GatewayKeys.webhookLease])
        let environment = CheckedHTTPClient.Environment(
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
        _ context: ServiceContext, _ api: GatewayAPI, _ origins: AllowedOrigins,
        _ console: ConsoleRoutes.Settings, isBesideOthers: Bool
    ) throws -> [GatewayListener] {
        let configuration = context.configuration
        func listener(
            _ purpose: String, _ place: HostPort, _ tls: ListenerTLS?, isOptional: Bool = false
        ) -> GatewayListener {
            var console = console
            console.isSecure = tls != nil
            return GatewayListener(
                purpose: purpose, at: place, isOptional: isOptional, tls: tls,
                api.router(console, origins: origins) { context.isReady },
                idleTimeout: configuration[GatewayKeys.idleTimeout], GatewayPlaces.Limits(configuration),
                accepting: context.accepting, api.metrics, on: context.eventLoopGroup, context.logger)
        }
        var all = [
            listener(
                "gateway", configuration[GatewayKeys.listen], nil,
                isOptional: isBesideOthers && !configuration.isSet(GatewayKeys.listen))
        ]
        if let place = configuration[GatewayKeys.tlsListen],
            let tls = try ListenerTLS(GatewayKeys.identity, context)
        {
            all.append(listener("gateway.tls", place, tls))
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

extension GatewayPlaces.Limits {
    init(_ configuration: Configuration) {
        self.init(
            connectionsMax: configuration[GatewayKeys.connectionsMax],
            perAddressMax: configuration[GatewayKeys.connectionsPerAddressMax],
            readingTimeout: TimeAmount(configuration[GatewayKeys.outboundTimeout]),
            unreadBytesMax: configuration[GatewayKeys.outboundTotalBytesMax])
    }
}
