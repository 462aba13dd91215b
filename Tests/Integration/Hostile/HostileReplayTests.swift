import Foundation
import NIOCore
import NIOWebSocket
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Bytes that were right once, sent again or with garbage behind them.
@Suite(.serialized) struct HostileReplayTests {
    private static func handshake(_ user: String) throws -> [UInt8] {
        try RawConnection.frame(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
            + RawConnection.frame(2, .login(.with { ($0.appID, $0.userID) = ("dev", user) }))
    }

    private static func publish(_ id: UInt64, _ text: String, to channel: String) throws -> [UInt8] {
        try RawConnection.frame(
            id,
            .publish(
                .with {
                    ($0.channelType, $0.channel, $0.messageType) = (.message, channel, .text)
                    $0.payload = .init(text.utf8)
                }))
    }

    @Test("A recorded handshake, sent again in its session, ends it; a second Login alone is refused")
    func inItsSession() async throws {
        try await RunningSystem.with(.standalone) { system in
            let first = try await RawConnection.open(system.address("edge"))
            let bytes = try Self.handshake("mallory")
            try await first.send(bytes: bytes + bytes)
            var answers = first.frames.makeAsyncIterator()
            #expect(await answers.next()?.welcome.version == 1)
            // The login is answered, or the end comes before the answer. The end comes in any case.
            var last: Rtm_Client_ServerFrame?
            while let answer = await answers.next() { last = answer }
            #expect(last?.disconnect.code == .disconnectProtocolError)

            let second = try await RawConnection.open(system.address("edge"))
            try await second.send(bytes: bytes)
            var others = second.frames.makeAsyncIterator()
            _ = await others.next()
            #expect(await others.next()?.loggedIn.sessionID != 0)
            try await second.send(
                3, .login(.with { ($0.appID, $0.userID) = ("dev", "somebody else") }))
            #expect(await others.next()?.error.code == .errorDuplicateOperation)
            try await second.send(bytes: Self.publish(4, "still mallory", to: "lobby"))
            #expect(await others.next()?.published.offset != 0)
            try await second.close()
        }
    }

    @Test("S-10, R-9: a recorded handshake on other connections is a login like another, and has its rate")
    func onOtherConnections() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-login", "2", "--threads", "1"]) {
            system in
            let bytes = try Self.handshake("mallory")
            var codes: [String: Int] = [:]
            let start = ContinuousClock.now
            var open: [RawConnection] = []
            for _ in 0..<200 where codes["refused", default: 0] < 10 {
                let connection = try await RawConnection.open(system.address("edge"))
                try await connection.send(bytes: bytes)
                var answers = connection.frames.makeAsyncIterator()
                _ = await answers.next()
                switch await answers.next()?.body {
                case .loggedIn: codes["in", default: 0] += 1
                case .error(let error) where error.code == .errorLoginRejected:
                    #expect(error.retryAfterMs > 0)
                    codes["refused", default: 0] += 1
                default: codes["other", default: 0] += 1
                }
                open.append(connection)
            }
            #expect(codes["other"] == nil)
            // Ten at once, and then two in each second.
            let allowed = 11 + 2 * Int(start.duration(to: .now).components.seconds + 1)
            #expect(codes["refused"] == 10 && codes["in", default: 0] <= allowed, "\(codes)")
            // Of all these connections only one is a session.
            var ended = 0
            for connection in open.dropLast() {
                var last: Rtm_Client_DisconnectCode?
                if !connection.channel.isActive {
                    for await frame in connection.frames {
                        if case .disconnect(let disconnect) = frame.body { last = disconnect.code }
                    }
                    #expect(last == .disconnectSuperseded || last == .disconnectLoginRefused)
                    ended += 1
                }
            }
            #expect(ended >= 18)
            for connection in open { try? await connection.close() }
        }
    }

    @Test("Garbage behind valid frames in one write: these are performed and answered, then the end is said")
    func garbageBehind() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-web-socket-listen", "127.0.0.1:0"]) {
            system in
            try await system.withClients("bob") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "lobby", features: .message)
                let first = try await RawConnection.open(system.address("edge"))
                try await first.send(bytes: Self.handshake("mallory"))
                var answers = first.frames.makeAsyncIterator()
                _ = await answers.next()
                _ = await answers.next()
                let valid = try Self.publish(3, "one", to: "lobby") + Self.publish(4, "two", to: "lobby")
                try await first.send(bytes: valid + [0, 0, 0, 2, 0x0F, 0x01] + valid)
                var codes: [Rtm_Client_DisconnectCode] = []
                for await frame in first.frames {
                    if case .disconnect(let disconnect) = frame.body { codes.append(disconnect.code) }
                }
                #expect(codes == [.disconnectProtocolError])
                #expect(await received.nextMessage()?.payload == .text("one"))
                #expect(await received.nextMessage()?.payload == .text("two"))

                let second = try await RawWebSocket.open(system.address("edge.webSocket"))
                var events = second.events.makeAsyncIterator()
                #expect(try await second.logIn("mallory", &events) != nil)
                let three = try Self.publish(3, "three", to: "lobby")
                try await second.send(.binary, three + [0, 0, 0, 2, 0x0F, 0x01])
                #expect(await second.end().disconnect == .disconnectProtocolError)
                #expect(await received.nextMessage()?.payload == .text("three"))

                // No request behind the garbage was carried out.
                let witness = try system.client("witness")
                try await witness.login()
                try await witness.publish("last", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("last"))
                await witness.close()
            }
        }
    }
}
