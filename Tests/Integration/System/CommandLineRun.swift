import Foundation
import RTMTestSupport
import Testing

/// The command line as a script uses it: one process for each call.
struct CommandOutcome {
    let status: Int32
    let output: [String]
    let errors: [String]
}

extension RunningSystem {
    /// Starts `rtm`.
    func command(
        _ arguments: [String], input: Pipe? = nil, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let process = ChildProcess()
        process.executableURL = ServiceProcess.executables.appending(path: "rtm")
        process.arguments = arguments
        // A sanitizer is told by the environment what to report and where.
        let sanitizer = ProcessInfo.processInfo.environment
            .filter { ["ASAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"].contains($0.key) }
        process.environment = sanitizer.merging(
            ["PATH": "/usr/bin:/bin", "RTM_SERVER": address("edge"), "RTM_APP_ID": "dev"]) { $1 }
            .merging(environment) { $1 }
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = Pipe()
        process.standardError = Pipe()
        try process.run()
        return process
    }

    func end(_ process: ChildProcess) async throws -> CommandOutcome {
        try await eventually("rtm ends") { !process.isRunning }
        func lines(_ pipe: Any?) -> [String] {
            let data = (pipe as? Pipe)?.fileHandleForReading.readDataToEndOfFile() ?? Data()
            return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return CommandOutcome(
            status: process.terminationStatus, output: lines(process.standardOutput),
            errors: lines(process.standardError))
    }

    /// The first line that the program writes, as soon as it is there; `end` has the others.
    func firstLine(of process: ChildProcess) async -> String {
        guard let output = (process.standardOutput as? Pipe)?.fileHandleForReading else { return "" }
        return await withCheckedContinuation { line in
            DispatchQueue.global().async {
                var bytes = Data()
                while let byte = try? output.read(upToCount: 1), let value = byte.first, value != 0x0A {
                    bytes.append(value)
                }
                line.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    func run(_ arguments: String...) async throws -> CommandOutcome { try await end(command(arguments)) }
}
