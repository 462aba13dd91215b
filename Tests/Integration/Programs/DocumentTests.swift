import Foundation
import RTMTestSupport
import Testing

/// The operator's documents say what the programs do.
@Suite(.serialized) struct DocumentTests {
    private static let docs = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs")

    private func page(_ name: String) throws -> String {
        try String(contentsOf: Self.docs.appending(path: name), encoding: .utf8)
    }

    @Test(
        "docs/configuration.md holds what each program prints with --print-reference",
        arguments: ["rtm-edge", "rtm-messaging", "rtm-presence", "rtm-storage", "rtm-standalone"])
    func configuration(_ program: String) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = ServiceProcess.executables.appending(path: program)
        process.arguments = ["--print-reference"]
        process.standardOutput = output
        try process.run()
        let reference = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(
            try page("configuration.md").contains(reference), "\(program): copy its --print-reference there")
    }

    @Test("docs/metrics.md names every metric with its help")
    func metrics() async throws {
        try await RunningSystem.with(.standalone) { system in
            let url = "http://\(system.address("rtm-standalone admin"))/metrics"
            let page = try page("metrics.md")
            for line in try await system.get(url).body.split(separator: "\n") where line.hasPrefix("# HELP ")
            {
                let parts = line.dropFirst("# HELP ".count).split(separator: " ", maxSplits: 1)
                #expect(page.contains("`\(parts[0])`"), "\(parts[0]) is missing")
                #expect(page.contains(parts[1]), "the meaning of \(parts[0]) is missing: \(parts[1])")
            }
        }
    }
}
