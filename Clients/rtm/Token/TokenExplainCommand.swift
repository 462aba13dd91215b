import ArgumentParser
import Foundation
import RTMAccessToken
import RTMClient
import RTMModel

struct TokenExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show the content of a token, and why a server would refuse it.",
        discussion: """
            The checks stand in the order in which a server makes them. What isn't given - app id, user, \
            certificate - can't be checked. The exit status is 1 if a check fails. Times are compared with \
            the clock of this machine; the server uses its own.
            """)

    @Argument(help: "The token; '-' reads it from standard input.")
    var token: String

    @OptionGroup var options: TokenOptions

    func run() async throws {
        try await options.run {
            let now = WallClock.milliseconds()
            let explanation = try explanation(options.credentials(), nowMilliseconds: now)
            try await options.output.result(
                explanation.lines(nowMilliseconds: now).joined(separator: "\n"), "token", explanation.json)
            if explanation.refusal != nil { throw ExitCode.failure }
        }
    }

    func explanation(
        _ credentials: TokenCredentials, nowMilliseconds: UInt64
    ) throws(RTMError) -> TokenExplanation {
        try TokenExplanation(
            SignedToken(text()), appID: credentials.appID, certificate: credentials.certificate,
            userID: credentials.userID, nowMilliseconds: nowMilliseconds)
    }

    /// The token's text without the blanks and line ends that copying adds.
    private func text() throws(RTMError) -> String {
        guard token == "-" else { return token.trimmingCharacters(in: .whitespacesAndNewlines) }
        // One byte more than a token may have is enough to refuse the rest.
        let input = try? FileHandle.standardInput.read(upToCount: SignedToken.textBytesMax + 1)
        return String(decoding: input ?? Data(), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
