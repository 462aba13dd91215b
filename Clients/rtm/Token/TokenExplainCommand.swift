import ArgumentParser
import Foundation
import RTMAccessToken
import RTMClient
import RTMModel

struct TokenExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show the content of a token, and why a server would refuse it.",
        discussion: """
            It reads tokens 007 and JWTs. The checks stand in the order in which a server makes them. What \
            isn't given - app id, user, certificate, keys of JWTs - can't be checked. The exit status is 1 if \
            a check fails. Times are compared with the clock of this machine; the server uses its own.
            """)

    @Argument(help: "The token; '-' reads it from standard input.")
    var token: String

    @Option(
        help: .init(
            "File of the keys that JWTs are checked with, as jwtKeys of the server names it: a JWKS document or "
                + "a public key in PEM.", valueName: "file"))
    var jwtKeys: String?

    @OptionGroup var jwt: JWTOptions
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
        _ credentials: TokenCredentials, nowMilliseconds: UInt64,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) -> any Explanation {
        let text = try text()
        guard SignedJWT.isOne(text) else {
            return try TokenExplanation(
                SignedToken(text), appID: credentials.appID, certificate: credentials.certificate,
                userID: credentials.userID, nowMilliseconds: nowMilliseconds)
        }
        var keys: JWTKeySet?
        if let jwtKeys {
            keys = try JWTOptions.key("--jwt-keys", at: jwtKeys, readFile) { text throws(JWTKeyProblem) in
                try JWTKeySet(text)
            }
        }
        return try JWTExplanation(
            SignedJWT(text), keys: keys, issuer: jwt.jwtIssuer,
            audience: jwt.jwtAudience ?? credentials.appID, userID: credentials.userID,
            nowMilliseconds: nowMilliseconds)
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

/// What is shown of a token of either kind.
protocol Explanation {
    func lines(nowMilliseconds: UInt64) -> [String]
    var json: JSON { get }
    var refusal: RTMError? { get }
}

extension TokenExplanation: Explanation {}
extension JWTExplanation: Explanation {}
