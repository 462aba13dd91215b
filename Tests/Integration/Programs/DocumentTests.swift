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

    private static let programs = [
        "rtm-edge", "rtm-messaging", "rtm-presence", "rtm-storage", "rtm-gateway", "rtm-standalone",
    ]

    @Test("docs/configuration.md ends with the keys of each program; `make write` writes them")
    func configuration() throws {
        let file = Self.docs.appending(path: "configuration.md")
        let written = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(written.range(of: "## \(Self.programs[0])\n")).lowerBound
        let expected = try written[..<start] + Self.programs.map(reference).joined(separator: "\n")
        if ProcessInfo.processInfo.environment["WRITE_CONFIGURATION"] == "1" {
            try Data(expected.utf8).write(to: file)
        }
        #expect(try page("configuration.md") == expected, "run make write")
    }

    private func reference(_ program: String) throws -> String {
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = ServiceProcess.executables.appending(path: program)
        process.arguments = ["--print-reference"]
        process.standardOutput = output
        try process.run()
        let reference = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return reference
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
