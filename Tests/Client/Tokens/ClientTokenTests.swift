import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Tokens of a session over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientTokenTests {
    private static func usual(_ frame: Rtm_Client_ClientFrame) -> [Rtm_Client_ServerFrame] {
        [FakeEdge.usual(frame)].compactMap { $0 }
    }

    /// A configuration with this token.
    private static func token(_ token: String) -> (inout RTMClient.Configuration) -> Void {
        { $0.token = token }
    }

    private static let willExpire = Rtm_Client_ServerFrame.with { $0.tokenWillExpire.remainingMs = 30_000 }

    @Test func `A login that is given no token presents the configuration's`() async throws {
        try await withClient(nil, Self.token("configured")) { client, edge in
            #expect(edge.received.last?.login.token == "configured")
            try await client.logout()
            try await client.login(token: "given")
            #expect(edge.received.last?.login.token == "given")
        }
    }

    @Test func `S-52: a renewal sends the token, and no link event follows`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.renewToken("new")
            #expect(edge.received.last?.renewToken.token == "new")
            edge.push([FakeEdge.publication("alice", offset: 1, text: "next", type: .user)])
            #expect(await events.next()?.isMessage == true, "the next event is the message")
            #expect(edge.connectionsAccepted == 1)
        }
    }

    @Test func `2.1.10: subscriptions, publishing and events go on after a renewal`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            try await client.renewToken("new")
            edge.push([FakeEdge.publication("lobby", offset: 1, text: "hi")])
            #expect(await events.nextMessage()?.payload == .text("hi"))
            try await client.publish("x", to: .channel("lobby"))
            try await client.unsubscribe(from: "lobby")
            #expect(client.linkState == .connected)
        }
    }

    @Test(arguments: [
        (Rtm_Client_ErrorCode.errorInvalidToken, ErrorCode.invalidToken),
        (.errorTokenExpired, .tokenExpired), (.errorInconsistentAppID, .loginInconsistentAppId),
        (.errorLoginNotAuthorized, .loginNotAuthorized),
        (.errorOperationRateExceedLimitation, .operationRateExceedLimitation),
        (.UNRECOGNIZED(-77), .invalidToken),
    ])
    func `S-52: a refused renewal throws the server's code, and the link lives on with the old token`(
        refusal: Rtm_Client_ErrorCode, expected: ErrorCode
    ) async throws {
        try await withClient(nil, Self.token("old")) { client, edge in
            edge.follow { frame in
                frame.isRenewToken
                    ? [FakeEdge.refusal(of: frame, refusal, "because")] : Self.usual(frame)
            }
            let error = await #expect(throws: RTMError.self) { try await client.renewToken("bad") }
            #expect(error?.code == expected)
            #expect(error?.operation == "renewToken")
            #expect(error?.reason.contains("because") == true)
            #expect(client.linkState == .connected)
            edge.dropConnections()
            try await eventually("connected again") { edge.received.filter(\.isLogin).count >= 2 }
            #expect(edge.received.last(where: \.isLogin)?.login.token == "old")
        }
    }

    @Test func `S-52: a renewal without an answer is -10026, and counts when the answer comes late`()
        async throws
    {
        let script: FakeEdge.Script = { $0.isRenewToken ? [] : Self.usual($0) }
        let brief: (inout RTMClient.Configuration) -> Void = {
            $0.token = "old"
            $0.requestTimeout = .seconds(2)
        }
        try await withClient(script, brief) { client, edge in
            #expect(await code { try await client.renewToken("new") } == .renewTokenTimeout)
            let request = try #require(edge.received.filter(\.isRenewToken).last)
            edge.push([FakeEdge.answer(to: request) { $0.tokenRenewed = .init() }])
            // The answer has been read when the later ping is answered.
            _ = try await client.ping()
            edge.dropConnections()
            try await eventually("connected again") { edge.received.filter(\.isLogin).count >= 2 }
            #expect(edge.received.last(where: \.isLogin)?.login.token == "new")
        }
    }

    @Test func `S-52: a reconnect uses the newest token`() async throws {
        try await withClient(nil, Self.token("first")) { client, edge in
            try await client.renewToken("second")
            try await client.login(token: "third")
            edge.dropConnections()
            try await eventually("connected again") { edge.received.filter(\.isLogin).count >= 2 }
            #expect(edge.received.last(where: \.isLogin)?.login.token == "third")
        }
    }

    @Test func `2.2.6: the app gets one event per token that it will expire, over reconnects too`()
        async throws
    {
        let script: FakeEdge.Script = { $0.isLogin ? Self.usual($0) + [Self.willExpire] : Self.usual($0) }
        let edge = try await FakeEdge.start(script)
        let client = try RTMClient.forTest(edge)
        var events = client.events().makeAsyncIterator()
        try await client.login(token: "a")
        #expect(await events.nextLinkState(.connected) != nil)
        #expect(await events.nextTokenNotice()?.remaining == .seconds(30))
        edge.push([Self.willExpire])
        edge.dropConnections()
        #expect(await events.next()?.linkState == .disconnected, "not a second notice")
        #expect(await events.next()?.linkState == .connecting)
        #expect(await events.next()?.linkState == .connected)
        try await client.renewToken("b")
        edge.push([Self.willExpire, Self.willExpire])
        #expect(await events.next()?.isTokenNotice == true, "of the new token")
        edge.push([FakeEdge.publication("alice", offset: 1, text: "next", type: .user)])
        #expect(await events.next()?.isMessage == true)
        await client.close()
        try await edge.stop()
    }

    @Test func `S-51: the end of a token fails the link, and only a login moves back`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push([
                .with {
                    $0.disconnect.code = .disconnectTokenExpired
                    $0.disconnect.reason = "the token has expired"
                }
            ])
            let change = await events.nextLinkState(.failed)
            #expect(change?.operation == .serverReject)
            #expect(change?.reasonCode == .tokenExpired)
            #expect(change?.affectedChannels == ["lobby"])
            #expect(await code { try await client.publish("x", to: .channel("c")) } == .notLogin)
            #expect(await code { try await client.renewToken("new") } == .notLogin)
            try await client.login(token: "new")
            #expect(edge.received.last?.login.token == "new")
            #expect(edge.received.filter(\.isSubscribe).count == 1, "nothing is restored")
        }
    }

    @Test func `S-3: a token that expired while the link was away fails it`() async throws {
        try await withClient(nil, Self.token("short")) { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.follow {
                $0.isLogin ? [FakeEdge.refusal(of: $0, .errorTokenExpired, "expired")] : Self.usual($0)
            }
            edge.dropConnections()
            let change = await events.nextLinkState(.failed)
            #expect(change?.previousState == .connecting)
            #expect(change?.operation == .serverReject)
            #expect(change?.reasonCode == .tokenExpired)
        }
    }

    @Test func `S-8, S-52: a renewal needs a login, and takes a lost session up at once`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) { $0.timing.firstRetryDelay = .seconds(100) }
        #expect(await code { try await client.renewToken("new") } == .notLogin)
        var events = client.events().makeAsyncIterator()
        try await client.login(token: "old")
        edge.dropConnections()
        #expect(await events.nextLinkState(.disconnected) != nil)
        try await client.renewToken("new")
        #expect(edge.received.last?.login.token == "new")
        #expect(client.linkState == .connected)
        await client.close()
        #expect(await code { try await client.renewToken("new") } == .instanceAlreadyReleased)
        try await edge.stop()
    }

    @Test func `2.2.2: a text that is no token is refused by the call and harms nothing`() async throws {
        try await withClient { client, edge in
            let frames = edge.received.count
            for token in ["\0", String(repeating: "x", count: 100_000)] {
                #expect(await code { try await client.renewToken(token) } == .invalidToken)
                #expect(await code { try await client.login(token: token) } == .invalidToken)
            }
            #expect(edge.received.count == frames)
            #expect(client.linkState == .connected)
        }
    }
}

extension RTMEvent {
    fileprivate var isMessage: Bool { if case .message = self { true } else { false } }
    fileprivate var isTokenNotice: Bool { if case .tokenWillExpire = self { true } else { false } }
    fileprivate var linkState: LinkState? {
        if case .linkState(let change) = self { change.currentState } else { nil }
    }
}
