import Foundation
import Testing

/// docs/wrap.py, which wraps the prose of documents and leaves the rest of them alone.
@Suite(
    "Wrapped documents",
    .enabled("python3 is not installed") { FileManager.default.fileExists(atPath: "/usr/bin/python3") })
struct DocumentWrapTests {
    private static let long = String(repeating: "word ", count: 30).dropLast()

    @Test("a long paragraph and a long list item are wrapped, and only once")
    func prose() throws {
        let wrapped = try Self.wrap("\(Self.long)\n\n- \(Self.long)\n  \(Self.long)\n")
        #expect(wrapped.allSatisfy { $0.count <= 110 })
        #expect(wrapped.count == 7)
        #expect(wrapped[3].hasPrefix("- word") && wrapped[4].hasPrefix("  word"))
        #expect(try Self.wrap(wrapped.joined(separator: "\n")) == wrapped)
    }

    @Test(
        "what isn't prose stays as it is",
        arguments: [
            "| \(long) |", "# \(long)", "```\n\(long)\n```", "    \(long)", "![\(long)](a.png)",
            "short\nlines\nstay", "- [\(String(repeating: "x", count: 120))](a.md)",
        ])
    func others(_ text: String) throws {
        #expect(try Self.wrap(text + "\n").joined(separator: "\n") == text + "\n")
    }

    @Test("a line is not broken within code or a short link, nor before what would begin a list")
    func breaks() throws {
        let filler = String(repeating: "w", count: 104)
        #expect(try Self.wrap("\(filler) `a b c`, d\n")[1] == "`a b c`, d")
        #expect(try Self.wrap("\(filler) [a b](c.md) d\n")[1] == "[a b](c.md) d")
        #expect(try Self.wrap("\(filler) abc - d e f\n")[1] == "d e f")
        #expect(try Self.wrap("\(filler) abcd - e f\n")[1] == "abcd - e f")
    }

    private static func wrap(_ text: String) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "wrap-\(UUID().uuidString).md")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try Program.run("docs/wrap.py", file.path())
        #expect(outcome.status == 0, "\(outcome.output)")
        return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }
}
