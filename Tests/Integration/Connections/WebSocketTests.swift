import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// The edge's WebSocket as a foreign client sees it, over real sockets.
@Suite(.serialized) struct WebSocketTests {
    private func withWebSocket(
        _ edge: [String] = [], _ body: (RunningSystem, String) async throws -> Void
    ) async throws {
        let flags = ["--edge-web-socket-listen", "127.0.0.1:0"] + edge
        try await RunningSystem.with(.standalone, edge: flags) { system in
            try await body(system, system.address("edge.webSocket"))
        }
    }

    private func metrics(_ system: RunningSystem) async throws -> String {
        try await system.get("http://\(system.address("rtm-standalone admin"))/metrics").body
    }

    // MARK: Opening

    private func request(_ target: String = "/rtm", _ headers: String..., method: String = "GET") -> String {
        let usual = [
            "Host: localhost", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        return (["\(method) \(target) HTTP/1.1"] + usual + headers).joined(separator: "\r\n") + "\r\n\r\n"
    }

    @Test("What is no WebSocket gets an HTTP answer that says so, and is closed")
    func refusals() async throws {
        try await withWebSocket(["--edge-web-socket-origins", "https://good.example"]) { _, address in
            let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            let cases = [
                (request("/elsewhere"), "404"), (request(method: "POST"), "405"),
                ("GET /rtm HTTP/1.1\r\nHost: a\r\n\r\n", "426"),
                (request().replacing("Version: 13", with: "Version: 12"), "426"),
                (request().replacing(key, with: ""), "400"),
                (request("/rtm", "Origin: https://bad.example"), "403"),
                (request("/rtm", "Cookie: " + String(repeating: "c", count: 17_000)), "400"),
                ("\u{0}\u{0}\u{0}\u{2}hi, I speak the protocol over TCP\r\n\r\n", "400"),
            ]
            for (request, status) in cases {
                let answer = try await answer(to: request, at: address)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(60)): \(answer)")
            }
        }
    }

    @Test(
        "Whoever doesn't get as far as a login is closed when its time is over, before and behind the upgrade"
    )
    func handshakeTimeout() async throws {
        try await withWebSocket(["--edge-handshake-timeout", "1s"]) { system, address in
            let half = request("/rtm", "Origin: https://a.example").dropLast(2)
            #expect(try await answer(to: String(half), at: address) == "")
            let mute = try await RawWebSocket.open(address)
            #expect(await mute.end() == .init(disconnect: .disconnectHandshakeTimeout, close: .normalClosure))
            try await eventually("nobody is left") {
                try await metrics(system).contains("rtm_edge_connections 0")
            }
        }
    }

    @Test("WebSockets count as connections, and one too many is told so")
    func connectionLimit() async throws {
        try await withWebSocket(["--edge-connections-per-address-max", "2"]) { system, address in
            let tcp = try await RawConnection.open(system.address("edge"))
            // Who hasn't logged in would make room.
            try await tcp.enter("alice")
            let webSocket = try await RawWebSocket.open(address)
            var events = webSocket.events.makeAsyncIterator()
            #expect(try await webSocket.logIn("bob", &events) != nil)
            let answer = try await answer(to: "", at: address)
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("Retry-After: 5"), "\(answer)")
            try await tcp.close()
            try await webSocket.channel.close()
        }
    }

    @Test("The path can be chosen, and a query behind it is of no importance")
    func path() async throws {
        try await withWebSocket(["--edge-web-socket-path", "/a/b"]) { _, address in
            let webSocket = try await RawWebSocket.open(address, path: "/a/b?from=here")
            var events = webSocket.events.makeAsyncIterator()
            #expect(try await webSocket.logIn("alice", &events) != nil)
            await #expect(throws: (any Error).self) { try await RawWebSocket.open(address) }
            try await webSocket.channel.close()
        }
    }

    @Test("A path that is none, and TLS without a certificate, are refused at the start")
    func configuration() async throws {
        let edge = ServiceProcess.executables.appending(path: "rtm-edge")
        for (arguments, name) in [
            (["--web-socket-path", "rtm"], "edge.webSocket.path"),
            (["--web-socket-path", "/rtm?a"], "edge.webSocket.path"),
            (["--web-socket-path", "/rtm?a"], "Set edge.webSocket.path to one such as /rtm"),
            (["--web-socket-tls-listen", "127.0.0.1:0"], "edge.webSocket.tls.listen"),
            (["--tls-listen", "127.0.0.1:0", "--tls-key", "k"], "Set edge.tls.certificate, or leave"),
        ] {
            let (status, output) = try await ForeignClient.run(edge, ["--check-config"] + arguments)
            #expect(status == 2 && output.contains(name), "\(arguments): \(output)")
        }
    }

    // MARK: Messages

    @Test(
        "Several frames in a message, a message in fragments with a ping between them, a close from the client"
    )
    func messages() async throws {
        try await withWebSocket { _, address in
            let webSocket = try await RawWebSocket.open(address)
            var events = webSocket.events.makeAsyncIterator()
            let both =
                try RawConnection.frame(1, RawWebSocket.hello())
                + RawConnection.frame(2, RawWebSocket.login("alice"))
            try await webSocket.send(.binary, both)
            guard case .frame(let welcome)? = await events.next(),
                case .frame(let loggedIn)? = await events.next()
            else {
                Issue.record("two frames were expected")
                return
            }
            #expect(welcome.requestID == 1 && loggedIn.requestID == 2)

            let heartbeat = try RawConnection.frame(3, .heartbeat(.init()))
            try await webSocket.send(.binary, [], isLast: false)
            for byte in heartbeat.dropLast() {
                try await webSocket.send(.continuation, [byte], isLast: false)
            }
            try await webSocket.send(.ping, Array("still there?".utf8))
            try await webSocket.send(.continuation, [heartbeat[heartbeat.count - 1]])
            #expect(await events.next() == .pong("still there?"))
            guard case .frame(let answer)? = await events.next() else {
                Issue.record("no answer")
                return
            }
            #expect(answer.requestID == 3)

            // An empty message carries no frame, and an unexpected pong means nothing.
            try await webSocket.send(.binary, [])
            try await webSocket.send(.pong, [])
            try await webSocket.send(.connectionClose, [0x03, 0xE9])
            #expect(await events.next() == .close(.goingAway))
            #expect(await events.next() == nil)
        }
    }

    @Test(
        "Who breaks a rule of WebSocket hears it as Disconnect and as close code; the others hear nothing of it"
    )
    func violations() async throws {
        try await withWebSocket { system, address in
            let cases: [(String, (RawWebSocket) async throws -> Void, RawWebSocket.End)] = [
                (
                    "text", { try await $0.send(.text, Array("hi".utf8)) },
                    .init(.disconnectProtocolError, 1003)
                ),
                (
                    "text after login",
                    { webSocket in
                        try await webSocket.send(1, RawWebSocket.hello())
                        try await webSocket.send(2, RawWebSocket.login("mallory"))
                        try await webSocket.send(.text, Array("hi".utf8))
                    }, .init(.disconnectProtocolError, 1003)
                ),
                (
                    "unmasked", { try await $0.send(.binary, [], isMasked: false) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "compressed", { try await $0.send(.ping, [], isCompressed: true) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "continued", { try await $0.send(.continuation, []) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "begun twice",
                    {
                        try await $0.send(.binary, [], isLast: false)
                        try await $0.send(.binary, [])
                    }, .init(.disconnectProtocolError, 1002)
                ),
                (
                    "half a frame", { try await $0.send(.binary, [0, 0, 0, 9, 1]) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "long ping", { try await $0.send(.ping, .init(repeating: 1, count: 126)) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "too long", { try await $0.send(.binary, .init(repeating: 0, count: 65_541)) },
                    .init(.disconnectFrameTooLarge, 1009)
                ),
                (
                    "too many fragments",
                    { webSocket in
                        try await webSocket.send(.binary, .init(repeating: 0, count: 40_000), isLast: false)
                        try await webSocket.send(
                            .continuation, .init(repeating: 0, count: 40_000), isLast: false)
                    }, .init(.disconnectFrameTooLarge, 1009)
                ),
                (
                    "a code that nobody may send", { try await $0.send(.connectionClose, [0x03, 0xEE]) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "half a code", { try await $0.send(.connectionClose, [0x03]) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "a reason that is no text", { try await $0.send(.connectionClose, [0x03, 0xE8, 0xFF]) },
                    .init(.disconnectProtocolError, 1007)
                ),
                (
                    "no protobuf", { try await $0.send(.binary, [0, 0, 0, 3, 255, 255, 255]) },
                    .init(.disconnectProtocolError, 1000)
                ),
            ]
            try await system.withClients("alice") { clients in
                for (name, act, end) in cases {
                    let webSocket = try await RawWebSocket.open(address)
                    try await act(webSocket)
                    #expect(await webSocket.end() == end, "\(name)")
                }
                #expect(clients[0].linkState == .connected)
            }
        }
    }

    @Test("Who misuses compression hears it, as Disconnect and as close code; the others hear nothing of it")
    func compression() async throws {
        try await withWebSocket(["--edge-web-socket-compression"]) { system, address in
            let offer: HTTPHeaders = [
                "Sec-WebSocket-Extensions": "permessage-deflate; server_max_window_bits=10"
            ]
            // The specification's "Hello", which is no frame of the protocol.
            let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
            let cases: [(String, (RawWebSocket) async throws -> Void, RawWebSocket.End)] = [
                (
                    "no frame", { try await $0.send(.binary, hello, isCompressed: true) },
                    .init(.disconnectProtocolError, 1002)
                ),
                (
                    "damaged", { try await $0.send(.binary, [0xFF, 0xFF, 0xFF], isCompressed: true) },
                    .init(.disconnectProtocolError, 1007)
                ),
                (
                    "a compressed ping", { try await $0.send(.ping, hello, isCompressed: true) },
                    .init(.disconnectProtocolError, 1002)
                ),
            ]
            try await system.withClients("alice") { clients in
                for (name, act, end) in cases {
                    let webSocket = try await RawWebSocket.open(address, headers: offer)
                    try await act(webSocket)
                    #expect(await webSocket.end() == end, "\(name)")
                }
                #expect(clients[0].linkState == .connected)
            }
            // Who has not offered it may not use it.
            let plain = try await RawWebSocket.open(address)
            try await plain.send(.binary, hello, isCompressed: true)
            #expect(await plain.end() == .init(.disconnectProtocolError, 1002))
        }
    }

    @Test("A client that never reads is cut off, and its socket closed; the other subscribers get everything")
    func slowReader() async throws {
        try await withWebSocket(["--edge-outbound-bytes-max", "64KiB"]) { system, address in
            let deaf = try await RawWebSocket.open(address)
            var events = deaf.events.makeAsyncIterator()
            #expect(try await deaf.logIn("mallory", &events) != nil)
            try await deaf.send(3, .subscribe(.with { ($0.channel, $0.features) = ("firehose", 4) }))
            guard case .frame(let answer)? = await events.next() else {
                Issue.record("no answer")
                return
            }
            #expect(answer.subscribed.hasPosition)
            try await deaf.channel.setOption(.autoRead, value: false).get()
            let url = try ServerAddress("ws://\(address)")
            let (alice, bob) = (try system.client("alice"), try system.client("bob") { $0.servers = [url] })
            try await alice.login()
            try await bob.login()
            var received = bob.events(buffering: .dropOldest(capacity: 2_000)).makeAsyncIterator()
            try await bob.subscribe(to: "firehose", features: .message)
            let payload = String(repeating: "x", count: 30_000)
            // Bob, who has as little room, keeps up.
            for _ in 0..<1_000 {
                try await alice.publish(payload, to: .channel("firehose"))
                #expect(await received.nextMessage()?.payload == .text(payload))
            }
            #expect(try await metrics(system).contains("rtm_edge_disconnects_total{code=\"slowConsumer\"} 1"))
            await alice.close()
            await bob.close()
            // It doesn't read the disconnect either, and the server doesn't wait for it without end.
            try await eventually("nobody is left") {
                try await metrics(system).contains("rtm_edge_connections 0")
            }
            try await deaf.channel.close()
        }
    }
}

extension RawWebSocket.End {
    fileprivate init(_ disconnect: Rtm_Client_DisconnectCode, _ close: Int) {
        self.init(disconnect: disconnect, close: .init(codeNumber: close))
    }
}
