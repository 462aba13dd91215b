import ArgumentParser
import Foundation
import RTMClient

/// The options of the commands about tokens, which talk to no server.
struct TokenOptions: ParsableArguments {
    @Option(name: .customLong("app-id"), help: "App id that the token is for.")
    var appID: String?

    @Option(help: "User id that the token is for.")
    var user: String?

    @Option(
        help: .init(
            "The app's certificate. A shell keeps it in its history, so a file or RTM_CERTIFICATE is better.",
            valueName: "digits"))
    var certificate: String?

    @Option(help: .init("File that holds the app's certificate.", valueName: "file"))
    var certificateFile: String?

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    func validate() throws {
        if certificate != nil, certificateFile != nil {
            throw ValidationError("give either --certificate or --certificate-file")
        }
    }
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
        func content(of path: String, _ name: String) throws(RTMError) -> String {
            try NamedFile.text(at: path, name, for: "token", readFile)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        var certificate = certificate
        if let path = certificateFile {
            certificate = try content(of: path, "--certificate-file")
        } else if certificate == nil {
            certificate = environment["RTM_CERTIFICATE"]
        }
        if certificate == nil, let path = environment["RTM_CERTIFICATE_FILE"] {
            certificate = try content(of: path, "RTM_CERTIFICATE_FILE")
        }
        return TokenCredentials(
            appID: appID ?? environment["RTM_APP_ID"], userID: user ?? environment["RTM_USER"],
            certificate: certificate)
    }
}

/// The app and the user of a token, as far as they are known: each value comes from its option, otherwise
/// from the environment.
struct TokenCredentials: Sendable, Hashable {
    var appID: String?
    var userID: String?
    var certificate: String?
}
