import RTMCredentials
import RTMEdgeServer
import RTMGatewayServer
import RTMServiceKit

/// What to type next, for somebody who has just started the system for the first time.
enum Greeting {
    /// Calls the HTTP API for as long as this process lives, unless the configuration has keys.
    static let key = APIKey.random()

    /// - Parameter isTerminal: whether a person reads it. What goes elsewhere is kept: the journal and the
    ///   logs of containers are no place for a key.
    @Sendable static func text(
        _ listening: [String: HostPort], _ configuration: Configuration, isTerminal: Bool
    ) -> String {
        let edge = listening["edge"]
        let admin = listening["admin"].map { "\($0)" } ?? "nowhere"
        let apps = configuration[CommonKeys.apps]
        // An app that needs no token is the better example.
        let app = apps.first { $0.certificate == nil && !$0.takesJWTs } ?? apps.first
        let options = server(edge) + (app.map { $0.id == "dev" ? "" : " --app-id \($0.id)" } ?? "")
        let place = edge.map { "\($0)" } ?? "nowhere"
        return """

            Heliograph \(BuildInformation.version) is listening on \(place) for \(names(of: apps)).

            In another terminal:
                \(rtm) chat lobby\(login("alice", app))\(options)
            and in a third one:
                \(rtm) chat lobby\(login("bob", app))\(options)

            From a backend:
            \(http(listening["gateway"], app, configuration, isTerminal))
            \(pages(listening, configuration, isTerminal))

            Health and metrics: http://\(admin)/ready and /metrics. Ctrl-C ends it.


            """
    }

    /// Where the sample connects to if nobody says otherwise.
    private static let sampleSocket = "ws://127.0.0.1:7712/rtm"

    /// The edge's WebSocket for web pages of this machine; nil if it doesn't listen for any.
    @Sendable static func socket(
        _ configuration: Configuration, _ listening: [String: HostPort]
    ) -> String? {
        listening["edge.webSocket"].map {
            "ws://\(reachable($0))\(configuration[EdgeKeys.webSocketPath])"
        }
    }

    /// How a command line on this machine reaches the edge.
    private static func server(_ edge: HostPort?) -> String {
        guard let edge = edge.map(reachable) else { return "" }
        // The command line uses this address by default.
        if edge == HostPort(host: "127.0.0.1", port: 7710) { return "" }
        return " --server \(edge)" + (edge.isLoopback ? "" : " --no-tls")
    }

    /// Who listens at all addresses of the machine is reached at its own, where no TLS is expected.
    private static func reachable(_ address: HostPort) -> HostPort {
        HostPort(
            host: ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host, port: address.port)
    }

    /// The console, and the sample of the web client, which is served where no keys are configured.
    private static func pages(
        _ listening: [String: HostPort], _ configuration: Configuration, _ isTerminal: Bool
    ) -> String {
        guard let address = listening["gateway"].map(reachable) else { return "" }
        let console = "\nIn a browser: http://\(address)/console/"
        guard configuration[GatewayKeys.keys].isEmpty else { return console }
        let pages = "\(console)\(isTerminal ? " with the key above" : "")"
        guard let socket = socket(configuration, listening) else { return pages }
        let server = socket == sampleSocket ? "" : "?server=\(socket)"
        return "\(pages), and http://\(address)/web/sample/\(server)"
    }

    private static func http(
        _ address: HostPort?, _ app: AppRecord?, _ configuration: Configuration, _ isTerminal: Bool
    ) -> String {
        guard let address = address.map(reachable) else { return "    nowhere" }
        let isOwn = configuration[GatewayKeys.keys].isEmpty
        let key = isOwn && isTerminal ? key.text : "KEY"
        let advice =
            isOwn && !isTerminal
            ? "    (a key for trying things out is shown on a terminal alone;\n"
                + "    \"\(rtm) key create\" makes one for gateway.keys)\n"
            : ""
        return advice + """
                curl http://\(address)/v1/\(app?.id ?? "APP")/publish -H 'Authorization: Bearer \(key)' \\
                     -d '{"channel": "lobby", "publisher": "backend", "message": "hello"}'
            """
    }

    /// The command line lies beside this program.
    private static var rtm: String {
        let program = CommandLine.arguments.first ?? ""
        return program.lastIndex(of: "/").map { program[...$0] + "rtm" } ?? "rtm"
    }

    private static func names(of apps: [AppRecord]) -> String {
        let ids = apps.prefix(3).map { "\"\($0.id)\"" }.joined(separator: ", ")
        let rest = apps.count > 3 ? " and \(apps.count - 3) more" : ""
        return apps.count == 1 ? "the app with the id \(ids)" : "the apps with the ids \(ids)\(rest)"
    }

    /// Where an app needs a token, the user is in it.
    private static func login(_ user: String, _ app: AppRecord?) -> String {
        guard let app else { return " --user \(user)" }
        if app.jwtKeysURL != nil, app.certificate == nil { return " --user \(user) --token TOKEN" }
        let key: String? =
            if app.certificate != nil { "--certificate-file FILE" } else {
                app.jwtKeys.map { _ in "--jwt-key FILE" }
            }
        guard let key else { return " --user \(user)" }
        return " --token $(\(rtm) token create --app-id \(app.id) --user \(user) \(key))"
    }
}
