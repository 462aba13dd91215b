import Foundation
import RTMTestSupport
import Testing

/// A client in another language, from Tests/Python. The first use installs what it needs; if that fails, the
/// test fails.
enum ForeignClient {
    typealias Outcome = (status: Int32, output: String)

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func run(_ script: String, _ arguments: [String]) async throws -> Outcome {
        let folder = root.appending(path: "Tests/Python")
        let setup = try await run(folder.appending(path: "setup.sh"), [], within: .seconds(300))
        guard setup.status == 0 else { return setup }
        return try await run(
            root.appending(path: ".build/python/bin/python"),
            [folder.appending(path: script).path] + arguments)
    }

    /// Runs a program to its end. The output is what it wrote to both streams.
    static func run(
        _ program: URL, _ arguments: [String], within limit: Duration = .seconds(60)
    ) async throws -> Outcome {
        let output = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString).log")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = Process()
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
