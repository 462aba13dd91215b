import RTMProtocol
import RTMTestSupport
import Testing

/// An edge that holds as many connections as it may: those that say nothing don't keep others out.
@Suite(.serialized) struct FullServerTests {
    @Test(
        "silent connections make room, the oldest first; sessions don't",
        arguments: [["--edge-connections-max", "4"], ["--edge-connections-per-address-max", "4"]])
    func full(flags: [String]) async throws {
        // One loop, so that all connections are on it.
        let options = flags + ["--threads", "1", "--edge-handshake-timeout", "5m"]
        try await RunningSystem.with(.standalone, edge: options) { system in
            var silent: [RawConnection] = []
            for _ in 0..<4 { silent.append(try await RawConnection.open(system.address("edge"))) }
            try await silent[1].hello()
            var sessions: [RawConnection] = []
            for number in 0..<4 {
                let connection = try await RawConnection.open(system.address("edge"))
                try await connection.enter("user \(number)")
                sessions.append(connection)
            }
            for connection in silent {
                #expect(try await Self.notice(of: connection) == .disconnectTooManyConnections)
            }
            // Now it is full of sessions, and they stay.
            let late = try await RawConnection.open(system.address("edge"))
            #expect(try await Self.notice(of: late) == .disconnectTooManyConnections)
            for connection in sessions { try await connection.close() }
        }
    }

    private static func notice(of connection: RawConnection) async throws -> Rtm_Client_DisconnectCode? {
        for await frame in connection.frames {
            if case .disconnect(let disconnect) = frame.body { return disconnect.code }
        }
        return nil
    }
}
