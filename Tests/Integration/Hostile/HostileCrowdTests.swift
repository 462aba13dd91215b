import Foundation
import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Clients that do harm by their number, by being slow, or by vanishing: what it costs them, and that it
/// costs nobody else anything. `HostileInputTests` tests what a single frame can do wrong.
@Suite(.serialized) struct HostileCrowdTests {
    /// Runs the body while one user sends messages to another. Every one of these messages has to arrive in
    /// the meantime.
    private func besideOthers(
        _ edge: [String] = [], _ body: (RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(.standalone, edge: edge) { system in
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[1].subscribe(to: "lobby", features: .message)
                try await clients[0].publish("before", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("before"))
                try await body(system)
                try await clients[0].publish("after", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("after"))
                #expect(clients.allSatisfy { $0.linkState == .connected })
            }
        }
    }

    private func metrics(_ system: RunningSystem) async throws -> String {
        try await system.get("http://\(system.address("rtm-standalone admin"))/metrics").body
    }

    private func value(_ name: String, _ system: RunningSystem) async throws -> Double? {
        let line = try await metrics(system).split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.utf8.count + 1)) }
    }

    @Test(
        "Slow loris: who dribbles its handshake byte by byte is ended at the handshake's time: TCP, TLS, WebSocket"
    )
    func slowLoris() async throws {
        try await TestCertificate.with { files in
            try await slowLoris([
                "--edge-handshake-timeout", "700ms", "--edge-web-socket-listen", "127.0.0.1:0",
                "--edge-tls-listen", "127.0.0.1:0", "--edge-tls-certificate", files.certificate,
                "--edge-tls-key", files.key,
            ])
        }
    }

    private func slowLoris(_ edge: [String]) async throws {
        try await besideOthers(edge) { system in
            let slow = try await RawConnection.open(system.address("edge"))
            let hello = try RawConnection.frame(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
            let request = Array("GET /rtm HTTP/1.1\r\nHost: a\r\nX-Slow: ".utf8)
            let slower = try await RawConnection.open(system.address("edge.webSocket"))
            // Every byte is a sign of life, and none of them delays the end.
            try await dribble(hello + [0, 0, 0x60, 0] + Array(repeating: 0, count: 500), over: slow)
            try await dribble(request + Array(repeating: 0x61, count: 500), over: slower)
            var last: Rtm_Client_ServerFrame?
            for await frame in slow.frames { last = frame }
            #expect(last?.disconnect.code == .disconnectHandshakeTimeout)
            for await _ in slower.frames {}
            // The head of a TLS record with a ClientHello of 16,380 bytes that never comes to its end. The
            // reason for the end can't be sent there.
            let record: [UInt8] = [0x16, 3, 1, 0x40, 0, 1, 0, 0x3F, 0xFC, 3, 3]
            let slowest = try await RawConnection.open(system.address("edge.tls"))
            try await dribble(record + Array(repeating: 0, count: 3_000), over: slowest)
            for await _ in slowest.frames {}
        }
    }

    /// Sends until the other side closes.
    private func dribble(_ bytes: [UInt8], over connection: RawConnection) async throws {
        for byte in bytes where connection.channel.isActive {
            try? await connection.send(bytes: [byte])
            await letPass(.milliseconds(10))
        }
        #expect(!connection.channel.isActive)
    }

    @Test(
        "S-41: a peer that vanishes without a word is offline at the heartbeat's deadline, and costs nothing then"
    )
    func halfOpen() async throws {
        try await besideOthers(["--edge-handshake-timeout", "60s"]) { system in
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let gone = try await RawConnection.open(proxy.address)
            try await gone.logIn("mallory")
            var answers = gone.frames.makeAsyncIterator()
            let welcome = await answers.next()
            let answer = try #require(await answers.next(), "\(String(describing: welcome))")
            #expect(answer.loggedIn.heartbeatIntervalS == 5, "\(answer)")
            let start = ContinuousClock.now
            proxy.spoil(.stall)
            let carol = try system.client("carol")
            try await carol.login()
            // For this long the server can't know that the user is gone, and accepts messages for the user.
            try await carol.publish("hello?", to: .user("mallory"))
            try await eventually("mallory is offline", within: .seconds(90)) {
                await code { try await carol.publish("hello?", to: .user("mallory")) }
                    == .channelReceiverOffline
            }
            let time = ContinuousClock.now - start
            #expect(time > .seconds(14), "5 s and 10 s of grace: \(time)")
            let count = "rtm_edge_disconnects_total{code=\"heartbeatTimeout\"}"
            #expect(try await value(count, system) == 1)
            // Nobody reads the disconnect.
            try await eventually("its socket is closed") {
                try await value("rtm_edge_connections", system) == 3
            }
            await carol.close()
            try await proxy.stop()
        }
    }

    @Test(
        "A flood of connections: each beyond the limit is told so, or another one; sessions go on meanwhile",
        arguments: ["--edge-connections-max", "--edge-connections-per-address-max"])
    func flood(limit: String) async throws {
        // No session may be ended for another reason, however long all of them take.
        try await besideOthers([limit, "20", "--edge-handshake-timeout", "300s"]) { system in
            let carol = try system.client("carol")
            try await carol.login()
            var refused = 0
            var open: [RawConnection] = []
            for _ in 0..<400 {
                let connection = try await RawConnection.open(system.address("edge"))
                // The answer to Hello, or the refusal.
                try? await connection.hello()
                var answers = connection.frames.makeAsyncIterator()
                switch await answers.next()?.body {
                case .welcome: open.append(connection)
                case .disconnect(let disconnect) where disconnect.code == .disconnectTooManyConnections:
                    #expect(disconnect.retryAfterMs > 0)
                    refused += 1
                default: Issue.record("neither welcome nor a refusal")
                }
                if refused % 50 == 0 { try await carol.publish("still here", to: .user("carol")) }
            }
            // They said Hello and no more, so the oldest made room for those that came later.
            var ended = 0
            for connection in open {
                try? await connection.close()
                for await frame in connection.frames {
                    guard case .disconnect(let disconnect) = frame.body else { continue }
                    #expect(disconnect.code == .disconnectTooManyConnections && disconnect.retryAfterMs > 0)
                    ended += 1
                }
            }
            #expect(refused + ended == 383, "\(refused) were refused")
            try await eventually("there is room again") {
                let connection = try await RawConnection.open(system.address("edge"))
                try? await connection.hello()
                var answers = connection.frames.makeAsyncIterator()
                let first = await answers.next()
                try? await connection.close()
                return first?.welcome.version == 1
            }
            await carol.close()
        }
    }

    @Test(
        "L-24: 10,000 subscribes of one session at once: fifty succeed, each other one is told the limit",
        .measuresMemory)
    func manySubscribes() async throws {
        try await besideOthers { system in
            let connection = try await RawConnection.open(system.address("edge"))
            try await connection.logIn("mallory")
            var answers = connection.frames.makeAsyncIterator()
            _ = await answers.next()
            _ = await answers.next()
            let before = try system.residentBytes(of: "rtm-standalone")
            let bytes = try (0..<10_000).flatMap { number in
                try RawConnection.frame(
                    UInt64(number + 3),
                    .subscribe(.with { ($0.channel, $0.features) = ("channel \(number)", 4) }))
            }
            async let sent: Void = connection.send(bytes: bytes)
            var subscribed = 0
            var refused: Set<UInt64> = []
            for _ in 0..<10_000 {
                let answer = try #require(await answers.next())
                switch answer.body {
                case .subscribed: subscribed += 1
                case .error(let error):
                    #expect(error.code == .errorChannelSubscribeFailed && error.limit.value == 50)
                    refused.insert(answer.requestID)
                default: Issue.record("\(answer)")
                }
            }
            try await sent
            #expect(subscribed == 50)
            #expect(refused.count == 9_950)
            #expect(try system.residentBytes(of: "rtm-standalone") - before < 32 << 20)
            try await connection.close()
        }
    }

    @Test("R-1: and at the rate that apps have, what comes too fast is told so, and each call is answered")
    func manySubscribesAtARate() async throws {
        try await besideOthers(["--edge-rates-calls", "20"]) { system in
            let connection = try await RawConnection.open(system.address("edge"))
            try await connection.logIn("mallory")
            var answers = connection.frames.makeAsyncIterator()
            _ = await answers.next()
            _ = await answers.next()
            let bytes = try (0..<2_000).flatMap { number in
                try RawConnection.frame(
                    UInt64(number + 3),
                    .subscribe(.with { ($0.channel, $0.features) = ("channel \(number)", 4) }))
            }
            async let sent: Void = connection.send(bytes: bytes)
            var codes: [Rtm_Client_ErrorCode: Int] = [:]
            for _ in 0..<2_000 {
                let answer = try #require(await answers.next())
                if case .error(let error) = answer.body { codes[error.code, default: 0] += 1 }
            }
            try await sent
            #expect(codes[.errorOperationRateExceedLimitation, default: 0] > 1_500)
            #expect(codes[.errorChannelSubscribeFailed, default: 0] < 100)
            try await connection.close()
        }
    }

    @Test("10,000 subscriptions by 200 sessions at once: all of them live, and gone with their sessions")
    func manySessions() async throws {
        try await besideOthers { system in
            try await withThrowingTaskGroup(of: RawConnection.self) { group in
                // A slow program receives nothing of its clients for so long that it ends them.
                for number in 0..<200 / timeScale {
                    group.addTask { try await Self.subscribeToFifty(system, "crowd\(number)") }
                }
                var connections: [RawConnection] = []
                for try await connection in group { connections.append(connection) }
                // Half of the channels are shared by all, the others are each session's own; and there is
                // "lobby".
                let channels = try await value("rtm_edge_channels", system) ?? 0
                #expect(channels > Double(5_000 / timeScale))
                for connection in connections { try await connection.close() }
            }
            try await eventually("nothing is left of them") {
                let sessions = try await value("rtm_edge_sessions", system)
                let channels = try await value("rtm_edge_channels", system) ?? .infinity
                return sessions == 2 && channels < 10
            }
        }
    }

    private static func subscribeToFifty(_ system: RunningSystem, _ user: String) async throws
        -> RawConnection
    {
        let connection = try await RawConnection.open(system.address("edge"))
        try await connection.logIn(user)
        var answers = connection.frames.makeAsyncIterator()
        _ = await answers.next()
        _ = await answers.next()
        let bytes = try (0..<50).flatMap { number in
            let channel = number % 2 == 0 ? "shared \(number)" : "\(user) \(number)"
            return try RawConnection.frame(
                UInt64(number + 3), .subscribe(.with { ($0.channel, $0.features) = (channel, 4) }))
        }
        try await connection.send(bytes: bytes)
        for _ in 0..<50 {
            #expect(try #require(await answers.next()).subscribed.hasPosition)
        }
        return connection
    }
}
