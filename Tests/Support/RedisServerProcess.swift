package import Foundation
import Testing

/// A redis-server of the test's own on a unix socket. Its data go with it.
package final class RedisServerProcess: Sendable {
    package let socket: String
    private let directory: URL
    private let process: Process

    /// - Parameter password: the password of the user `rtm`, who may do everything. The default user is then
    ///   switched off.
    package init(password: String? = nil, directory: URL? = nil) throws {
        let place =
            directory
            ?? FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        self.directory = place
        socket = place.appending(path: "s").path
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no",
                "--dir", place.path,
            ]
            + (password.map {
                ["--user", "default", "off", "--user", "rtm", "on", ">\($0)", "~*", "&*", "+@all"]
            } ?? [])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    package func isListening() async throws {
        let socket = self.socket
        try await eventually("redis-server listens") { FileManager.default.fileExists(atPath: socket) }
    }

    /// Makes the server stop answering, without closing anything.
    package func pause() { kill(process.processIdentifier, SIGSTOP) }
    package func goOn() { kill(process.processIdentifier, SIGCONT) }

    /// Ends the server as a crash does: all data are lost that weren't saved.
    package func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: socket)
    }

    /// Deletes all data without telling any client.
    package func flush() throws { try command("FLUSHALL") }

    /// Writes the data to disk. A server that is started after a crash has these again, and nothing newer.
    package func save() throws { try command("SAVE") }

    private func command(_ name: String) throws {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        client.arguments = ["redis-cli", "-s", socket, name]
        client.standardOutput = FileHandle.nullDevice
        try client.run()
        client.waitUntilExit()
        guard client.terminationStatus == 0 else {
            throw ServiceProcessFailure(description: "redis-cli ended with \(client.terminationStatus)")
        }
    }

    /// Starts another server at the same place.
    package func again() throws -> RedisServerProcess { try RedisServerProcess(directory: directory) }

    package func remove() {
        end()
        try? FileManager.default.removeItem(at: directory)
    }
}
