import Foundation

/// The files of the repository as text, without what tools write: build products and generated code.
enum SourceTree {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What `protocol/generate.sh` writes.
    private static let generated = ["protocol/generated", "Shared/Wire/Schema/"]

    /// Paths from the root on, sorted.
    static let paths: [String] = {
        let prefix = root.path() + (root.path().hasSuffix("/") ? "" : "/")
        let walk = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: [.isRegularFileKey], options: [.skipsHiddenFiles])
        var found: [String] = []
        while let url = walk?.nextObject() as? URL {
            let path = url.resolvingSymlinksInPath().path().replacing(prefix, with: "", maxReplacements: 1)
            if generated.contains(where: path.hasPrefix) {
                walk?.skipDescendants()
            } else if (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true {
                found.append(path)
            }
        }
        return found.sorted()
    }()

    /// The product: everything that isn't a test.
    static let sources = swift.filter { file in
        ["Shared/", "Services/", "Clients/", "TestKit/"].contains { file.path.hasPrefix($0) }
    }

    static let tests = swift.filter { $0.path.hasPrefix("Tests/") }

    static let swift: [SwiftFile] = paths.filter { $0.hasSuffix(".swift") }.map {
        SwiftFile(path: $0, text: text(of: $0))
    }

    static let identifiers = IdentifierIndex(swift)

    static func text(of path: String) -> String {
        (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }
}

struct SwiftFile: Sendable {
    let path: String
    /// As they stand in the file.
    let lines: [String]
    /// The same lines without comments and string literals.
    let code: [String]

    /// As an editor counts them.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code = CodeOnly.lines(of: text)
    }
}

/// What a rule of the house has to say about one line.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let advice: String

    var description: String { "\(path):\(line): \(advice)" }
}
