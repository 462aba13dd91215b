import Foundation
import RTMAccessToken
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// JWTs from a client's configuration to the end of its session, with keys in a file.
@Suite(.serialized, .ends(withinMinutes: 1)) struct JWTTests {
    private static var later: UInt64 { WallClock.milliseconds() / 1000 + 500 }
    /// The second after the next one: one to two seconds from now.
    private static var soon: UInt64 { WallClock.milliseconds() / 1000 + 2 }

    /// Starts a system whose app takes JWTs of the keys, and tokens 007 beside them.
    private func withSystem(
        keys: String = SampleJWT.keys(SampleJWT.secretJWK, SampleJWT.rsaJWK, SampleJWT.curveJWK),
        _ deployment: Deployment = .standalone, _ body: (RunningSystem, _ keys: URL) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "keys.json")
        try Data(keys.utf8).write(to: file)
        let configuration = directory.appending(path: "edge.yaml")
        let app =
            "{id: \(SampleApp.id), certificate: \(SampleApp.certificate), jwtKeys: \(file.path), "
            + "jwtIssuer: \"\(SampleJWT.issuer)\"}"
        try Data("apps:\n  - \(app)\n".utf8).write(to: configuration)
        try await RunningSystem.with(deployment, edge: ["--config", configuration.path]) { system in
            try await body(system, file)
        }
    }

    private func client(_ system: RunningSystem, _ user: String, _ token: String) throws -> RTMClient {
        try system.client(user) {
            $0.appID = SampleApp.id
            $0.token = token
        }
    }

    private func token(
        for user: String = "anna", endsAt: UInt64 = later, _ key: JWTSigningKey? = nil,
        _ change: (inout JWTClaims) -> Void = { _ in }
    ) throws -> String {
        var claims = SampleJWT.claims(for: user, endsAt: endsAt)
        change(&claims)
        return try claims.signed(with: key ?? SampleJWT.signing(.es256))
    }

    private func login(_ system: RunningSystem, _ token: String) async throws -> ErrorCode? {
        let anna = try client(system, "anna", token)
        let refusal = await code { try await anna.login() }
        await anna.close()
        return refusal
    }

    @Test(
        "A-17: JWTs of every algorithm let their user in beside tokens 007", arguments: Deployment.allCases)
    func algorithms(_ deployment: Deployment) async throws {
        let jwts = try [JWTAlgorithm.hs256, .rs256, .es256].map { try token(SampleJWT.signing($0)) }
        let old = try SampleApp.token(for: "anna", endsAt: Self.later)
        try await withSystem(deployment) { system, _ in
            for token in jwts + [old] {
                let refusal = try await login(system, token)
                #expect(refusal == nil)
            }
        }
    }

    @Test("A-19: each refusal has its code and its reason of the link")
    func refusals() async throws {
        try await withSystem { system, _ in
            let cases: [(String, ErrorCode, LinkStateReason, String)] = [
                (try token(endsAt: Self.soon - 40), .tokenExpired, .tokenExpired, "server clock"),
                (
                    try token { $0.beginsAt = (Self.later + 500) * 1000 }, .invalidToken, .invalidToken,
                    "begins to be valid (nbf)"
                ),
                (try token { $0.issuer = "https://else" }, .invalidToken, .invalidToken, "another issuer"),
                (
                    try token { $0.audience = ["other"] }, .loginInconsistentAppId, .inconsistentAppId,
                    "another audience"
                ),
                (try token(for: "bert"), .invalidToken, .invalidToken, #"user "bert", not for "anna""#),
                (
                    try token { $0.subject = nil }, .loginNotAuthorized, .loginNotAuthorized,
                    "lets nobody log in"
                ),
                (
                    try token(JWTSigningKey(SampleJWT.rsaKey, id: "unknown")), .invalidToken, .invalidToken,
                    #"the key "unknown", which is unknown here"#
                ),
                (
                    try token(JWTSigningKey(SampleJWT.otherRSAKey, id: "r")), .invalidToken, .invalidToken,
                    "signature is wrong"
                ),
                (try confused(), .invalidToken, .invalidToken, "its key is for RS256"),
                (try unsigned(), .invalidToken, .invalidToken, "not signed: its algorithm is none"),
            ]
            for (token, code, reasonCode, reason) in cases {
                let anna = try client(system, "anna", token)
                var events = anna.events().makeAsyncIterator()
                #expect(await RTMTestSupport.code { try await anna.login() } == code, "\(reason)")
                let change = await events.nextLinkState(.failed)
                #expect(change?.reasonCode == reasonCode)
                #expect(change?.reason.contains(reason) == true, "\(change?.reason ?? "")")
                await anna.close()
            }
        }
    }

    /// The public key of RSA, which everybody has, as the secret of an HMAC.
    private func confused() throws -> String {
        let secret = Data((SampleJWT.rsaPublicKey + "\n").utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return try token(JWTSigningKey(#"{"kty":"oct","kid":"r","k":"\#(secret)"}"#, id: nil))
    }

    private func unsigned() throws -> String {
        let claims = try token().split(separator: ".")[1]
        return Data(#"{"alg":"none"}"#.utf8).base64EncodedString().replacing("=", with: "") + ".\(claims)."
    }

    @Test("S-50 to S-52: the warning comes, a renewal moves the end, and the end is the session's")
    func expiry() async throws {
        try await withSystem { system, _ in
            let anna = try client(system, "anna", try token(endsAt: Self.soon))
            var events = anna.events().makeAsyncIterator()
            try await anna.login()
            #expect(await events.nextTokenNotice() != nil)
            // Of the other kind, which the app takes, too.
            try await anna.renewToken(SampleApp.token(for: "anna", endsAt: Self.later))
            let end = Self.soon
            try await anna.renewToken(token(endsAt: end))
            #expect(await events.nextTokenNotice() != nil, "of the new token")
            let change = await events.nextLinkState(.failed)
            #expect(change?.reasonCode == .tokenExpired)
            #expect(WallClock.milliseconds() >= end * 1000)
            try await anna.login(token: token())
            await anna.close()
        }
    }

    @Test(
        "A-15, A-20: permissions hold, a renewal brings its own, and stream channels are joined by the list")
    func permissions() async throws {
        try await withSystem { system, _ in
            let anna = try client(
                system, "anna", try token { $0.permissions = .channels(read: ["news"], write: ["lobby"]) })
            try await anna.login()
            try await anna.subscribe(to: "news", features: .message)
            try await anna.publish("x", to: .channel("lobby"))
            #expect(
                await code { try await anna.publish("x", to: .channel("news")) }
                    == .channelPublishPermissionDenied)
            #expect(await code { try await anna.subscribe(to: "lobby") } == .channelSubscribePermissionDenied)
            try await anna.renewToken(token { $0.joins = ["stage"] })
            try await anna.subscribe(to: "lobby", features: .message)
            let stage = try token { $0.joins = ["stage"] }
            #expect(await code { _ = try await anna.join("hall", token: stage) } == .channelJoinFailed)
            try await anna.join("stage", token: stage).leave()
            await anna.close()
        }
    }

    @Test(
        "A-18: keys are rotated in their file while the edge runs, and a file that is no good changes nothing"
    )
    func rotation() async throws {
        try await withSystem(keys: SampleJWT.keys(SampleJWT.rsaJWK)) { system, file in
            let process = try system.process("rtm-standalone")
            let old = try token(SampleJWT.signing(.rs256))
            let new = try token(JWTSigningKey(SampleJWT.otherRSAKey, id: "r2"))
            let bert = try client(system, "bert", token(for: "bert", SampleJWT.signing(.rs256)))
            try await bert.login()
            #expect(try await login(system, new) == .invalidToken)

            // The issuer first publishes both, and later only the new one.
            try Data(SampleJWT.keys(SampleJWT.rsaJWK, SampleJWT.otherRSAJWK).utf8).write(
                to: file, options: .atomic)
            try await eventually("the change is noticed", within: .seconds(20)) {
                try await login(system, new) == nil
            }
            #expect(try await login(system, old) == nil)
            try Data(SampleJWT.keys(SampleJWT.otherRSAJWK).utf8).write(to: file, options: .atomic)
            process.signal(SIGHUP)
            try await eventually("the old key is gone") { try await login(system, old) == .invalidToken }

            try Data(SampleJWT.keys(SampleJWT.weakJWK).utf8).write(to: file, options: .atomic)
            process.signal(SIGHUP)
            try await eventually("the mistake is said") {
                process.log.contains("RSA with 1024 bits, and 2048 are needed at least")
            }
            #expect(try await login(system, new) == nil)
            // Who was there stays, and can't renew with the old key.
            #expect(bert.linkState == .connected)
            let renewal = await code {
                try await bert.renewToken(token(for: "bert", SampleJWT.signing(.rs256)))
            }
            #expect(renewal == .invalidToken)
            try await bert.renewToken(token(for: "bert", JWTSigningKey(SampleJWT.otherRSAKey, id: "r2")))
            await bert.close()
        }
    }

    @Test("--check-config and the start refuse keys that can't be used, with app and file")
    func unusableKeys() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data("apps: [{id: a, jwtKeys: /nowhere/keys.json}]\n".utf8).write(
            to: directory.appending(path: "edge.yaml"))
        for program in ["rtm-edge", "rtm-gateway", "rtm-standalone"] {
            for flags in [["--check-config"], []] {
                let process = try ServiceProcess(
                    program, ["--config", "edge.yaml"] + flags, directory: directory)
                #expect(try await process.exit() == 2, "\(program) \(flags)")
                let problem =
                    "apps (edge.yaml line 1): the file /nowhere/keys.json can't be read: No such file"
                #expect(process.log.components(separatedBy: problem).count == 2, "\(program) \(flags)")
            }
        }
    }

    @Test("rtm token: a JWT is created, explained, and used at the command line")
    func commandLine() async throws {
        try await withSystem { system, keys in
            let directory = keys.deletingLastPathComponent()
            let key = directory.appending(path: "key.pem")
            try Data(SampleJWT.curveKey.utf8).write(to: key)
            let app = ["--app-id", SampleApp.id, "--user", "anna"]
            let created = try await system.end(
                system.command(
                    [
                        "token", "create", "--jwt-key", key.path, "--jwt-key-id", "e", "--jwt-issuer",
                        SampleJWT.issuer,
                    ] + app))
            let token = try #require(created.output.first)
            let explained = try await system.end(
                system.command(
                    ["token", "explain", token, "--jwt-keys", keys.path, "--jwt-issuer", SampleJWT.issuer]
                        + app))
            #expect(explained.status == 0)
            #expect(explained.output.suffix(7).allSatisfy { $0.hasSuffix(" ok") })
            let published = try await system.end(
                system.command(["publish", "lobby", "hi", "--token", token, "--app-id", SampleApp.id]))
            #expect(published.status == 0)
        }
    }
}
