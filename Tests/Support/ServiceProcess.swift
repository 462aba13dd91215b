package import Foundation
import Testing

/// One of the project's executables as a real process, started on ports that the system chooses and that its
/// start line reports.
package final class ServiceProcess: Sendable {
    package let name: String
    private let process: ChildProcess
    private let output: URL

    /// The folder where `swift build` puts executables: beside the test bundle that contains this code.
    package static let executables = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// Takes nothing from the environment of the test run except the settings of a sanitizer, which watches
    /// the processes, too.
    private static let inherited = ["LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"].reduce(
        into: ["PATH": "/usr/bin:/bin"]
    ) { $0[$1] = ProcessInfo.processInfo.environment[$1] }

    /// - Parameters:
    ///   - programs: the folder with the executable.
    ///   - entrance: a command that runs the program, with its arguments; empty for none.
    package init(
        _ name: String, _ arguments: [String], directory: URL, environment: [String: String] = [:],
        programs: URL = executables, entrance: [String] = []
    ) throws {
        self.name = name
        output = directory.appending(path: "\(name)-\(UUID().uuidString).log")
        try Data().write(to: output)
        let process = ChildProcess()
        let program = programs.appending(path: name)
        process.executableURL = entrance.isEmpty ? program : URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = entrance.isEmpty ? arguments : entrance + [program.path] + arguments
        process.currentDirectoryURL = directory
        process.environment = Self.inherited.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: output)
        self.process = process
        try process.run()
        process.standardError = nil
    }

    package var pid: Int32 { process.processIdentifier }
    package var hasExited: Bool { !process.isRunning }

    /// Everything that the process has logged.
    package var log: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// The listeners by purpose ("edge", "admin"), once the process has reported its start.
    package func listening() async throws -> [String: String] {
        var found: [String: String]?
        try await eventually("\(name) starts: \(log)", within: .seconds(30)) {
            found = startLine()
            guard found == nil, hasExited else { return found != nil }
            let status = process.terminationStatus
            throw ServiceProcessFailure(
                description: "\(name) ended with \(status) before it had started: \(log)")
        }
        return found ?? [:]
    }

    private func startLine() -> [String: String]? {
        for line in log.split(separator: "\n") where line.contains("\"message\":\"started\"") {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["listening"] as? [String: String]
        }
        return nil
    }

    package func signal(_ number: Int32) { kill(pid, number) }

    /// Ends the process as a power cut would.
    package func kill9() async throws {
        signal(SIGKILL)
        try await exit()
    }

    /// Waits for the end and returns the exit status.
    @discardableResult
    package func exit() async throws -> Int32 {
        try await eventually("\(name) ends", within: .seconds(30)) { hasExited }
        return process.terminationStatus
    }
}

package struct ServiceProcessFailure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
