import RTMConfigurationFile
import RTMEdgeServer
import RTMGatewayServer
import RTMMessagingServer
import RTMPresenceServer
import RTMServiceKit
import RTMServiceLink
import RTMStorageServer
import RTMWebhookCall

#if PostgreSQL
    import RTMStoragePostgreSQL
#endif

/// All services in one process. The links between them stay inside it, and one event loop does everything
/// unless more threads are configured.
@main struct StandaloneMain: ServiceMain {
    private static let messaging = InProcessEndpoint(name: "messaging")
    private static let presence = InProcessEndpoint(name: "presence")
    private static let storage = InProcessEndpoint(name: "storage")
    #if PostgreSQL
        private static let engine: (any DatabaseEngine)? = PostgresDatabase()
    #else
        private static let engine: (any DatabaseEngine)? = nil
    #endif

    static let program = ServiceProgram(
        section: "standalone",
        summary: "The whole system in one process, for development and small installations.",
        services: [
            StandaloneDirectory.definition,
            MessagingDefinition.inProcess(messaging),
            PresenceDefinition.inProcess(presence, messaging: messaging),
            StorageDefinition.inProcess(
                storage, messaging: messaging, data: StandaloneDirectory.data, engine: engine),
            EdgeDefinition.inProcess(
                messaging: messaging, presence: presence, storage: storage, hooks: HTTPPublishHook.make,
                keys: HTTPKeyDownload.make),
            GatewayDefinition.inProcess(
                messaging: messaging, presence: presence, storage: storage, developmentKey: Greeting.key,
                socket: Greeting.socket),
        ],
        admin: HostPort(host: "127.0.0.1", port: 7711),
        flags: ["edge.listen": "listen", "edge.rates.unlimited": "rates-unlimited"],
        defaults: ["threads": "1", "edge.webSocket.listen": "127.0.0.1:7712"], greeting: Greeting.text)
}

/// The one directory of a standalone system; storage's database lies in it.
enum StandaloneDirectory {
    static let data = ConfigurationKey<String>.string(
        "standalone.data", default: "data",
        "Directory for all persistent data; only one process at a time may use it.")

    static let definition = ServiceDefinition(
        name: "standalone", summary: "The data directory.", keys: [data.declaration],
        check: problem
    ) { context in
        Assembly([DataDirectory(data, context.configuration)])
    }

    @Sendable private static func problem(
        _ configuration: Configuration, _: (String) throws -> String
    ) -> ConfigurationProblem? {
        DataDirectory.problem(data, configuration)
    }
}
