import ArgumentParser
import Foundation
import RTMClient

/// The options of the commands about tokens, which talk to no server.
struct TokenOptions: ParsableArguments {
    @Option(name: .customLong("app-id"), help: "App id that the token is for.")
    var appID: String?

    @Option(help: "User id that the token is for.")
    var user: String?

    @OptionGroup var certificate: CertificateOptions

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false
}

extension TokenOptions {
    var output: Output { Output(format: json ? .json : .human, transcript: Transcript()) }

    func run(_ work: () async throws -> Void) async throws { try await output.reportingErrors(work) }

    func credentials(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) -> TokenCredentials {
        // An empty variable means the same as none, as it does for the other commands.
        let environment = environment.filter { !$0.value.isEmpty }
        return TokenCredentials(
            appID: appID ?? environment["RTM_APP_ID"], userID: user ?? environment["RTM_USER"],
            certificate: try certificate.certificate(environment: environment, readFile: readFile))
    }
}

/// The app and the user of a token, as far as they are known: each value comes from its option, otherwise
/// from the environment.
struct TokenCredentials: Sendable, Hashable {
    var appID: String?
    var userID: String?
    var certificate: String?
}
