import ArgumentParser
import Foundation
import RTMAccessToken
import RTMClient
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import rtm

@Suite("Tokens at the command line")
struct TokenCommandTests {
    // MARK: create

    @Test("a token that is made is accepted for its app and user, until it expires")
    func create() throws {
        let token = try create(["--expire", "10m"], credentials)
        let verifier = TokenVerifier(appID: Self.appID, certificate: Self.certificate)
        let grant = try verifier.verify(token.text, userID: "alice", nowMilliseconds: 1_000_000)
        #expect(grant.expiresAtMilliseconds == 1_600_000)
        #expect(throws: RTMError.self) {
            try verifier.verify(token.text, userID: "alice", nowMilliseconds: 1_600_000)
        }
    }

    @Test("stream channels can be joined, and published in where that is asked for (C-2, A-13)")
    func streamChannels() throws {
        let channels = ["--stream-channel", "a", "--stream-channel", "b"]
        func services(_ arguments: [String]) throws -> [TokenService] {
            try SignedToken(create(arguments, credentials).text).token.services
        }
        let login = TokenService(.rtm(user: "alice"), privileges: [1: 3600])
        #expect(
            try services(channels)
                == ["a", "b"].map { .init(.rtc(channel: $0, user: "alice"), privileges: [1: 3600]) } + [login]
        )
        #expect(
            try services(channels + ["--stream-publish"]).first?.privileges == [1: 3600, 4: 3600])
        #expect(try services([]) == [login])
    }

    @Test(
        "A-15: a token that lists names allows those and nothing else; one that lists none is not restricted")
    func permissions() throws {
        let lists = [
            "--read-channel", "news", "--read-channel", "lobby", "--write-channel", "lobby", "--write-user",
            "bob",
        ]
        let verifier = TokenVerifier(appID: Self.appID, certificate: Self.certificate)
        func granted(_ arguments: [String]) throws -> TokenGrant {
            try verifier.verify(
                create(arguments, credentials).text, userID: "alice", nowMilliseconds: 1_000_000)
        }
        let grant = try granted(lists)
        let allowed: [(TokenPermissions.Access, TokenPermissions.Resource, String)] = [
            (.read, .messageChannels, "news"), (.read, .messageChannels, "lobby"),
            (.write, .messageChannels, "lobby"), (.write, .users, "bob"),
        ]
        for access in TokenPermissions.Access.allCases {
            for resource in TokenPermissions.Resource.allCases {
                for name in ["news", "lobby", "bob"] {
                    let isListed = allowed.contains { $0 == (access, resource, name) }
                    #expect(grant.allows(access, to: resource, named: name.utf8) == isListed)
                }
            }
        }
        #expect(try granted([]).permissions.isEmpty)
        #expect(refusal(["--read-channel", "_a"], credentials)?.code == .invalidChannelName)
        #expect(refusal(["--write-user", ""], credentials)?.code == .invalidUserId)
    }

    @Test("what is missing is asked for by its option and its variable")
    func missing() throws {
        let none = refusal([], TokenCredentials())
        #expect(none?.code == .invalidParameter)
        #expect(none?.reason == "--app-id is needed, or RTM_APP_ID")
        #expect(refusal([], TokenCredentials(appID: Self.appID))?.reason.contains("--user") == true)
        let certificate = refusal([], TokenCredentials(appID: Self.appID, userID: "alice"))
        #expect(certificate?.reason.contains("RTM_CERTIFICATE_FILE") == true)
    }

    @Test("what can't be a token is not made")
    func refusedTokens() throws {
        var wrong = credentials
        wrong.appID = "dev"
        #expect(refusal([], wrong)?.code == .invalidAppId)
        wrong = credentials
        wrong.certificate = "dev"
        #expect(refusal([], wrong)?.code == .invalidParameter)
        #expect(refusal([], wrong)?.reason.contains("dev") == false, "a certificate is a secret")
        wrong = credentials
        wrong.userID = "al/ice"
        #expect(refusal([], wrong)?.code == .invalidUserId)
        #expect(refusal(["--stream-channel", "_a"], credentials)?.code == .invalidChannelName)
    }

    @Test(
        "arguments that contradict themselves are no command",
        arguments: [
            ["--expire", "0s"], ["--expire", "1500ms"], ["--expire", "1d"], ["--stream-publish"],
            ["--certificate", "a", "--certificate-file", "b"],
        ])
    func arguments(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try TokenCreateCommand.parse(arguments) }
    }

    // MARK: Where the certificate comes from

    @Test("a certificate comes from the option, else its file, else the variable, else the variable's file")
    func certificateSource() throws {
        func certificate(_ arguments: [String], _ environment: [String: String]) throws -> String? {
            try TokenOptions.parse(arguments).credentials(
                environment: environment, readFile: { "content of \($0)\n" }
            ).certificate
        }
        let both = ["RTM_CERTIFICATE": "v", "RTM_CERTIFICATE_FILE": "f"]
        #expect(try certificate(["--certificate", "o"], both) == "o")
        #expect(try certificate(["--certificate-file", "g"], both) == "content of g")
        #expect(try certificate([], both) == "v")
        #expect(try certificate([], ["RTM_CERTIFICATE": "", "RTM_CERTIFICATE_FILE": "f"]) == "content of f")
        #expect(try certificate([], [:]) == nil)
    }

    @Test("app id and user come from the option, else the variable")
    func names() throws {
        let environment = ["RTM_APP_ID": "theirs", "RTM_USER": "bob"]
        #expect(
            try TokenOptions.parse(["--app-id", "mine"]).credentials(environment: environment)
                == TokenCredentials(appID: "mine", userID: "bob", certificate: nil))
    }

    @Test("a certificate file that can't be read is named")
    func unreadableFile() throws {
        let options = try TokenOptions.parse(["--certificate-file", "/nowhere/at all"])
        let error = #expect(throws: RTMError.self) { try options.credentials(environment: [:]) }
        #expect(
            error?.reason
                == "--certificate-file: '/nowhere/at all' can't be read: No such file or directory")
    }

    // MARK: explain

    @Test("explain shows fields, privileges and times, then every check")
    func explainLines() throws {
        let lines = try explanation(at: 1_111_148_000).lines(nowMilliseconds: 1_111_148_000)
        #expect(
            lines == [
                "app id            970CA35de60c44645bbae8a215061b33",
                "issued            1970-01-13T20:38:31Z (37 s ago)",
                "expires           1970-01-13T20:48:31Z (in 9 min)",
                "salt              1",
                #"service           rtm, user "test_user""#,
                "                  login until 1970-01-13T20:48:31Z (in 9 min)",
                "",
                "app id            ok",
                "signature         not checked: no certificate given",
                "issue time        ok",
                "expiry            ok",
                "login privilege   ok",
                "privilege expiry  ok",
                "user id           not checked: no user id given",
            ])
    }

    @Test("explain says which check fails first, and what a server would answer")
    func explainFailure() throws {
        let lines = try explanation(at: 1_111_748_000).lines(nowMilliseconds: 1_111_748_000)
        let failure = "FAILS: the token expired 37 s ago by the clock of this machine (tokenExpired -10009)"
        #expect(lines.contains("expiry            \(failure)"))
        #expect(lines.contains("login privilege   not reached"))
    }

    @Test("explain --json is one object with the fields of the public API")
    func explainJSON() throws {
        #expect(
            try explanation(at: 1_111_748_000).json.description
                == #"{"result":"refused","token":{"appId":"970CA35de60c44645bbae8a215061b33","#
                + #""issuedAt":1111111,"expiresAt":1111711,"salt":1,"services":[{"type":2,"name":"rtm","#
                + #""userId":"test_user","privileges":[{"privilege":1,"name":"login","expiresAt":1111711}]}]},"#
                + #""unreadServices":0,"checks":[{"check":"appId","outcome":"passed"},"#
                + #"{"check":"signature","outcome":"unknown"},{"check":"issueTime","outcome":"passed"},"#
                + #"{"check":"expiry","outcome":"failed","code":-10009,"name":"tokenExpired","#
                + #""reason":"the token expired 37 s ago by the clock of this machine"},"#
                + #"{"check":"loginPrivilege","outcome":"unreached"},"#
                + #"{"check":"privilegeExpiry","outcome":"unreached"},{"check":"userId","outcome":"unreached"}]}"#
        )
        #expect(try explanation(at: 1_111_148_000).json.description.hasPrefix(#"{"result":"undecided""#))
        let known = TokenCredentials(
            appID: Self.appID, userID: "test_user", certificate: Self.certificate)
        #expect(
            try explanation(known, at: 1_111_148_000).json.description.hasPrefix(#"{"result":"ok""#))
    }

    @Test("all that a token may carry is shown, and nothing of it steers the terminal")
    func explainServices() throws {
        let permissions = TokenPermissions([0: [0: ["a", "b\u{1B}[2J"]], 9: [1: ["c"]]])
        let token = AccessToken(
            appID: Self.appID, issuedAt: 1000, lifetimeSeconds: 600,
            services: [
                TokenService(.rtc(channel: "s", user: ""), privileges: [1: 0, 77: 60]),
                TokenService(.other(.chat, payload: [0, 0]), privileges: [2: 60]),
                TokenService(.rtm2(user: "al\nice", permissions: permissions), privileges: [1: 60]),
            ])
        let explanation = TokenExplanation(
            try token.signed(with: Self.certificate), appID: nil, certificate: nil, userID: nil,
            nowMilliseconds: 1_000_000)
        let lines = explanation.lines(nowMilliseconds: 1_000_000).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        for line in [
            #"service           rtc, stream channel "s", any user"#,
            "joinChannel until 1970-01-01T00:26:40Z (in 10 min) (no limit of its own)",
            "privilege 77 until 1970-01-01T00:17:40Z (in 60 s)",
            "service           chat, not a service of Heliograph", "app until 1970-01-01T00:17:40Z (in 60 s)",
            "service           rtm2, user \"al\u{FFFD}ice\", restricted to the listed names",
            "read messageChannels: a, b\u{FFFD}[2J", "write resource 9: c",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(
            explanation.json.description.contains(
                #""permissions":[{"resource":"messageChannels","access":"read","names":["a","b\u001b[2J"]},"#
                    + #"{"resource":"resource 9","access":"write","names":["c"]}]"#))
    }

    @Test("a token that is copied with blanks around it is read; one that is none is refused by -10005")
    func explainText() throws {
        let command = try TokenExplainCommand.parse([" \(Self.token)\n"])
        let explanation = try command.explanation(TokenCredentials(), nowMilliseconds: 0)
        #expect((explanation as? TokenExplanation)?.signed.text == Self.token)
        let error = #expect(throws: RTMError.self) {
            try TokenExplainCommand.parse(["006abc"]).explanation(TokenCredentials(), nowMilliseconds: 0)
        }
        #expect(error?.code == .invalidToken)
    }

    @Test("a token that would be refused ends explain with exit status 1")
    func exitStatus() async throws {
        let expired = try TokenExplainCommand.parse([Self.token, "--json"])
        await #expect(throws: ExitCode.failure) { try await expired.run() }
    }

    // MARK: JWTs

    @Test("--jwt-key makes a JWT that says what the token 007 would say")
    func createJWT() throws {
        let arguments = [
            "--jwt-key", "FILE", "--expire", "10m", "--read-channel", "news", "--stream-channel", "stage",
            "--stream-publish", "--jwt-issuer", SampleJWT.issuer,
        ]
        var owner = TokenCredentials(appID: "my-app", userID: "alice")
        let claims = try TokenCreateCommand.parse(arguments).claims(for: owner, issuedAt: 1000)
        let verifier = JWTVerifier(
            keys: try JWTKeySet(SampleJWT.curveJWK), issuer: SampleJWT.issuer, audience: "my-app")
        let text = try claims.signed(with: SampleJWT.signing(.es256))
        let grant = try verifier.verify(text, userID: "alice", nowMilliseconds: 1_000_000)
        #expect(grant.expiresAtMilliseconds == 1_600_000)
        #expect(grant.allows(.read, to: .messageChannels, named: "news".utf8))
        #expect(!grant.allows(.write, to: .messageChannels, named: "news".utf8))
        let join = try verifier.verifyJoin(
            text, channel: "stage", userID: "alice", nowMilliseconds: 1_000_000)
        #expect(join.allowsPublishing(now: 1_000_000))

        owner.userID = "al/ice"
        #expect(throws: RTMError.self) {
            try TokenCreateCommand.parse(arguments).claims(for: owner, issuedAt: 1000)
        }
        #expect(throws: RTMError.self) {
            try TokenCreateCommand.parse(["--jwt-key", "FILE"]).claims(
                for: TokenCredentials(userID: "alice"), issuedAt: 1000)
        }
        for option in ["--jwt-key-id", "--jwt-issuer", "--jwt-audience"] {
            #expect(throws: (any Error).self) { try TokenCreateCommand.parse([option, "x"]) }
        }
    }

    @Test("explain shows what is in a JWT, then every check, and reads the keys that the server has")
    func explainJWT() throws {
        let lists = TokenPermissions([0: [0: ["a", "b\u{1B}[2J"]]])
        var claims = SampleJWT.claims(for: "alice", endsAt: 1_111_711)
        (claims.permissions, claims.joins, claims.publishesData) = (lists, ["s", "t"], ["s"])
        let text = try claims.signed(with: SampleJWT.signing(.rs256))
        func explain(
            _ arguments: [String], keys: String = SampleJWT.rsaJWK, at now: UInt64 = 1_111_148_000
        ) throws -> any Explanation {
            try TokenExplainCommand.parse([text] + arguments).explanation(
                TokenCredentials(appID: SampleApp.id, userID: "alice"), nowMilliseconds: now,
                readFile: { $0 == "KEYS" ? keys : "" })
        }
        let all = ["--jwt-keys", "KEYS", "--jwt-issuer", SampleJWT.issuer]
        #expect(
            try explain(all).lines(nowMilliseconds: 1_111_148_000) == [
                "algorithm         RS256", "key               r",
                "issuer            https://issuer.example/",
                "audience          \(SampleApp.id)", "user              alice",
                "issued            1970-01-13T20:38:31Z (37 s ago)",
                "expires           1970-01-13T20:48:31Z (in 9 min)",
                "permissions       restricted to the listed names",
                "                  read messageChannels: a, b\u{FFFD}[2J", "joins             s, t",
                "publishes data    s", "", "key               ok", "signature         ok",
                "issuer            ok", "audience          ok", "begin             ok",
                "expiry            ok", "user id           ok",
            ])
        #expect(try explain(all).json.description.hasPrefix(#"{"result":"ok","jwt":{"algorithm":"RS256""#))
        let blind = try explain([])
        #expect(blind.json.description.hasPrefix(#"{"result":"undecided""#))
        #expect(
            blind.lines(nowMilliseconds: 1_111_148_000).contains(
                "key               not checked: no keys given"))
        let late = try explain(all, at: 1_111_748_000)
        #expect(late.refusal?.code == .tokenExpired)
        #expect(
            try explain(all, keys: SampleJWT.otherRSAJWK).refusal?.reason.contains("unknown here") == true)
        let unusable = #expect(throws: RTMError.self) { try explain(all, keys: "secret") }
        #expect(unusable?.reason.hasPrefix("--jwt-keys: 'KEYS' can't be used: it is neither") == true)
    }

    @Test("a JWT at the command line names its user, and the app has to be named")
    func ownerOfJWT() throws {
        let text = try SampleJWT.claims(for: "alice", endsAt: 1000).signed(with: SampleJWT.signing(.hs256))
        var values = ConnectionValues()
        values.token = text
        #expect(values.withTokenOwner.userID == "alice")
        #expect(values.withTokenOwner.appID == nil)
        values.token = "a.b.c"
        #expect(values.withTokenOwner == values)
    }

    // MARK: -

    private static let appID = "970CA35de60c44645bbae8a215061b33"
    private static let certificate = "5CFd2fd1755d40ecb72977518be15d3b"
    /// A token for `test_user`, issued at 1111111 and valid for 600 s.
    private static let token =
        "007eJxTYOCdJftjyTM2zxW6Xhm/5T0j5LdcUt/xYVt48fb5Mp3PX9coMFiaGzg7GpumpJoZJJuYmJmYJiUlplokGhmaGpgZJ"
        + "hkbu38RYIhgYmBgZABhJiBmBPM5GUpSi0viS4tTiwBZVh6A"

    private let credentials = TokenCredentials(
        appID: Self.appID, userID: "alice", certificate: Self.certificate)

    private func create(_ arguments: [String], _ credentials: TokenCredentials) throws -> SignedToken {
        try TokenCreateCommand.parse(arguments).token(for: credentials, issuedAt: 1000)
    }

    private func refusal(_ arguments: [String], _ credentials: TokenCredentials) -> RTMError? {
        do {
            _ = try create(arguments, credentials)
            return nil
        } catch {
            return error as? RTMError
        }
    }

    private func explanation(
        _ credentials: TokenCredentials = TokenCredentials(appID: Self.appID), at milliseconds: UInt64
    ) throws -> any Explanation {
        try TokenExplainCommand.parse([Self.token]).explanation(credentials, nowMilliseconds: milliseconds)
    }
}
