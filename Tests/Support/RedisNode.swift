import Foundation
import Testing

/// A redis-server of the test's own on a port: a node of a Cluster, a sentinel, or a server that sentinels
/// watch.
package final class RedisNode: Sendable {
    /// The server that tests start; another one, such as Valkey, can take its place.
    static let program = ProcessInfo.processInfo.environment["REDIS_SERVER"] ?? "redis-server"

    package let port: Int
    private let process: ChildProcess

    /// - Parameter arguments: what follows the port and the directory.
    init(port: Int, in directory: URL, _ arguments: [String]) throws {
        self.port = port
        let place = directory.appending(path: "\(port)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [Self.program] + arguments
        process.currentDirectoryURL = place
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// A server without a disk.
    convenience init(port: Int, in directory: URL, options: [String]) throws {
        let own = [
            "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
        ]
        try self.init(port: port, in: directory, own + options)
    }

    package func isListening() async throws {
        try await eventually("redis-server listens on \(port)") { (try? command("PING")) != nil }
    }

    /// Sends a command and returns the answer. Throws if the server refuses it.
    @discardableResult
    package func command(_ words: String...) throws -> String { try command(words) }

    @discardableResult
    package func command(_ words: [String]) throws -> String {
        let client = ChildProcess()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        client.arguments = ["redis-cli", "-e", "-p", "\(port)"] + words
        let output = Pipe()
        client.standardOutput = output
        client.standardError = FileHandle.nullDevice
        try client.run()
        let answer = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        client.waitUntilExit()
        guard client.terminationStatus == 0 else {
            throw ServiceProcessFailure(description: "\(words.first ?? "") at \(port): \(answer)")
        }
        return answer
    }

    /// Whether a line of `INFO` or `CLUSTER INFO` has this text.
    package func answers(_ text: String, _ words: String...) -> Bool {
        (try? command(words))?.contains(text) == true
    }

    package func pause() { kill(process.processIdentifier, SIGSTOP) }
    package func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Ends the server as a crash does.
    package func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
