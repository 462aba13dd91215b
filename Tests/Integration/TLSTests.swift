import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// The same edge behind TLS, with a certificate made for the test.
@Suite(.serialized) struct TLSTests {
    private func makeCertificate(in directory: URL) throws -> (certificate: String, key: String) {
        let (certificate, key) = (
            directory.appending(path: "cert.pem").path, directory.appending(path: "key.pem").path
        )
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=heliograph test", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", key, "-out", certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0, "openssl made no certificate")
        return (certificate, key)
    }

    private func withTLS(_ body: (RunningSystem, ServerAddress, String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (certificate, key) = try makeCertificate(in: directory)
        let flags = [
            "--edge-tls-listen", "127.0.0.1:0", "--edge-tls-certificate", certificate, "--edge-tls-key", key,
        ]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            try await body(system, ServerAddress(system.address("edge.tls")), certificate)
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
            var heard = alice.events().makeAsyncIterator()
            try await alice.subscribe(to: "lobby", features: .message)
            let large = String(repeating: "a", count: Limits.messageBytesMax)
            for _ in 0..<20 { try await bob.publish(large, to: .channel("lobby")) }
            for _ in 0..<20 { #expect(await heard.nextMessage()?.payload == .text(large)) }
            await alice.close()
            await bob.close()
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
