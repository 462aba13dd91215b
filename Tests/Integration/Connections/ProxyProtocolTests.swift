import Foundation
import RTMProtocol
import RTMTestSupport
import Testing

/// An edge behind a load balancer: who is counted and logged is the client, not the balancer.
@Suite(.serialized) struct ProxyProtocolTests {
    private let alice = ProxyHeaderBytes.client([203, 0, 113, 1])
    private let bob = ProxyHeaderBytes.client([203, 0, 113, 2])

    private func open(_ system: RunningSystem, after header: [UInt8], to purpose: String = "edge")
        async throws -> RawConnection
    {
        let connection = try await RawConnection.open(system.address(purpose))
        try await connection.send(bytes: header)
        return connection
    }

    @Test("the limit for an address counts clients' addresses, and the log names them")
    func perAddress() async throws {
        let flags = [
            "--edge-proxy-protocol-trusted", "192.0.2.1,127.0.0.0/8", "--edge-connections-per-address-max",
            "2",
        ]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let first = try await open(system, after: alice)
            try await first.enter("alice")
            let second = try await open(system, after: [])
            for byte in alice { try await second.send(bytes: [byte]) }
            try await second.enter("alan")
            // The header, and the first frames with it.
            let third = try await open(system, after: alice + [0, 0, 0, 0])
            #expect(try await Self.notice(of: third) == .disconnectTooManyConnections)
            let other = try await open(system, after: bob)
            try await other.enter("bob")
            try await eventually("the log names the client") {
                let lines = try system.process("rtm-standalone").log.split(separator: "\n")
                return lines.contains { $0.contains("\"logged in\"") && $0.contains("\"203.0.113.2\"") }
            }
            for connection in [first, second, other] { try await connection.close() }
        }
    }

    @Test("a trusted balancer that sends no header is cut off and counted; a check of its own comes in")
    func badHeaders() async throws {
        let flags = [
            "--edge-proxy-protocol-trusted", "127.0.0.1", "--edge-handshake-timeout", "300ms",
        ]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let bare = try await RawConnection.open(system.address("edge"))
            try await bare.hello()
            for await frame in bare.frames { Issue.record("an answer without a header: \(frame)") }
            let silent = try await RawConnection.open(system.address("edge"))
            for await frame in silent.frames { Issue.record("an answer without a header: \(frame)") }
            let check = try await open(system, after: ProxyHeaderBytes.header(command: 0, family: 0, []))
            try await check.enter("carol")
            try await check.close()
            let url = "http://\(system.address("rtm-standalone admin"))/metrics"
            #expect(try await system.get(url).body.contains("rtm_edge_proxy_headers_refused_total 2\n"))
        }
    }

    @Test("a header from somebody who isn't trusted is what it looks like: no frame")
    func untrusted() async throws {
        let flags = ["--edge-proxy-protocol-trusted", "192.0.2.1"]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let connection = try await open(system, after: alice)
            #expect(try await Self.notice(of: connection) == .disconnectFrameTooLarge)
            try await system.withClients("dave") { _ in }
        }
    }

    private static func notice(of connection: RawConnection) async throws -> Rtm_Client_DisconnectCode? {
        for await frame in connection.frames {
            if case .disconnect(let disconnect) = frame.body { return disconnect.code }
        }
        return nil
    }
}
