import Logging
import NIOSSL
import RTMAppConfiguration
package import RTMCredentials
import RTMPublishHook
package import RTMServiceKit
package import RTMServiceLink

/// The gateway as a service of a program.
package enum GatewayDefinition {
    /// Reaches the other services at their addresses.
    package static let service = definition(isNetworked: true, developmentKey: nil) { configuration in
        GatewayCalls.Addresses(
            messaging: GatewayKeys.messaging.addresses(configuration),
            presence: GatewayKeys.presence.addresses(configuration),
            storage: GatewayKeys.storage.addresses(configuration))
    }

    /// The WebSocket of an edge in the same process; nil if it doesn't listen for any.
    package typealias OwnSocket = @Sendable (Configuration, _ listening: [String: HostPort]) -> String?

    /// Reaches the other services in the same process.
    ///
    /// - Parameters:
    ///   - developmentKey: may do everything in every app, where the configuration names no keys.
    ///   - socket: the WebSocket of the edge in the same process, which listens already.
    package static func inProcess(
        messaging: InProcessEndpoint, presence: InProcessEndpoint, storage: InProcessEndpoint,
        developmentKey: APIKey, socket: @escaping OwnSocket
    ) -> ServiceDefinition {
        definition(isNetworked: false, developmentKey: developmentKey, socket: socket) { _ in
            GatewayCalls.Addresses(
                messaging: [.inProcess(messaging)], presence: [.inProcess(presence)],
                storage: [.inProcess(storage)])
        }
    }

    private static func definition(
        isNetworked: Bool, developmentKey: APIKey?,
        socket: OwnSocket? = nil,
        addresses: @escaping @Sendable (Configuration) -> GatewayCalls.Addresses
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: "gateway", summary: "Answers backends over HTTP.",
            keys: ConfiguredApp.keys + ServiceLinkKeys.declarations + GatewayKeys.declarations
                + PublishHookKeys.declarations,
            isInProcess: !isNetworked,
            rules: ConfiguredApp.rules + [nodesRule, AllowedOrigins.rule] + webhookRules
                + PublishHookKeys.rules
                + (isNetworked
                    ? [GatewayKeys.messaging.rule, GatewayKeys.presence.rule, GatewayKeys.storage.rule] : []),
            check: isNetworked ? problemOnNetwork : problem
        ) { context in
            let link = try ServiceLinkConfiguration(context, isNetworked: isNetworked)
            var console = ConsoleRoutes.Settings()
            console.sockets = context.configuration[GatewayKeys.consoleEdges]
            if console.sockets.isEmpty, let own = socket?(context.configuration, context.listening) {
                console.sockets = [own]
            }
            console.hasSample = developmentKey != nil && context.configuration[GatewayKeys.keys].isEmpty
            return try await GatewayNode(
                context, addresses(context.configuration), link, developmentKey, console
            ).assembly
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

    private static let webhookRules = [
        ConfigurationRule(GatewayKeys.webhooks) { WebhookRecord.problem($0) },
        .networks(GatewayKeys.privateAddresses),
    ]

    /// What can't be used of the files that the configuration names.
    @Sendable private static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        let isTLS = configuration[GatewayKeys.tlsListen] != nil
        return (isTLS ? GatewayKeys.identity.problem(configuration, read) : nil)
            ?? ConfiguredApp.problem(configuration, read)
    }
}

extension HostPort {
    fileprivate var tcp: ServiceLinkAddress { .tcp(host: host, port: port) }
}
