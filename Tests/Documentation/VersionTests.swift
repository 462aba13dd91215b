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

    @Test("the versions of packages that were tested are those of this build")
    func packages() throws {
        let page = try Self.text("docs/packages.md").split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        let pins = try JSONDecoder().decode(Pins.self, from: Data(Self.text("Package.resolved").utf8)).pins
        #expect(pins.count > 10)
        for pin in pins {
            let words = "\(pin.identity) \(pin.state.version)"
            #expect(page.localizedCaseInsensitiveContains(words), "docs/packages.md doesn't name \(words)")
        }
    }

    private struct Pins: Decodable {
        struct Pin: Decodable {
            struct State: Decodable { let version: String }

            let identity: String
            let state: State
        }

        let pins: [Pin]
    }
}
