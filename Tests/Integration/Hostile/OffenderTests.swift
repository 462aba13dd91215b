import Foundation
import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Clients that ask for more than they may, over real sockets, while others continue.
@Suite(.serialized) struct OffenderTests {
    private func besideOthers(
        _ edge: [String] = [], _ body: (RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(.standalone, edge: edge) { system in
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[1].subscribe(to: "lobby", features: .message)
                try await body(system)
                try await clients[0].publish("all well", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("all well"))
            }
        }
    }

    /// Sends the frame again and again, and returns the server's last word. What is sent is less than the
    /// edge reads behind its last frame (1 MiB): who sends more is reset, and may lose that frame.
    private func flood(
        _ connection: RawConnection, _ frame: [UInt8]
    ) async throws -> Rtm_Client_Disconnect? {
        let last = Task { () -> Rtm_Client_Disconnect? in
            for await frame in connection.frames {
                if case .disconnect(let disconnect) = frame.body { return disconnect }
            }
            return nil
        }
        let batch = [[UInt8]](repeating: frame, count: 100).flatMap(\.self)
        for _ in 0..<(512 * 1024 / batch.count) { try? await connection.send(bytes: batch) }
        return await last.value
    }

    @Test("R-16: thousands of heartbeats, or refused calls: the client is cut off, and others go on")
    func floods() async throws {
        try await besideOthers(["--edge-rates-calls", "20"]) { system in
            let heartbeats = try await RawConnection.open(system.address("edge"))
            try await heartbeats.enter("mallory")
            let beat = try RawConnection.frame(9, .heartbeat(.init()))
            let first = try await flood(heartbeats, beat)
            #expect(first?.code == .disconnectRateExceeded && first?.retryAfterMs == 10_000)
            let calls = try await RawConnection.open(system.address("edge"))
            try await calls.enter("mallory")
            let call = try RawConnection.frame(9, .unsubscribe(.with { $0.channel = "nowhere" }))
            let second = try await flood(calls, call)
            #expect(second?.code == .disconnectRateExceeded && second?.retryAfterMs == 10_000)
            let metrics = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                .body
            #expect(metrics.contains("rtm_edge_disconnects_total{code=\"rateExceeded\"} 2"))
        }
    }
}
