import Foundation
import NIOCore
import RTMProtocol
import RTMTestSupport
import Testing

/// The last word of an edge reaches a client that is still sending.
@Suite(.serialized) struct DisconnectTests {
    private func lastWord(_ connection: RawConnection) async -> Rtm_Client_DisconnectCode? {
        var last: Rtm_Client_DisconnectCode?
        for await frame in connection.frames {
            if case .disconnect(let disconnect) = frame.body { last = disconnect.code }
        }
        return last
    }

    @Test("a client that is sent away while it sends learns why, each time of forty")
    func unreadInput() async throws {
        try await RunningSystem.with(.standalone) { system in
            for number in 0..<40 {
                let connection = try await RawConnection.open(system.address("edge"))
                // A frame that isn't one, and more behind it than one read takes.
                let bytes = [0, 0, 0, 3, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 400_000)
                async let sent: Void? = try? connection.send(bytes: bytes)
                #expect(await lastWord(connection) == .disconnectProtocolError, "connection \(number)")
                await sent
            }
        }
    }

    @Test("a client beyond the limit that has sent its login already learns why")
    func refused() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-connections-max", "1"]) { system in
            let first = try await RawConnection.open(system.address("edge"))
            // Somebody who hasn't logged in would make room.
            try await first.enter("alice")
            for number in 0..<40 {
                let other = try await RawConnection.open(system.address("edge"))
                try? await other.logIn("mallory")
                #expect(await lastWord(other) == .disconnectTooManyConnections, "connection \(number)")
            }
            try await first.close()
        }
    }

    @Test("who begins no handshake of TLS is closed at the handshake's time")
    func silentTLS() async throws {
        try await TestCertificate.with { files in
            let flags = [
                "--edge-handshake-timeout", "500ms", "--edge-tls-listen", "127.0.0.1:0",
                "--edge-tls-certificate", files.certificate, "--edge-tls-key", files.key,
            ]
            try await RunningSystem.with(.standalone, edge: flags) { system in
                let start = ContinuousClock.now
                let silent = try await RawConnection.open(system.address("edge.tls"))
                for await _ in silent.frames { Issue.record("a frame in the clear") }
                #expect(ContinuousClock.now - start < .seconds(4))
            }
        }
    }
}
