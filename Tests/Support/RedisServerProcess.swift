package import Foundation
import Testing

/// A redis-server of the test's own on a unix socket. Its data go with it.
package final class RedisServerProcess: Sendable {
    package let socket: String
    /// The user who may log in; empty for the default user.
    package let user: String
    /// Where the server talks TLS; nil if it doesn't.
    package let tlsPort: Int?
    private let directory: URL
    private let appendsToFile: Bool
    private let process: ChildProcess

    /// - Parameter password: the password of the user `rtm`, who may do everything. The default user is then
    ///   switched off.
    /// - Parameter tls: the certificate for connections over TLS; nil if there are none.
    /// - Parameter appendsToFile: whether each write goes into an append-only file, which is synced. A server
    ///   that is started after a crash has these writes again.
    package init(
        password: String? = nil, directory: URL? = nil, tls: TestCertificate? = nil,
        appendsToFile: Bool = false
    ) throws {
        self.appendsToFile = appendsToFile
        user = password == nil ? "" : "rtm"
        tlsPort = try tls.map { _ in try FreePorts.take(1)[0] }
        let place =
            directory
            ?? FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        self.directory = place
        socket = place.appending(path: "s").path
        process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                RedisNode.program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly",
                appendsToFile ? "yes" : "no", "--appendfsync", "always", "--dir", place.path,
            ]
            + (password.map {
                ["--user", "default", "off", "--user", "rtm", "on", ">\($0)", "~*", "&*", "+@all"]
            } ?? []) + Self.tlsArguments(tls, port: tlsPort)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    private static func tlsArguments(_ tls: TestCertificate?, port: Int?) -> [String] {
        guard let tls, let port else { return [] }
        return [
            "--tls-port", "\(port)", "--tls-cert-file", tls.certificate, "--tls-key-file", tls.key,
            "--tls-ca-cert-file", tls.certificate, "--tls-auth-clients", "no",
        ]
    }

    package func isListening() async throws {
        // The socket's file is there before anybody listens. A server that wants a password answers, too.
        try await eventually("redis-server listens") {
            FileManager.default.fileExists(atPath: socket) && (try? command(["PING"])) != nil
        }
    }

    /// Makes the server stop answering, without closing anything.
    package func pause() { kill(process.processIdentifier, SIGSTOP) }
    package func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Ends the server as a crash does: all data are lost that weren't saved.
    package func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: socket)
    }

    /// Changes the password of the user `rtm`. Connections that are there stay.
    package func setPassword(_ new: String, instead old: String) throws {
        try command(["--user", "rtm", "--pass", old, "ACL", "SETUSER", "rtm", "resetpass", ">\(new)"])
    }

    /// Adds a user who may do everything.
    package func addUser(_ user: String, _ password: String, password rtms: String) throws {
        try command([
            "--user", "rtm", "--pass", rtms, "ACL", "SETUSER", user, "on", ">\(password)", "~*", "&*",
            "+@all",
        ])
    }

    /// Closes all connections of clients.
    package func disconnectAll(password: String) throws {
        try command([
            "--user", "rtm", "--pass", password, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes",
        ])
    }

    /// Deletes all data without telling any client.
    package func flush() throws { try command(["FLUSHALL"]) }

    /// Changes the configuration of the running server.
    package func configure(_ name: String, _ value: String) throws {
        try command(["CONFIG", "SET", name, value])
    }

    /// Writes the data to disk. A server that is started after a crash has these again, and nothing newer.
    package func save() throws { try command(["SAVE"]) }

    /// Sends a command of its own.
    package func command(_ words: [String]) throws {
        let client = ChildProcess()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        client.arguments = ["redis-cli", "-s", socket] + words
        client.standardOutput = FileHandle.nullDevice
        client.standardError = FileHandle.nullDevice
        try client.run()
        client.waitUntilExit()
        guard client.terminationStatus == 0 else {
            throw ServiceProcessFailure(description: "redis-cli ended with \(client.terminationStatus)")
        }
    }

    /// Starts another server at the same place.
    package func again() throws -> RedisServerProcess {
        try RedisServerProcess(directory: directory, appendsToFile: appendsToFile)
    }

    /// Whether the server can say that its append-only file is synced (WAITAOF). Redis can since 7.2.
    package static let confirmsSync: Bool = {
        let program = ChildProcess()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = [RedisNode.program, "--version"]
        let output = Pipe()
        program.standardOutput = output
        guard (try? program.run()) != nil else { return false }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        let version = text.firstMatch(of: /v=(\d+)\.(\d+)/)
        guard let version, let major = Int(version.1), let minor = Int(version.2) else { return false }
        return (major, minor) >= (7, 2)
    }()

    package func remove() {
        end()
        try? FileManager.default.removeItem(at: directory)
    }
}
