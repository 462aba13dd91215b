import AgoraRtmKit
import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// Clients behind a real HTTP proxy, tinyproxy, and behind a relay (N-1).
@Suite(.serialized) struct ProxyTests {
    private let credentials = RTMClient.ProxyCredentials(account: "alice", password: "secret")

    private func http(
        _ proxy: TinyProxy, _ credentials: RTMClient.ProxyCredentials? = nil
    ) -> RTMClient.Proxy {
        .http(host: "127.0.0.1", port: proxy.port, credentials: credentials)
    }

    private func withSystem(_ body: (RunningSystem, String) async throws -> Void) async throws {
        try await TestCertificate.with { files in
            let flags = [
                "--edge-tls-listen", "127.0.0.1:0", "--edge-web-socket-listen", "127.0.0.1:0",
                "--edge-web-socket-tls-listen", "127.0.0.1:0", "--edge-tls-certificate", files.certificate,
                "--edge-tls-key", files.key,
            ]
            try await RunningSystem.with(.standalone, edge: flags) { try await body($0, files.certificate) }
        }
    }

    /// Everybody says one thing, and everybody else receives it.
    private func talk(
        _ system: RunningSystem, _ certificate: String, through proxy: RTMClient.Proxy,
        _ addresses: [(server: String, isSecure: Bool)]
    ) async throws {
        let clients = try addresses.enumerated().map { index, address in
            let server = try ServerAddress(address.server)
            return try system.client("user\(index)") {
                $0.servers = [server]
                $0.tls = address.isSecure ? .enabled(caFile: certificate) : .disabled
                $0.proxy = proxy
            }
        }
        for client in clients {
            try await client.login()
            try await client.subscribe(to: "lobby", features: .message)
        }
        var received = clients.map { $0.events().makeAsyncIterator() }
        let large = String(repeating: "a", count: Limits.messageBytesMax)
        for (index, client) in clients.enumerated() {
            try await client.publish(large, to: .channel("lobby"))
            for other in clients.indices where other != index {
                #expect(await received[other].nextMessage()?.payload == .text(large))
            }
        }
        for client in clients { await client.close() }
    }

    @Test("N-1: over TCP, TLS and WebSocket users reach each other through an HTTP proxy with an account")
    func tunnel() async throws {
        try await withSystem { system, certificate in
            let proxy = try await TinyProxy.start(credentials: credentials)
            defer { proxy.end() }
            let purposes = ["edge", "edge.tls", "edge.webSocket", "edge.webSocket.tls"]
            let addresses = purposes.map(system.address)
            try await talk(
                system, certificate, through: http(proxy, credentials),
                [
                    (addresses[0], false), (addresses[1], true), ("ws://\(addresses[2])/rtm", false),
                    ("wss://\(addresses[3])/rtm", true),
                ])
            for address in addresses { #expect(proxy.hasConnected(to: address), "\(proxy.log)") }
        }
    }

    @Test("N-1: over TCP, TLS and WebSocket a relay takes the place of the server, whose name is verified")
    func relay() async throws {
        try await withSystem { system, certificate in
            for (purpose, scheme, path) in [
                ("edge", "", ""), ("edge.tls", "", ""), ("edge.webSocket", "ws://", "/rtm"),
                ("edge.webSocket.tls", "wss://", "/rtm"),
            ] {
                let relay = try await FaultProxy.start(to: system.address(purpose))
                let address = try ServerAddress(relay.address)
                // The relay alone knows the way: nobody listens at port 1.
                let server = "\(scheme)127.0.0.1:1\(path)"
                try await talk(
                    system, certificate, through: .relay(host: address.host, port: address.port),
                    [(server, purpose.hasSuffix("tls")), (server, purpose.hasSuffix("tls"))])
                try await relay.stop()
            }
        }
    }

    @Test("N-1: a proxy that refuses ends the login at once, and says why (407, 403)")
    func refusals() async throws {
        try await RunningSystem.with(.standalone) { system in
            let closed = try await TinyProxy.start(credentials: credentials)
            defer { closed.end() }
            let strict = try await TinyProxy.start(connectPort: 1)
            defer { strict.end() }
            let wrong = RTMClient.ProxyCredentials(account: "alice", password: "wrong")
            let cases: [(RTMClient.Proxy, ConnectionFailure)] = [
                (http(closed), .proxyAuthentication), (http(closed, wrong), .proxyAuthentication),
                (http(strict), .proxyRefused),
            ]
            for (proxy, failure) in cases {
                let client = try system.client("alice") { $0.proxy = proxy }
                var events = client.events().makeAsyncIterator()
                let error = await #expect(throws: RTMError.self) { try await client.login() }
                #expect(error?.code == .loginRejected)
                let change = await events.nextLinkState(.failed)
                #expect(change?.connectionFailure == failure)
                #expect(change?.reason.contains("through the proxy \(proxy): ") == true)
                #expect(change?.reasonCode == .connectionError)
                await client.close()
            }
        }
    }

    @Test("N-1: a server behind the proxy that isn't there is no refusal, and is named")
    func unreachable() async throws {
        let proxy = try await TinyProxy.start()
        defer { proxy.end() }
        let port = try FreePorts.take(1)[0]
        let error = await #expect(throws: RTMError.self) {
            try await RTMClient.ping(ServerAddress(host: "127.0.0.1", port: port), proxy: http(proxy))
        }
        #expect(error?.code == .notConnected)
        #expect(error?.reason.contains("127.0.0.1:\(port) can't be reached through the proxy") == true)
    }

    @Test("N-1: when the proxy was away, the client comes back through it and misses nothing")
    func proxyRestarts() async throws {
        try await RunningSystem.with(.standalone) { system in
            let first = try await TinyProxy.start()
            let bob = try system.client("bob") { $0.proxy = http(first) }
            try await bob.login()
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby", features: .message)
            first.end()
            _ = await received.nextLinkState(.disconnected)
            try await system.withClients("alice") { clients in
                try await clients[0].publish("meanwhile", to: .channel("lobby"))
            }
            let second = try await TinyProxy.start(port: first.port)
            defer { second.end() }
            #expect(await received.nextMessage()?.payload == .text("meanwhile"))
            await bob.close()
        }
    }

    @Test("N-1: the compatible API logs in through an HTTP proxy and through a relay (cloudTcp)")
    func compatible() async throws {
        try await RunningSystem.with(.standalone) { system in
            let proxy = try await TinyProxy.start(credentials: credentials)
            defer { proxy.end() }
            let relay = try await FaultProxy.start(to: system.address("edge"))
            let http = AgoraRtmProxyConfig(server: "127.0.0.1", port: UInt16(proxy.port), proxyType: .http)
            http.account = credentials.account
            http.password = credentials.password
            let cloud = AgoraRtmProxyConfig(
                server: "127.0.0.1", port: UInt16(try ServerAddress(relay.address).port), proxyType: .cloudTcp
            )
            for proxyConfig in [http, cloud] {
                let config = AgoraRtmClientConfig(appId: "dev", userId: "dave", proxyConfig: proxyConfig)
                config.callbackQueue = DispatchQueue(label: "test")
                let privateConfig = AgoraRtmPrivateConfig()
                privateConfig.serviceType = [.message]
                privateConfig.accessPointHosts = [system.address("edge")]
                config.privateConfig = privateConfig
                let kit = try AgoraRtmClientKit(config, delegate: nil)
                let (_, error) = await kit.login("dev")
                #expect(error == nil)
                _ = kit.destroy()
            }
            #expect(proxy.hasConnected(to: system.address("edge")))
            #expect(relay.connectionCount > 0)
            try await relay.stop()
        }
    }
}
