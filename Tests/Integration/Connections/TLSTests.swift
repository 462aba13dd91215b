import Foundation
import NIOSSL
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import Testing

/// The same edge behind TLS, with a certificate made for the test.
@Suite(.serialized) struct TLSTests {
    private func withTLS(
        _ more: [String] = [], _ body: (RunningSystem, ServerAddress, String) async throws -> Void
    ) async throws {
        try await TestCertificate.with { files in
            let flags = [
                "--edge-tls-listen", "127.0.0.1:0", "--edge-tls-certificate", files.certificate,
                "--edge-tls-key",
                files.key,
            ]
            try await RunningSystem.with(.standalone, edge: flags + more) { system in
                try await body(system, ServerAddress(system.address("edge.tls")), files.certificate)
            }
        }
    }

    @Test("Over TLS and in the clear, users reach each other; large messages pass whole")
    func talk() async throws {
        try await withTLS { system, address, certificate in
            let alice = try system.client("alice") {
                $0.servers = [address]
                $0.tls = .enabled(caFile: certificate)
            }
            let bob = try system.client("bob")
            try await alice.login()
            try await bob.login()
            var received = alice.events().makeAsyncIterator()
            try await alice.subscribe(to: "lobby", features: .message)
            let large = String(repeating: "a", count: Limits.messageBytesMax)
            for _ in 0..<20 { try await bob.publish(large, to: .channel("lobby")) }
            for _ in 0..<20 { #expect(await received.nextMessage()?.payload == .text(large)) }
            await alice.close()
            await bob.close()
        }
    }

    @Test("Whoever says nothing behind the handshake of TLS is told that its time is over")
    func silence() async throws {
        try await withTLS(["--edge-handshake-timeout", "1s"]) { _, address, certificate in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(certificate)
            let mute = try await RawConnection.open(
                "\(address)", tls: NIOSSLContext(configuration: configuration))
            var frames = mute.frames.makeAsyncIterator()
            #expect(await frames.next()?.disconnect.code == .disconnectHandshakeTimeout)
            #expect(await frames.next() == nil)
        }
    }

    @Test(
        "A client with TLS at a port without, and one without TLS at a port with it, learn that in plain words"
    )
    func otherPort() async throws {
        try await withTLS { system, address, certificate in
            let plain = try ServerAddress(system.address("edge"))
            let cases: [(ServerAddress, RTMClient.TLS, ConnectionFailure, String)] = [
                (
                    plain, .enabled(caFile: certificate), .serverWithoutTLS,
                    "the server speaks no TLS at this port"
                ),
                (
                    address, .disabled, .serverWithTLS,
                    "the server speaks TLS at this port, and this client doesn't"
                ),
            ]
            for (server, tls, failure, words) in cases {
                let client = try system.client("alice") {
                    ($0.servers, $0.tls) = ([server], tls)
                    $0.requestTimeout = .seconds(2)
                    $0.reconnectTimeout = .seconds(1)
                }
                var events = client.events().makeAsyncIterator()
                async let code = code { try await client.login() }
                var found: LinkStateEvent?
                while found == nil, let event = await events.next() {
                    if case .linkState(let change) = event, change.connectionFailure != nil { found = change }
                }
                #expect(found?.connectionFailure == failure)
                #expect(found?.reason.contains(words) == true, "\(found?.reason ?? "")")
                #expect(await code == .loginTimeout)
                await client.close()
            }
        }
    }

    @Test("The command line gives up at once where no attempt will ever succeed, and says what to do")
    func hopeless() async throws {
        let sockets = [
            "--edge-tls-listen", "0.0.0.0:0", "--edge-web-socket-listen", "127.0.0.1:0",
            "--edge-web-socket-tls-listen", "127.0.0.1:0",
        ]
        try await withTLS(sockets) { system, address, certificate in
            let (plain, port) = (system.address("edge"), address.port)
            let secure = "127.0.0.1:\(port)"
            let webSocket = system.address("edge.webSocket")
            let secureSocket = system.address("edge.webSocket.tls")
            let cases: [(server: String, options: [String], words: String, advice: String)] = [
                (secure, ["--no-tls"], "the server speaks TLS at this port", "--tls to talk to it"),
                (plain, ["--tls"], "the server speaks no TLS at this port", "--no-tls"),
                (secure, ["--tls"], "isn't signed by an authority that is trusted here", "--ca names a file"),
                (
                    "127.0.0.2:\(port)", ["--tls", "--ca", certificate],
                    "the server's certificate is for other names",
                    "--server takes one of the names"
                ),
                ("ws://\(secure)", [], "400 Bad Request: this port speaks TLS: write wss://", "the port"),
                (
                    "ws://\(secureSocket)", [], "400 Bad Request: this port speaks TLS: write wss://",
                    "the port"
                ),
                ("ws://\(webSocket)/elsewhere", [], "404 Not Found", "are the port and the path"),
            ]
            for (server, options, words, advice) in cases {
                for command in [["ping"], ["publish", "lobby", "hi"]] {
                    // Who says how long to wait has a server in mind that starts. That mends nothing here.
                    let outcome = try await system.end(
                        system.command(
                            command + ["--server", server, "--connect-timeout", "60s"] + options))
                    #expect(outcome.status == 1)
                    let cause = outcome.errors.joined(separator: "\n")
                    #expect(outcome.errors.count == 1 && cause.contains(words), "\(server): \(cause)")
                    #expect(cause.contains(advice), "\(server): \(cause)")
                }
            }
        }
    }

    @Test(
        "A certificate that isn't trusted is refused by the client; plain bytes on the TLS port harm nobody")
    func refusals() async throws {
        try await withTLS { system, address, certificate in
            let trusting = try system.client("alice") {
                $0.servers = [address]
                $0.tls = .enabled()
                $0.requestTimeout = .seconds(2)
                $0.reconnectTimeout = .seconds(1)
            }
            #expect(await code { try await trusting.login() } == .loginTimeout)
            await trusting.close()
            let plain = try await RawConnection.open("\(address)")
            try await plain.hello()
            for await _ in plain.frames { Issue.record("a frame in the clear on the TLS port") }
            let bob = try system.client("bob") {
                $0.servers = [address]
                $0.tls = .enabled(caFile: certificate)
            }
            try await bob.login()
            await bob.close()
        }
    }
}
