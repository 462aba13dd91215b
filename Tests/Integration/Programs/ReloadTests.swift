import Foundation
import RTMClient
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// Operators change certificates, apps and secrets without a restart.
@Suite(.serialized) struct ReloadTests {
    private func token(_ certificate: String) throws -> String {
        let now = UInt64(Date().timeIntervalSince1970)
        return try SampleApp.token(for: "alice", endsAt: now + 500, certificate: certificate)
    }

    private func yaml(_ certificate: String) -> Data {
        Data("apps:\n  - {id: \(SampleApp.id), certificate: \(certificate)}\n".utf8)
    }

    private func login(_ system: RunningSystem, _ certificate: String) async throws -> ErrorCode? {
        let token = try token(certificate)
        let alice = try system.client("alice") {
            $0.appID = SampleApp.id
            $0.token = token
        }
        let refusal = await code { try await alice.login() }
        await alice.close()
        return refusal
    }

    @Test("a changed file of apps is taken over without a signal, SIGHUP takes it over at once")
    func apps() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "apps-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try yaml(SampleApp.certificate).write(to: file)
        try await RunningSystem.with(.standalone, edge: ["--config", file.path]) { system in
            #expect(try await login(system, SampleApp.certificate) == nil)
            let process = try system.process("rtm-standalone")
            try yaml(SampleApp.otherCertificate).write(to: file, options: .atomic)
            process.signal(SIGHUP)
            try await eventually("SIGHUP is answered") { process.log.contains("configuration reloaded") }
            #expect(try await login(system, SampleApp.certificate) == .invalidToken)
            #expect(try await login(system, SampleApp.otherCertificate) == nil)

            try yaml(SampleApp.certificate).write(to: file, options: .atomic)
            try await eventually("the change is noticed", within: .seconds(20)) {
                try await login(system, SampleApp.certificate) == nil
            }
            try Data("apps: [".utf8).write(to: file, options: .atomic)
            process.signal(SIGHUP)
            try await eventually("the mistake is said") {
                process.log.contains("configuration not reloaded")
            }
            #expect(try await login(system, SampleApp.certificate) == nil)
        }
    }

    @Test("a renewed certificate of TLS is given to the next connection")
    func certificate() async throws {
        try await TestCertificate.with { files in
            let flags = [
                "--edge-tls-listen", "127.0.0.1:0", "--edge-tls-certificate", files.certificate,
                "--edge-tls-key", files.key,
            ]
            try await RunningSystem.with(.standalone, edge: flags) { system in
                let process = try system.process("rtm-standalone")
                let directory = URL(fileURLWithPath: files.certificate).deletingLastPathComponent()
                // The same paths, with another key and certificate.
                let renewed = try TestCertificate(in: directory)
                process.signal(SIGHUP)
                try await eventually("SIGHUP is answered") { process.log.contains("configuration reloaded") }
                let address = try ServerAddress(system.address("edge.tls"))
                let alice = try system.client("alice") {
                    $0.servers = [address]
                    $0.tls = .enabled(caFile: renewed.certificate)
                }
                try await alice.login()
                await alice.close()
            }
        }
    }

    @Test("--check-config opens certificate and key, and one file for four services starts standalone")
    func oneFile() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "heliograph.yaml")
        let text = """
            messaging: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
            presence: {listen: "127.0.0.1:0", messaging: "127.0.0.1:7720", admin: "127.0.0.1:0"}
            storage: {listen: "127.0.0.1:0", messaging: "127.0.0.1:7720", data: elsewhere}
            edge: {listen: "127.0.0.1:0", messaging: "127.0.0.1:7720", admin: "127.0.0.1:0"}
            gateway: {listen: "127.0.0.1:0"}
            standalone: {admin: "127.0.0.1:0"}
            """
        try Data(text.utf8).write(to: file)
        let standalone = try ServiceProcess(
            "rtm-standalone", ["--config", file.path], directory: directory)
        defer { standalone.signal(SIGKILL) }
        _ = try await standalone.listening()
        try await eventually("what has no effect is said") {
            standalone.log.contains("settings without effect in this program")
                && standalone.log.contains("storage.data")
        }
        let edge = try ServiceProcess(
            "rtm-edge",
            [
                "--check-config", "--tls-listen", "127.0.0.1:0", "--tls-certificate", "/nowhere/cert.pem",
                "--tls-key", "/nowhere/key.pem",
            ], directory: directory)
        #expect(try await edge.exit() == 2)
        #expect(
            edge.log.contains(
                "edge.tls.certificate (--tls-certificate): the file /nowhere/cert.pem can't be read: No such")
        )
    }
}
