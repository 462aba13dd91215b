import Foundation
import RTMTestSupport
import Testing

/// A program and the terminal that it was started from. When that is closed, the system sends SIGHUP.
@Suite(.serialized) struct TerminalTests {
    @Test("a program ends with its terminal; under nohup it goes on, and takes SIGHUP for a reload")
    func closed() async throws {
        try await withDirectory { directory in
            let bare = try TerminalProgram([], in: directory)
            let survivor = try TerminalProgram(["nohup"], in: directory)
            defer {
                for program in [bare, survivor] {
                    program.closeTerminal()
                    program.kill(SIGKILL)
                }
            }
            for program in [bare, survivor] {
                try await eventually("it starts: \(program.log)") { program.log.contains("\"started\"") }
                program.closeTerminal()
            }
            // The terminal may still be there for a moment, and a signal means a reload until it has gone.
            try await eventually("the one ends: \(bare.log)") {
                bare.kill(SIGHUP)
                return bare.log.contains("\"shutting down\"")
            }
            // Who says that he has started receives the first signal.
            survivor.kill(SIGHUP)
            try await eventually("the other one reloads: \(survivor.log)") {
                survivor.log.contains("\"configuration reloaded\"")
            }
            #expect(!survivor.log.contains("\"shutting down\""))
            survivor.kill(SIGTERM)
            try await eventually("it ends in order: \(survivor.log)") { survivor.hasStopped }
        }
    }

    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }
}

/// `rtm-messaging` with a terminal of its own, which `script` holds open.
private final class TerminalProgram: Sendable {
    private let holder: ChildProcess
    private let keyboard = Pipe()
    private let output: URL
    private let number: URL

    /// - Parameter wrapper: what the program is started with.
    init(_ wrapper: [String], in directory: URL) throws {
        let name = UUID().uuidString
        output = directory.appending(path: name + ".log")
        number = directory.appending(path: name + ".pid")
        let program = ServiceProcess.executables.appending(path: "rtm-messaging").path
        let words =
            wrapper + [
                "'\(program)'", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-format", "json",
            ]
        let command = "echo $$ > '\(number.path)'; exec \(words.joined(separator: " ")) 2> '\(output.path)'"
        holder = ChildProcess()
        holder.executableURL = URL(filePath: "/usr/bin/env")
        holder.arguments = ["SHELL=/bin/sh", "script", "--quiet", "--command", command, "/dev/null"]
        holder.currentDirectoryURL = directory
        holder.standardInput = keyboard
        holder.standardOutput = FileHandle.nullDevice
        holder.standardError = FileHandle.nullDevice
        try holder.run()
    }

    var log: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var hasStopped: Bool { log.contains("\"stopped\"") }

    /// Nobody holds the terminal any more, as when its window is closed.
    func closeTerminal() { _ = Foundation.kill(holder.processIdentifier, SIGKILL) }

    func kill(_ signal: Int32) {
        if let processID { _ = Foundation.kill(processID, signal) }
    }

    private var processID: pid_t? {
        (try? String(contentsOf: number, encoding: .utf8)).flatMap {
            pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
