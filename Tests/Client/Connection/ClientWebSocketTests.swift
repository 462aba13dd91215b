import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// What can go wrong before there is a WebSocket. The fake edge accepts connections and doesn't understand
/// HTTP.
struct ClientWebSocketTests {
    private func address(_ edge: FakeEdge) -> ServerAddress {
        ServerAddress(host: "127.0.0.1", port: edge.port, transport: .webSocket(isSecure: false))
    }

    @Test func `A server that never agrees to a WebSocket costs an attempt its time, and no socket`()
        async throws
    {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) {
            $0.servers = [address(edge)]
            $0.requestTimeout = .milliseconds(100)
            $0.reconnectTimeout = .seconds(1)
        }
        #expect(await code { try await client.login() } == .loginTimeout)
        #expect(edge.connectionsAccepted >= 2)
        try await eventually("its sockets are closed") { edge.connectionsOpen == 0 }
        await client.close()
        try await edge.stop()
    }

    @Test func `Closing a client ends the handshake that is under way`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) { $0.servers = [address(edge)] }
        async let login = code { try await client.login() }
        try await eventually("the handshake has begun") { edge.connectionsOpen == 1 }
        await client.close()
        #expect(await login != nil)
        try await eventually("the socket is closed") { edge.connectionsOpen == 0 }
        try await edge.stop()
    }

    @Test func `A ping ends in time, and its socket is closed`() async throws {
        let edge = try await FakeEdge.start()
        let ping = await code { _ = try await RTMClient.ping(address(edge), timeout: .milliseconds(100)) }
        #expect(ping == .notConnected)
        try await eventually("the socket is closed") {
            edge.connectionsAccepted == 1 && edge.connectionsOpen == 0
        }
        try await edge.stop()
    }

    @Test func `The error of a connection that is lost within the handshake names the server`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) { $0.servers = [address(edge)] }
        var events = client.events().makeAsyncIterator()
        async let login = code { try await client.login() }
        try await eventually("the handshake has begun") { edge.connectionsOpen == 1 }
        edge.pushBytes(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 12\r\n\r\nno edge here".utf8))
        let change = await events.nextLinkState(.disconnected)
        #expect(change?.reason.hasPrefix("ws://127.0.0.1:\(edge.port)/rtm can't be reached: ") == true)
        #expect(change?.reason.hasSuffix("502 Bad Gateway: no edge here") == true)
        #expect(change?.connectionFailure == nil, "the next attempt may succeed")
        await client.close()
        #expect(await login != nil)
        try await edge.stop()
    }

    @Test(
        "An address that no attempt will ever reach is named by its failure",
        arguments: [
            (true, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ConnectionFailure.webSocketRefused),
            (true, "\u{0}\u{0}\u{0}\u{2}\u{1}\u{2}", .serverWithoutHTTP),
            (false, "HTTP/1.1 400 Bad Request\r\n\r\n", .serverWithHTTP),
        ])
    func hopeless(isWebSocket: Bool, answer: String, failure: ConnectionFailure) async throws {
        let edge = try await FakeEdge.start { _ in [] }
        let client = try RTMClient.forTest(edge) { if isWebSocket { $0.servers = [address(edge)] } }
        var events = client.events().makeAsyncIterator()
        async let login = code { try await client.login() }
        try await eventually("the connection is open") { edge.connectionsOpen == 1 }
        edge.pushBytes(Array(answer.utf8))
        let change = await events.nextLinkState(.disconnected)
        #expect(change?.connectionFailure == failure)
        await client.close()
        #expect(await login != nil)
        try await edge.stop()
    }

    @Test func `Where TLS is asked for, a WebSocket in the clear is refused before anything is sent`() throws
    {
        func error(_ servers: [String]) -> RTMError? {
            do {
                var configuration = RTMClient.Configuration(
                    servers: try servers.map { try ServerAddress($0) }, appID: "app", userID: "alice")
                configuration.tls = .enabled()
                _ = try RTMClient(configuration)
                return nil
            } catch {
                return error as? RTMError
            }
        }
        #expect(error(["a:1", "wss://a"]) == nil)
        #expect(error(["a:1", "ws://a"])?.code == .invalidPrivateConfig)
        #expect(error(["ws://a"])?.reason.contains("'ws://a:80/rtm'") == true)
    }
}
