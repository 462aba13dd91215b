import ArgumentParser
import Foundation
import RTMClient

/// The options of the commands that call a gateway over HTTP. A key is never one of them: everybody on the
/// machine could read it in the list of processes, and the shell would keep it.
struct GatewayOptions: ParsableArguments {
    @Option(
        help: .init(
            "Gateway to call, http://127.0.0.1:7750 unless a context or RTM_GATEWAY names another.",
            valueName: "url"),
        transform: { try GatewayURL(argument: $0) })
    var gateway: GatewayURL?

    @Option(name: .customLong("app-id"), help: "App id.")
    var appID: String?

    @Option(
        help: .init("File that holds the API key; RTM_API_KEY may hold it instead.", valueName: "file"),
        completion: .file())
    var apiKeyFile: String?

    @Option(
        help: .init("PEM file of the authorities to trust instead of the system's.", valueName: "file"),
        completion: .file())
    var ca: String?

    @Option(
        help: .init("Context to take what isn't given from; see 'rtm context'.", valueName: "name"),
        completion: .contexts)
    var context: String?

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false
}

extension GatewayOptions {
    var output: Output {
        let palette = Palette(
            isTerminal: ConsoleStream.output.isTerminal, environment: ProcessInfo.processInfo.environment)
        return Output(format: json ? .json : .human, transcript: Transcript(palette: palette))
    }

    func settings() throws(RTMError) -> GatewaySettings {
        let values = GatewayValues(
            gateway: gateway, appID: appID, key: apiKeyFile.map { .file($0, source: "--api-key-file") },
            ca: ca)
        return try GatewaySettings(
            values, context: context, environment: ProcessInfo.processInfo.environment,
            contexts: ContextFile().read)
    }

    /// Calls the gateway, and reports what goes wrong as every command does.
    ///
    /// - Parameters:
    ///   - operation: the command's name, for errors.
    ///   - names: what the command line names.
    ///   - whenInterrupted: the exit status if a signal ends the work.
    func run(
        _ operation: String, naming names: [ArgumentName] = [], whenInterrupted: ExitCode = .interrupted,
        _ work: @escaping @Sendable (GatewayClient, Output) async throws -> Void
    ) async throws {
        let output = output
        try await output.run(whenInterrupted: whenInterrupted) {
            for name in names { try name.check() }
            try await GatewayClient.with(settings(), operation: operation) { client in
                try await work(client, output)
            }
        }
    }
}
