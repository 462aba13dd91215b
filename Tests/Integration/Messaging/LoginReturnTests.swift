import RTMClient
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMTokenTestSupport
import SwiftProtobuf
import Testing

/// Protocol, "Subscriptions within the login", over real sockets and under a rate of one call a second.
@Suite(.serialized) struct LoginReturnTests {
    private static let channels = (0..<50).map { "room \($0)" }

    private func logIn(
        _ system: RunningSystem, after: [String: Rtm_Client_StreamPosition]
    ) async throws -> (RawConnection, AsyncStream<Rtm_Client_ServerFrame>.Iterator) {
        let connection = try await RawConnection.open(system.address("edge"))
        try await connection.hello()
        try await connection.send(
            2,
            .login(
                .with {
                    ($0.appID, $0.userID, $0.instance) = ("dev", "anna", 1)
                    if !after.isEmpty { $0.inboxAfter = .with { ($0.epoch, $0.offset) = (1, 0) } }
                    $0.subscriptions = Self.channels.enumerated().map { number, channel in
                        .with {
                            ($0.requestID, $0.channel, $0.features) = (UInt64(number + 10), channel, 4)
                            if let position = after[channel] { $0.after = position }
                        }
                    }
                }))
        return (connection, connection.frames.makeAsyncIterator())
    }

    @Test("S-19, S-20: fifty channels come back with one request, and nothing of them is missing")
    func fiftyChannels() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-calls", "1"]) { system in
            var positions: [String: Rtm_Client_StreamPosition] = [:]
            var (connection, frames) = try await logIn(system, after: [:])
            while positions.count < Self.channels.count {
                let frame = try #require(await frames.next())
                if case .subscribed(let answer) = frame.body {
                    positions[Self.channels[Int(frame.requestID) - 10]] = answer.position
                }
            }
            try await connection.close()
            try await system.withClients("bert") { clients in
                for channel in Self.channels {
                    try await clients[0].publish(channel, to: .channel(channel))
                }
            }
            (connection, frames) = try await logIn(system, after: positions)
            var (answered, received): (Set<UInt64>, Set<String>) = ([], [])
            while answered.count < Self.channels.count || received.count < Self.channels.count {
                let frame = try #require(await frames.next())
                switch frame.body {
                case .loggedIn(let answer): #expect(answer.subscriptions == 50)
                case .subscribed(let answer):
                    #expect(!answer.gap)
                    answered.insert(frame.requestID)
                case .publication(let publication):
                    #expect(received.insert(publication.channel).inserted, "twice in \(publication.channel)")
                case .error(let error): Issue.record("\(error.reason)")
                default: break
                }
            }
            try await connection.close()
        }
    }

    @Test("A-15: a login that carries channels its token doesn't list gets a refusal for each of them")
    func permissions() async throws {
        let flags = ["--apps", "\(SampleApp.id):\(SampleApp.certificate)"]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let connection = try await RawConnection.open(system.address("edge"))
            try await connection.hello()
            let token = try SampleApp.token(
                for: "anna", endsAt: WallClock.milliseconds() / 1000 + 500,
                permissions: .channels(read: ["news"], write: []))
            try await connection.send(
                2,
                .login(
                    .with {
                        ($0.appID, $0.userID, $0.token) = (SampleApp.id, "anna", token)
                        $0.subscriptions = ["news", "secret", "lobby"].enumerated().map { number, channel in
                            .with {
                                ($0.requestID, $0.channel, $0.features) = (UInt64(number + 10), channel, 4)
                            }
                        }
                        $0.followedUsers = [.with { ($0.requestID, $0.userID) = (20, "bert") }]
                    }))
            var frames = connection.frames.makeAsyncIterator()
            var codes: [UInt64: Rtm_Client_ErrorCode] = [:]
            while codes.count < 4 {
                let frame = try #require(await frames.next())
                switch frame.body {
                case .subscribed: codes[frame.requestID] = .errorOk
                case .error(let error): codes[frame.requestID] = error.code
                default: break
                }
            }
            #expect(
                codes == [
                    10: .errorOk, 11: .errorChannelSubscribePermissionDenied,
                    12: .errorChannelSubscribePermissionDenied, 20: .errorStoragePermissionDenied,
                ])
            try await connection.close()
        }
    }
}
