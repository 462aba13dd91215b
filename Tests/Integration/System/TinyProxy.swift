import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// Debian's tinyproxy, as people run it in front of a network that lets nothing else out.
final class TinyProxy: Sendable {
    let port: Int
    private let directory: URL
    private let process: ChildProcess
    private let output: URL

    /// - Parameters:
    ///   - port: nil for a free one.
    ///   - credentials: nil lets everybody in.
    ///   - connectPort: the one port that clients may reach through it; nil means every port.
    static func start(
        port: Int? = nil, credentials: RTMClient.ProxyCredentials? = nil, connectPort: Int? = nil
    ) async throws -> TinyProxy {
        let proxy = try TinyProxy(
            port: port ?? FreePorts.take(1)[0], credentials: credentials, connectPort: connectPort)
        try await eventually("tinyproxy listens") {
            guard proxy.process.isRunning else {
                throw ServiceProcessFailure(
                    description: "tinyproxy doesn't run; .ci/setup tests installs it: \(proxy.log)")
            }
            return proxy.log.contains("Accepting connections")
        }
        return proxy
    }

    private init(port: Int, credentials: RTMClient.ProxyCredentials?, connectPort: Int?) throws {
        self.port = port
        directory = FileManager.default.temporaryDirectory.appending(path: "proxy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var lines = ["Port \(port)", "Listen 127.0.0.1", "Timeout 600", "MaxClients 100"]
        if let credentials { lines.append("BasicAuth \(credentials.account) \(credentials.password)") }
        if let connectPort { lines.append("ConnectPort \(connectPort)") }
        let file = directory.appending(path: "tinyproxy.conf")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        output = directory.appending(path: "log")
        try Data().write(to: output)
        let log = try FileHandle(forWritingTo: output)
        process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["tinyproxy", "-d", "-c", file.path]
        process.standardOutput = log
        process.standardError = log
        try process.run()
    }

    /// Everything that the proxy has logged.
    var log: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// Whether it was asked for a tunnel to this address.
    func hasConnected(to address: String) -> Bool { log.contains("CONNECT \(address) HTTP/1.1") }

    /// Ends it, and every connection through it.
    func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }
}
