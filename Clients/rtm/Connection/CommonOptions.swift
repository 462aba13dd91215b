import ArgumentParser
import Foundation
import Logging
import RTMClient

/// The options that every command has.
struct CommonOptions: ParsableArguments {
    @Option(
        help: .init(
            "Server to talk to, also ws://host:port/path or wss://…; repeat it to name others, which are tried in turn.",
            valueName: "host:port"),
        transform: { try ServerAddress($0) })
    var server: [ServerAddress] = []

    @Option(name: .customLong("app-id"), help: "App id.")
    var appID: String?

    @Option(help: "User id to log in with.")
    var user: String?

    @Option(help: "Token to log in with, for an app with a certificate; `rtm token create` makes one.")
    var token: String?

    @Flag(help: "Encrypt the connection and verify the server.")
    var tls = false

    @Option(help: .init("PEM file of the authorities to trust instead of the system's.", valueName: "file"))
    var ca: String?

    @Option(
        help: .init("How long to try to reach a server.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var connectTimeout: Duration = .seconds(10)

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    @Flag(help: "Log the client's actions to standard error.")
    var verbose = false

    func validate() throws {
        guard ca != nil, !tls else { return }
        // Servers may also be in the environment.
        let servers = (try? settings().servers) ?? []
        guard servers.contains(where: \.isSecureWebSocket) else {
            throw ValidationError("--ca needs --tls, or a server that begins with wss://")
        }
    }
}

extension CommonOptions {
    var output: Output {
        let palette = Palette(
            isTerminal: ConsoleStream.output.isTerminal, environment: ProcessInfo.processInfo.environment)
        return Output(format: json ? .json : .human, transcript: Transcript(palette: palette))
    }

    var encryption: RTMClient.TLS { tls || ca != nil ? .enabled(caFile: ca) : .disabled }

    func settings() throws(RTMError) -> ConnectionSettings {
        var generator = SystemRandomNumberGenerator()
        return try ConnectionSettings(
            servers: server, appID: appID, userID: user, token: token,
            environment: ProcessInfo.processInfo.environment, guest: GuestName.random(using: &generator))
    }

    func configuration(_ settings: ConnectionSettings) -> RTMClient.Configuration {
        var configuration = RTMClient.Configuration(
            servers: settings.servers, appID: settings.appID, userID: settings.userID)
        configuration.tls = encryption
        configuration.requestTimeout = min(configuration.requestTimeout, connectTimeout)
        if verbose {
            configuration.logger = Logger(label: "rtm") { StreamLogHandler.standardError(label: $0) }
            configuration.logger.logLevel = .debug
        }
        return configuration
    }
}

extension ServerAddress {
    fileprivate var isSecureWebSocket: Bool {
        if case .webSocket(_, isSecure: true) = transport { true } else { false }
    }
}
