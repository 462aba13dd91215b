import Foundation
import Testing

/// What is generated from protocol/schema is committed, so that a build needs no generator. It has to be what
/// the generators write.
@Suite("Generated code")
struct GeneratedCodeTests {
    @Test(
        "the generated code is what protocol/generate.sh writes",
        .enabled("protoc, protoc-c, protoc-gen-swift or python3 is not installed (protocol/generate.sh)") {
            Self.check.status != Self.generatorIsMissing
        })
    func isUpToDate() {
        #expect(Self.check.status == 0, "run 'make generate' and commit the result\n\(Self.check.output)")
    }

    @Test("a message that is listed as written by hand is written or read by hand")
    func handWritten() throws {
        let table = try String(
            contentsOf: SourceTree.root.appending(path: "protocol/wire_messages.py"), encoding: .utf8)
        let rows = #/HAND_WRITTEN = \{\n(?<rows>(?:    .+\n)+)\}/#
        let list = try #require(table.firstMatch(of: rows))
        let names = list.output.rows.matches(of: #/(?m)^    "(?<name>\w+)": /#).map { String($0.output.name) }
        #expect(names.count > 20)
        let wire = SourceTree.root.appending(path: "Shared/Wire")
        let sources = try FileManager.default.subpathsOfDirectory(atPath: wire.path)
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Schema/") }
            .map { try String(contentsOf: wire.appending(path: $0), encoding: .utf8) }
            .joined(separator: "\n")
        for name in names {
            let caseOfC = "_BODY_" + name.replacing(#/\B[A-Z]/#) { "_" + $0.output }.uppercased()
            // A default word boundary is not found at a dot between letters.
            let use = try Regex("\\b(Schema\\.\(name)|\\w+\(caseOfC))\\b").wordBoundaryKind(.simple)
            let isUsed = try use.firstMatch(in: sources) != nil
            #expect(isUsed, "remove \(name) from protocol/wire_messages.py, and it is generated")
        }
    }

    private static let generatorIsMissing: Int32 = 3
    private static let check: (status: Int32, output: String) =
        (try? Program.run("protocol/generate.sh", "--check")) ?? (-1, "protocol/generate.sh can't be started")
}
