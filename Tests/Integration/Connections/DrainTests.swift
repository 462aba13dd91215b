import Foundation
import RTMProtocol
import RTMTestSupport
import Testing

/// An edge that ends sends its clients away.
@Suite(.serialized) struct DrainTests {
    /// An edge that ends waits for a client that doesn't close its connection for this long.
    private static let notice = Duration.seconds(1)
    /// After so long it closes a connection that it has ended. So a drain takes no longer than that, even if
    /// the loops wait one after the other.
    private static let linger = Duration.seconds(5)

    @Test("Whoever hasn't logged in is told to come back, too, whether it has said something or not")
    func unauthenticated() async throws {
        try await RunningSystem.with(.standalone) { system in
            let mute = try await RawConnection.open(system.address("edge"))
            let polite = try await RawConnection.open(system.address("edge"))
            try await polite.hello()
            var answers = polite.frames.makeAsyncIterator()
            _ = try #require(await answers.next())
            try await eventually("both are there") {
                try await system.get("http://\(system.address("rtm-standalone admin"))/metrics").body
                    .contains("rtm_edge_connections 2")
            }
            let process = try system.process("rtm-standalone")
            process.signal(SIGTERM)
            var silent = mute.frames.makeAsyncIterator()
            for frame in [await answers.next(), await silent.next()] {
                #expect(frame?.disconnect.code == .disconnectDraining)
                #expect(frame?.disconnect.retryAfterMs ?? .max <= 1_000)
            }
            #expect(try await process.exit() == 0)
        }
    }

    @Test("Clients that don't close hold a drain up once, however many event loops they are on")
    func together() async throws {
        let loops = 16
        try await RunningSystem.with(.standalone, edge: ["--threads", "\(loops)"]) { system in
            var clients: [RawConnection] = []
            for number in 0..<loops * 2 {
                let client = try await RawConnection.open(system.address("edge"), staysOpen: true)
                try await client.enter("user\(number)")
                clients.append(client)
            }
            let process = try system.process("rtm-standalone")
            let start = ContinuousClock.now
            process.signal(SIGTERM)
            #expect(try await process.exit() == 0)
            let time = ContinuousClock.now - start
            #expect(time > Self.notice / 2 && time < Self.linger * 3 / 4)
            for client in clients { try? await client.close() }
        }
    }
}
