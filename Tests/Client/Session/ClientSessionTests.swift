import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import Testing

/// Login, logout and close over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientSessionTests {
    @Test func `A login sends Hello and Login with the clamped intervals, then the link is connected`()
        async throws
    {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) {
            $0.heartbeatInterval = .seconds(1)
            $0.presenceTimeout = .seconds(9999)
        }
        var events = client.events().makeAsyncIterator()
        try await client.login(token: "secret")
        #expect(client.linkState == .connected)
        #expect(await events.nextLinkState(.connecting)?.reasonCode == .login)
        #expect(await events.nextLinkState(.connected)?.reasonCode == .loginSuccess)
        let frames = edge.received
        #expect(frames.count == 2)
        #expect(frames.first?.hello.versionMax == 1)
        let login = frames.last?.login
        #expect(login?.appID == "app")
        #expect(login?.userID == "alice")
        #expect(login?.token == "secret")
        #expect(login?.heartbeatIntervalS == 5)
        #expect(login?.presenceTimeoutS == 300)
        // Protocol, "Frames": servers and tools in JavaScript lose the last digits of greater numbers.
        #expect((1..<(1 << 53)).contains(try #require(login?.instance)))
        await client.close()
        try await edge.stop()
    }

    @Test func `S-1: without a token the app id is sent`() async throws {
        try await withClient { _, edge in #expect(edge.received.last?.login.token == "app") }
    }

    @Test
    func `S-10: a login carries whether the app asked for it, and each has the number of its attempt`()
        async throws
    {
        try await withClient { client, edge in
            edge.follow { $0.isLogin ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
            edge.dropConnections()
            try await eventually("it comes back") { edge.received.filter(\.isLogin).count == 2 }
            async let login: Void = client.login()
            try await eventually("the app's login arrived") {
                edge.received.contains { $0.login.hasInboxAfter && $0.login.asked }
            }
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            edge.dropConnections()
            try await login
            let logins = edge.received.filter(\.isLogin).map(\.login)
            #expect(logins[1].hasInboxAfter && !logins[1].asked)
            #expect(logins[0].attempt > 0)
            #expect(zip(logins, logins.dropFirst()).allSatisfy { $0.attempt < $1.attempt })
        }
    }

    @Test func `A refused login throws the server's code and reason, and the link fails`() async throws {
        let edge = try await FakeEdge.start { frame in
            frame.isLogin
                ? [FakeEdge.refusal(of: frame, .errorInvalidToken, "bad signature")]
                : [FakeEdge.usual(frame)].compactMap { $0 }
        }
        let client = try RTMClient.forTest(edge)
        let error = await #expect(throws: RTMError.self) { try await client.login(token: "x") }
        #expect(error?.code == .invalidToken)
        #expect(error?.reason == "bad signature")
        #expect(error?.operation == "login")
        #expect(client.linkState == .failed)
        #expect(
            await code { try await client.publish("x", to: .channel("c")) }
                == .notLogin)
        await client.close()
        try await edge.stop()
    }

    @Test func `S-13: a server that never answers lets the login time out after the window, not before`()
        async throws
    {
        let edge = try await FakeEdge.start { _ in [] }
        let client = try RTMClient.forTest(edge) {
            $0.requestTimeout = .milliseconds(50)
            $0.timing.resumeWindow = .seconds(1)
            $0.timing.lastAttemptMargin = .milliseconds(60)
        }
        #expect(await code { try await client.login() } == .loginTimeout)
        #expect(edge.connectionsAccepted >= 2)
        #expect(client.linkState == .suspended)
        await client.close()
        try await edge.stop()
    }

    @Test func `T17: reconnectTimeout ends a login that reaches nobody`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) { $0.reconnectTimeout = .milliseconds(100) }
        try await edge.stop()
        #expect(await code { try await client.login() } == .loginTimeout)
        #expect(client.linkState == .failed)
        await client.close()
    }

    @Test func `The next server is tried when the first can't be reached`() async throws {
        let gone = try await FakeEdge.start()
        let address = ServerAddress(host: "127.0.0.1", port: gone.port)
        try await gone.stop()
        let withFirst: (inout RTMClient.Configuration) -> Void = { $0.servers.insert(address, at: 0) }
        try await withClient(nil, withFirst) { client, edge in
            #expect(client.linkState == .connected)
            #expect(edge.connectionsAccepted == 1)
        }
    }

    @Test func `S-6: a second login cancels the first`() async throws {
        let edge = try await FakeEdge.start { _ in [] }
        let client = try RTMClient.forTest(edge)
        async let first = code { try await client.login() }
        try await eventually("the first login arrived") { edge.received.contains(where: \.isLogin) }
        edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
        try await client.login()
        #expect(await first == .loginCanceled)
        await client.close()
        try await edge.stop()
    }

    @Test func `A cancelled task cancels its login`() async throws {
        let edge = try await FakeEdge.start { _ in [] }
        let client = try RTMClient.forTest(edge)
        let login = Task { await code { try await client.login() } }
        try await eventually("the login arrived") { edge.received.contains(where: \.isLogin) }
        login.cancel()
        #expect(await login.value == .cancelled)
        #expect(client.linkState == .idle)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await code { try await client.login() }
        }
        #expect(await early.value == .cancelled)
        await client.close()
        try await edge.stop()
    }

    @Test func `S-7: a login while connected sends the new token and keeps the connection`() async throws {
        try await withClient { client, edge in
            try await client.login()
            #expect(edge.received.filter(\.isLogin).count == 1)
            try await client.login(token: "new")
            #expect(edge.received.filter(\.isLogin).count == 1)
            #expect(edge.received.last?.renewToken.token == "new")
            #expect(edge.connectionsAccepted == 1)
        }
    }

    @Test func `S-22: a logout is sent to the server, ends the connection and the subscriptions`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            try await client.logout()
            #expect(client.linkState == .idle)
            #expect(await events.nextLinkState(.idle)?.operation == .logout)
            #expect(edge.received.last?.isLogout == true)
            try await eventually("the connection ended") { edge.connectionsOpen == 0 }
            #expect(await code { try await client.logout() } == .notLogin)
            try await client.login()
            #expect(edge.received.filter(\.isSubscribe).count == 1)
        }
    }

    @Test func `A logout completes even if the server doesn't answer it`() async throws {
        let script: FakeEdge.Script = { $0.isLogout ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
        let brief: (inout RTMClient.Configuration) -> Void = { $0.timing.logoutAnswer = .milliseconds(50) }
        try await withClient(script, brief) { client, _ in
            try await client.logout()
            #expect(client.linkState == .idle)
        }
    }

    @Test func `S-9: after close every call throws instanceAlreadyReleased and closing again does nothing`()
        async throws
    {
        try await withClient { client, edge in
            await client.close()
            await client.close()
            #expect(edge.received.last?.isLogout == true)
            #expect(client.linkState == .idle)
            let released = ErrorCode.instanceAlreadyReleased
            #expect(await code { try await client.login() } == released)
            #expect(await code { try await client.logout() } == released)
            #expect(await code { try await client.subscribe(to: "c") } == released)
            #expect(await code { try await client.unsubscribe(from: "c") } == released)
            #expect(await code { try await client.publish("x", to: .channel("c")) } == released)
            #expect(await code { _ = try await client.ping() } == released)
        }
    }

    @Test func `S-9: close completes the calls under way and ends the events`() async throws {
        let edge = try await FakeEdge.start { $0.isPublish ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
        let client = try RTMClient.forTest(edge)
        let events = client.events()
        try await client.login()
        async let publish = code { try await client.publish("x", to: .channel("c")) }
        try await eventually("the publish arrived") { edge.received.contains(where: \.isPublish) }
        await client.close()
        #expect(await publish == .instanceAlreadyReleased)
        for await _ in events {}
        try await edge.stop()
    }

    @Test func `S-0c: a configuration that can't work is refused at creation`() async throws {
        func refusal(_ change: (inout RTMClient.Configuration) -> Void) -> ErrorCode? {
            var configuration = RTMClient.Configuration(appID: "app", userID: "alice")
            change(&configuration)
            do throws(RTMError) {
                _ = try RTMClient(configuration)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.appID = "" } == .invalidAppId)
        #expect(refusal { $0.userID = "a/b" } == .invalidUserId)
        #expect(refusal { $0.servers = [] } == .invalidPrivateConfig)
        #expect(refusal { $0.tls = .enabled(caFile: "/nowhere.pem") } == .initServiceFailed)
        #expect(refusal { $0.token = "a\0" } == .invalidToken)
        #expect(
            refusal { $0.token = String(repeating: "a", count: Limits.tokenBytesMax + 1) } == .invalidToken)
    }

    @Test func `S-53: a token beside a token provider is refused at creation, and an empty one is none`()
        throws
    {
        var configuration = RTMClient.Configuration(appID: "app", userID: "alice", token: "one")
        _ = try RTMClient(configuration)
        configuration.tokenProvider = { "other" }
        let error = #expect(throws: RTMError.self) { try RTMClient(configuration) }
        #expect(error?.code == .invalidParameter && error?.operation == "init")
        configuration.token = ""
        _ = try RTMClient(configuration)
    }

    @Test func `A ping measures the round trip, with and without a login`() async throws {
        try await withClient { client, edge in
            #expect(try await client.ping() > .zero)
            let reply = try await RTMClient.ping(ServerAddress(host: "127.0.0.1", port: edge.port))
            #expect(reply.server == "fake")
            #expect(reply.roundTrip > .zero)
            #expect(edge.received.filter(\.isLogin).count == 1)
        }
    }

    @Test func `A ping reports why it got no answer`() async throws {
        let edge = try await FakeEdge.start { _ in [] }
        let address = ServerAddress(host: "127.0.0.1", port: edge.port)
        let silent = await #expect(throws: RTMError.self) {
            try await RTMClient.ping(address, timeout: .milliseconds(50))
        }
        #expect(silent?.reason.contains("did not answer within") == true)
        try await edge.stop()
        let refused = await #expect(throws: RTMError.self) { try await RTMClient.ping(address) }
        #expect(refused?.code == .notConnected)
        #expect(refused?.reason.contains("can't be reached") == true)
    }

    @Test func `2.1.9: a closed client is released though events still flow`() async throws {
        let edge = try await FakeEdge.start()
        var client: RTMClient? = try RTMClient.forTest(edge)
        weak let weakClient = client
        let events = client?.events()
        try await client?.login()
        try await client?.subscribe(to: "lobby")
        let flood = Task {
            var offset: UInt64 = 0
            while !Task.isCancelled {
                offset += 1
                await edge.pushAndWait([FakeEdge.publication("lobby", offset: offset, text: "x")])
                await Task.yield()
            }
        }
        var iterator = events?.makeAsyncIterator()
        _ = await iterator?.nextMessage()
        await client?.close()
        client = nil
        #expect(weakClient == nil)
        while await iterator?.next() != nil {}
        flood.cancel()
        try await edge.stop()
    }

    @Test func `A client that is released without close logs out by itself`() async throws {
        let edge = try await FakeEdge.start()
        var client: RTMClient? = try RTMClient.forTest(edge)
        let events = client?.events()
        try await client?.login()
        client = nil
        try await eventually("logout and end") {
            edge.received.last?.isLogout == true && edge.connectionsOpen == 0
        }
        if let events { for await _ in events {} }
        try await edge.stop()
    }
}
