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

    @Test("docs/configuration.md ends with the keys of all programs; `make write` writes them")
    func configuration() throws {
        let file = Self.docs.appending(path: "configuration.md")
        let written = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(written.range(of: KeyTables.title)).lowerBound
        let expected = try written[..<start] + KeyTables().text
        if ProcessInfo.processInfo.environment["WRITE_CONFIGURATION"] == "1" {
            try Data(expected.utf8).write(to: file)
        }
        #expect(try page("configuration.md") == expected, "run make write")
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
