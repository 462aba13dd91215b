import Foundation
import RTMTestSupport
import Testing

/// A program in Python, with the packages of Tests/Python. The first use installs them; if that fails, the
/// test fails.
enum ForeignClient {
    typealias Outcome = (status: Int32, output: String)

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let python = root.appending(path: ".build/python/bin/python")

    /// - Parameter script: its path from the root of the repository.
    static func run(
        _ script: String, _ arguments: [String], within limit: Duration = .seconds(60)
    ) async throws -> Outcome {
        let setup = try await run(
            root.appending(path: "Tests/Python/setup.sh"), [], within: .seconds(300))
        guard setup.status == 0 else { return setup }
        return try await run(
            python, [root.appending(path: script).path()] + arguments, within: limit)
    }

    /// Runs a program to its end. The output is what it wrote to both streams.
    static func run(
        _ program: URL, _ arguments: [String], within limit: Duration = .seconds(60)
    ) async throws -> Outcome {
        let output = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString).log")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = ChildProcess()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = process.standardOutput
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        try await eventually("\(program.lastPathComponent) ends", within: limit) { !process.isRunning }
        return (process.terminationStatus, try String(contentsOf: output, encoding: .utf8))
    }
}
