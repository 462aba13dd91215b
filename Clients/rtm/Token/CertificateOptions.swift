import ArgumentParser
import Foundation
import RTMClient

/// The options that name an app's certificate, with which tokens are signed.
struct CertificateOptions: ParsableArguments {
    @Option(
        help: .init(
            "The app's certificate. A shell keeps it in its history, so a file or RTM_CERTIFICATE is better.",
            valueName: "digits"))
    var certificate: String?

    @Option(help: .init("File that holds the app's certificate.", valueName: "file"))
    var certificateFile: String?

    func validate() throws {
        if certificate != nil, certificateFile != nil {
            throw ValidationError("give either --certificate or --certificate-file")
        }
    }

    /// The certificate, from an option or else from the environment; nil if neither names one.
    ///
    /// - Throws: `.invalidParameter` (-10014) for a file that can't be read.
    func certificate(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) -> String? {
        let environment = environment.filter { !$0.value.isEmpty }
        func content(of path: String, _ name: String) throws(RTMError) -> String {
            try NamedFile.text(at: path, name, for: "token", readFile)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        if let certificateFile { return try content(of: certificateFile, "--certificate-file") }
        if let certificate = certificate ?? environment["RTM_CERTIFICATE"] { return certificate }
        guard let path = environment["RTM_CERTIFICATE_FILE"] else { return nil }
        return try content(of: path, "RTM_CERTIFICATE_FILE")
    }
}
