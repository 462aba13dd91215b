import Foundation
import RTMModel
import Testing

/// The places that name the version beside the one that it is taken from.
@Suite("The version")
struct VersionTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test("the changelog has a dated section of this version")
    func changelog() throws {
        let changelog = try Self.text("CHANGELOG.md")
        let heading = try Regex("\n## \\[\(Release.version)\\] - \\d{4}-\\d{2}-\\d{2}\n")
        #expect(changelog.contains(heading))
    }

    @Test("the pages that apps are made from name this version")
    func pages() throws {
        #expect(try Self.text("README.md").contains("\nHeliograph \(Release.version) is listening on "))
        #expect(try Self.text("docs/swift.md").contains("from: \"\(Release.version)\""))
    }

}
