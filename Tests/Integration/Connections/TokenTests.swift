import AgoraRtmKit
import Foundation
import RTMAccessToken
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import RTMTokenTestSupport
import Synchronization
import Testing

/// Tokens from a client's configuration to the end of its session. They end soon, so that nobody has to wait.
@Suite(.serialized, .ends(withinMinutes: 1)) struct TokenTests {
    private static let flags = ["--apps", "dev,\(SampleApp.id):\(SampleApp.certificate)"]

    /// The second after the next one: one to two seconds from now.
    private static var soon: UInt64 { WallClock.milliseconds() / 1000 + 2 }
    private static var later: UInt64 { WallClock.milliseconds() / 1000 + 500 }

    private func withSystem(
        _ deployment: Deployment = .standalone, _ body: (RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(deployment, edge: Self.flags, body)
    }

    private func client(_ system: RunningSystem, _ user: String, _ token: String) throws -> RTMClient {
        try system.client(user) {
            $0.appID = SampleApp.id
            $0.token = token
        }
    }

    // MARK: Login

    @Test("S-2, S-3: a token lets its user in, and each refusal has its code and its reason of the link")
    func logins() async throws {
        try await withSystem { system in
            let past = Self.soon - 40
            let streams = TokenService(.rtc(channel: "c", user: "anna"), privileges: [1: 600])
            let cases: [(String, ErrorCode?, LinkStateReason, String)] = [
                (try SampleApp.token(for: "anna", endsAt: Self.later), nil, .loginSuccess, "logged in"),
                (
                    try SampleApp.token(for: "anna", endsAt: past), .tokenExpired, .tokenExpired,
                    "server clock"
                ),
                (
                    try SampleApp.token(for: "bert", endsAt: Self.later), .invalidToken, .invalidToken,
                    "for user \"bert\", not for \"anna\""
                ),
                (
                    try SampleApp.token(
                        for: "anna", endsAt: Self.later, certificate: SampleApp.otherCertificate),
                    .invalidToken, .invalidToken, "signature"
                ),
                (
                    try SampleApp.token(for: "anna", endsAt: Self.later, appID: SampleApp.otherCertificate),
                    .loginInconsistentAppId, .inconsistentAppId, "another app id"
                ),
                // A token of the wrong kind (release note 2.2.2).
                (
                    try SampleApp.token(endsAt: Self.later, [streams]), .loginNotAuthorized,
                    .loginNotAuthorized, "no rtm service"
                ),
                ("", .invalidToken, .invalidToken, "empty"),
                (SampleApp.id, .invalidToken, .invalidToken, "needs a token"),
                ("nonsense", .invalidToken, .invalidToken, "doesn't begin with 007"),
            ]
            for (token, code, reasonCode, reason) in cases {
                let anna = try client(system, "anna", token)
                var events = anna.events().makeAsyncIterator()
                #expect(await RTMTestSupport.code { try await anna.login() } == code)
                let change = await events.nextLinkState(code == nil ? .connected : .failed)
                #expect(change?.reasonCode == reasonCode)
                #expect(change?.operation == (code == nil ? .login : .serverReject))
                #expect(change?.reason.contains(reason) == true, "\(change?.reason ?? "")")
                #expect(anna.linkState == (code == nil ? .connected : .failed))
                await anna.close()
            }
            let guest = try system.client("guest")
            try await guest.login()
            #expect(await code { try await guest.renewToken("007eJx") } == .invalidToken)
            try await guest.renewToken("dev")
            await guest.close()
        }
    }

    // MARK: The end

    @Test("S-50, S-51: the warning comes once, right behind the login; the token's end is the session's")
    func expiry() async throws {
        try await withSystem { system in
            let end = Self.soon
            let anna = try client(system, "anna", try SampleApp.token(for: "anna", endsAt: end))
            var events = anna.events().makeAsyncIterator()
            try await anna.login()
            #expect(await events.nextLinkState(.connected) != nil)
            try await anna.subscribe(to: "lobby", features: .message)
            let notice = try #require(await events.nextTokenNotice())
            #expect(notice.remaining > .zero && notice.remaining <= .seconds(2))
            // The next event is the end and not a second warning (release note 2.2.6). Presence wasn't asked
            // for (P-7).
            var next = await events.next()
            if case .presence = next { next = await events.next() }
            guard case .linkState(let change) = next else {
                return #expect(Bool(false), "another event")
            }
            #expect(WallClock.milliseconds() >= end * 1000)
            #expect(change.previousState == .connected)
            #expect(change.currentState == .failed)
            #expect(change.operation == .serverReject)
            #expect(change.reasonCode == .tokenExpired)
            #expect(change.affectedChannels == ["lobby"])
            #expect(await code { try await anna.publish("x", to: .channel("lobby")) } == .notLogin)
            #expect(await code { try await anna.login() } == .tokenExpired, "the same token again")
            try await anna.login(token: SampleApp.token(for: "anna", endsAt: Self.later))
            try await anna.publish("x", to: .channel("lobby"))
            await anna.close()
            let metrics = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                .body
            #expect(metrics.contains("rtm_edge_disconnects_total{code=\"tokenExpired\"} 1"))
        }
    }

    @Test(
        "S-52, 2.1.10: a renewed session outlives its first token, and nothing of it is interrupted",
        arguments: Deployment.allCases)
    func renewal(_ deployment: Deployment) async throws {
        try await withSystem(deployment) { system in
            let end = Self.soon
            let anna = try client(system, "anna", try SampleApp.token(for: "anna", endsAt: end))
            let bert = try client(system, "bert", try SampleApp.token(for: "bert", endsAt: Self.later))
            var events = anna.events().makeAsyncIterator()
            try await anna.login()
            try await bert.login()
            try await anna.subscribe(to: "lobby", features: .message)
            #expect(await events.nextTokenNotice() != nil)
            try await anna.renewToken(SampleApp.token(for: "anna", endsAt: Self.later))
            try await eventually("the first token has ended") {
                try await bert.publish("in between", to: .channel("lobby"))
                // An edge may notice the end a quarter of a second late.
                return WallClock.milliseconds() > end * 1000 + 300
            }
            try await anna.publish("still here", to: .user("bert"))
            try await bert.publish("last", to: .channel("lobby"))
            var others = 0
            while let event = await events.next() {
                guard case .message(let message) = event else {
                    // Presence wasn't asked for, and the event says so (P-7).
                    if case .presence = event { continue }
                    others += 1
                    continue
                }
                if message.payload == .text("last") { break }
            }
            #expect(others == 0, "neither a link event nor a second warning")
            let refused = try SampleApp.token(for: "bert", endsAt: Self.later)
            #expect(await code { try await anna.renewToken(refused) } == .invalidToken)
            #expect(await code { try await anna.renewToken("nonsense") } == .invalidToken)
            #expect(anna.linkState == .connected)
            await anna.close()
            await bert.close()
        }
    }

    @Test("S-52: a refused renewal leaves the old end in force; S-7: a login while connected renews")
    func refusedRenewal() async throws {
        try await withSystem { system in
            let anna = try client(system, "anna", try SampleApp.token(for: "anna", endsAt: Self.soon))
            var events = anna.events().makeAsyncIterator()
            try await anna.login()
            let expired = try SampleApp.token(for: "anna", endsAt: Self.soon - 60)
            #expect(await code { try await anna.renewToken(expired) } == .tokenExpired)
            try await anna.login(token: SampleApp.token(for: "anna", endsAt: Self.soon + 1))
            #expect(await events.nextTokenNotice() != nil)
            #expect(await events.nextTokenNotice() != nil, "of the second token")
            #expect(await events.nextLinkState(.failed)?.reasonCode == .tokenExpired)
            await anna.close()
        }
    }

    @Test("R-10: the third renewal within a second is told when to come")
    func renewalRate() async throws {
        try await withSystem { system in
            let token = try SampleApp.token(for: "anna", endsAt: Self.later)
            let anna = try client(system, "anna", token)
            try await anna.login()
            var refusal: RTMError?
            for number in 0..<3 {
                do {
                    try await anna.renewToken(SampleApp.token(for: "anna", endsAt: Self.later))
                    #expect(number < 2)
                } catch { refusal = error as? RTMError }
            }
            #expect(refusal?.code == .operationRateExceedLimitation)
            #expect(refusal?.limit?.value == 2)
            #expect((refusal?.retryAfter ?? .zero) > .zero)
            await anna.close()
        }
    }

    // MARK: Permissions

    @Test("A-15: lists are enforced for subscribing and publishing, and a renewal brings its own")
    func permissions() async throws {
        try await withSystem { system in
            func token(_ permissions: TokenPermissions) throws -> String {
                try SampleApp.token(for: "anna", endsAt: Self.later, permissions: permissions)
            }
            let anna = try client(
                system, "anna", try token(.channels(read: ["news"], write: ["lobby"], users: ["anna"])))
            try await anna.login()
            try await anna.subscribe(to: "news", features: .message)
            try await anna.publish("x", to: .channel("lobby"))
            try await anna.publish("x", to: .user("anna"))
            let subscribe = await code { try await anna.subscribe(to: "lobby") }
            #expect(subscribe == .channelSubscribePermissionDenied)
            let publish = await code { try await anna.publish("x", to: .channel("news")) }
            #expect(publish == .channelPublishPermissionDenied)
            let send = await code { try await anna.publish("x", to: .user("bert")) }
            #expect(send == .channelPublishPermissionDenied)

            let without = try token(.channels(read: ["lobby"], write: ["lobby"]))
            #expect(await code { try await anna.renewToken(without) } == .channelSubscribePermissionDenied)
            try await anna.unsubscribe(from: "news")
            try await anna.renewToken(without)
            try await anna.subscribe(to: "lobby", features: .message)
            #expect(await code { try await anna.publish("x", to: .user("anna")) } == nil)
            await anna.close()
        }
    }

    // MARK: Frames

    @Test("On the wire: LoggedIn, then the warning; at the end Disconnect 3506, then nothing")
    func frames() async throws {
        try await withSystem { system in
            let connection = try await RawConnection.open(system.address("edge"))
            var frames = connection.frames.makeAsyncIterator()
            try await connection.hello()
            #expect(await frames.next()?.welcome.version == 1)
            var renewal = Rtm_Client_RenewToken()
            try await connection.send(7, .renewToken(renewal))
            let early = await frames.next()
            #expect(early?.requestID == 7)
            #expect(early?.error.code == .errorNotLogin)
            var login = Rtm_Client_Login()
            login.appID = SampleApp.id
            login.userID = "anna"
            login.token = try SampleApp.token(for: "anna", endsAt: Self.soon)
            try await connection.send(8, .login(login))
            #expect(await frames.next()?.loggedIn.sessionID != 0)
            let warning = await frames.next()
            #expect(warning?.requestID == 0)
            #expect((1...2000).contains(warning?.tokenWillExpire.remainingMs ?? 0))
            renewal.token = login.token
            try await connection.send(9, .renewToken(renewal))
            let renewed = await frames.next()
            #expect(renewed?.requestID == 9)
            #expect(renewed?.body == .tokenRenewed(.init()))
            #expect(await frames.next()?.disconnect.code == .disconnectTokenExpired, "no second warning")
            #expect(await frames.next() == nil)
        }
    }

    // MARK: The compatible API

    private final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
        let received = Mutex<[String]>([])

        func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?) {
            received.withLock { $0.append("will expire: \(channel ?? "nil")") }
        }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
            received.withLock { $0.append("\(event.currentState) \(event.operation) \(event.reasonCode)") }
        }
    }

    @Test("AgoraRtmKit: tokenPrivilegeWillExpire, renewToken in both forms, and the end")
    func compatible() async throws {
        try await withSystem { system in
            let listener = Listener()
            let config = AgoraRtmClientConfig(appId: SampleApp.id, userId: "anna")
            let privateConfig = AgoraRtmPrivateConfig()
            privateConfig.serviceType = [.message]
            privateConfig.accessPointHosts = [system.address("edge")]
            config.privateConfig = privateConfig
            let kit = try AgoraRtmClientKit(config, delegate: listener)
            let (_, refused) = await kit.login(nil)
            #expect(refused?.errorCode == .invalidToken)
            let (_, loggedIn) = await kit.login(try SampleApp.token(for: "anna", endsAt: Self.later))
            #expect(loggedIn == nil)
            let (_, bad) = await kit.renewToken("nonsense")
            #expect(bad?.errorCode == .invalidToken)
            #expect(bad?.operation == "renewToken")
            let soon = try SampleApp.token(for: "anna", endsAt: Self.soon)
            let error = await withCheckedContinuation { continuation in
                kit.renewToken(soon) { _, error in continuation.resume(returning: error) }
            }
            #expect(error == nil)
            try await eventually("the end") { listener.received.withLock { $0.count } >= 6 }
            #expect(
                listener.received.withLock { $0 } == [
                    "connecting login login", "failed serverReject invalidToken",
                    "connecting login relogin", "connected login loginSuccess",
                    "will expire: nil", "failed serverReject tokenExpired",
                ])
            kit.destroy()
        }
    }

    // MARK: Operators

    @Test("A certificate that can be none keeps an edge from starting, and the key is named")
    func badCertificate() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let edge = try ServiceProcess(
            "rtm-edge", ["--apps", "\(SampleApp.id):tops3cret"], directory: directory)
        #expect(try await edge.exit() == 2)
        #expect(edge.log.contains("apps (--apps): the value has a certificate in record 1"))
        #expect(!edge.log.contains("tops3cret"))
    }
}
