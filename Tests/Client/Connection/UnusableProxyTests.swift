import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// What is refused before anything is sent, and proxies that are none (N-1). Tests/Integration has real ones.
struct UnusableProxyTests {
    private func failure(_ proxy: RTMClient.Proxy) -> RTMError? {
        do throws(RTMError) {
            var configuration = RTMClient.Configuration(appID: "app", userID: "alice")
            configuration.proxy = proxy
            _ = try RTMClient(configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "N-1: a proxy without server or port is refused (-10014)",
        arguments: [
            .http(host: "", port: 3128), .http(host: "a", port: 0), .http(host: "a", port: 65_536),
            .http(host: "http://a", port: 1), .relay(host: "", port: 1), .relay(host: "a", port: 0),
            .http(host: "a", port: 1, credentials: .init(account: "a:b", password: "")),
        ] as [RTMClient.Proxy])
    func incomplete(_ proxy: RTMClient.Proxy) {
        #expect(failure(proxy)?.code == .invalidParameter)
        #expect(failure(proxy)?.operation == "init")
    }

    @Test("N-1: no description shows the password")
    func descriptions() {
        let credentials = RTMClient.ProxyCredentials(account: "alice", password: "secret")
        let proxy = RTMClient.Proxy.http(host: "::1", port: 3128, credentials: credentials)
        #expect("\(proxy)" == "[::1]:3128")
        var dumped = ""
        dump(proxy, to: &dumped)
        for text in ["\(credentials)", String(reflecting: proxy), String(reflecting: credentials), dumped] {
            #expect(!text.contains("secret"))
        }
    }

    @Test("N-1: a proxy that never answers costs an attempt its time, and no socket")
    func silent() async throws {
        let proxy = try await FakeEdge.start()
        let client = try RTMClient.forTest(proxy) {
            $0.proxy = .http(host: "127.0.0.1", port: proxy.port)
            $0.requestTimeout = .milliseconds(100)
            $0.reconnectTimeout = .seconds(1)
        }
        #expect(await code { try await client.login() } == .loginTimeout)
        #expect(proxy.connectionsAccepted >= 2)
        try await eventually("its sockets are closed") { proxy.connectionsOpen == 0 }
        await client.close()
        try await proxy.stop()
    }

    @Test(
        "N-1: what a proxy answers is reported, and only a refusal ends the login",
        arguments: [
            ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", .proxyAuthentication, "other credentials"),
            ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", .proxyRefused, "refuses: 403"),
            ("HTTP/1.1 503 Service Unavailable\r\n\r\n", .unreachable, "can't reach it: 503"),
            ("\u{1}\u{2}\u{3}\u{4}", nil, "doesn't speak HTTP"),
        ] as [(String, ConnectionFailure?, String)])
    func answers(answer: String, failure: ConnectionFailure?, reason: String) async throws {
        let proxy = try await FakeEdge.start()
        let client = try RTMClient.forTest(proxy) {
            $0.proxy = .http(host: "127.0.0.1", port: proxy.port)
        }
        var events = client.events().makeAsyncIterator()
        async let login = code { try await client.login() }
        try await eventually("the proxy is asked") { proxy.connectionsOpen == 1 }
        proxy.pushBytes(Array(answer.utf8))
        let isRefusal = failure == .proxyAuthentication || failure == .proxyRefused
        let change = await events.nextLinkState(isRefusal ? .failed : .disconnected)
        #expect(change?.connectionFailure == failure)
        #expect(change?.reason.contains(reason) == true, "\(change?.reason ?? "")")
        await client.close()
        #expect(await login == (isRefusal ? .loginRejected : .instanceAlreadyReleased))
        try await proxy.stop()
    }
}
