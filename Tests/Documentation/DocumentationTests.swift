import Foundation
import RTMTestSupport
import Testing

/// The catalogues of the client libraries: Clients/RTMClient/RTMClient.docc and its like.
@Suite("The documentation for apps")
struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// The articles, by their paths.
    static let articles: [String] = [
        "Clients/RTMClient/RTMClient.docc", "Clients/AgoraRtmKit/AgoraRtmKit.docc", "TestKit/RTMTestKit.docc",
    ].flatMap { folder in
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }

    @Test("every symbol says what it is", arguments: ["RTMClient", "RTMModel", "AgoraRtmKit", "RTMTestKit"])
    func symbols(module: String) throws {
        let graph = try SymbolGraph.extract(module)
        for name in graph.undocumented.sorted() { Issue.record("\(module): \(name) has no comment") }
    }

    @Test("the code of an article compiles, from its beginning to its end", arguments: articles)
    func code(article: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: article), encoding: .utf8)
        guard let source = Snippets(text).source else { return }
        let file = FileManager.default.temporaryDirectory.appending(
            path: "article-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(source.utf8).write(to: file)
        if let complaints = try SymbolGraph.complaints(of: file) {
            Issue.record("\(article): \(complaints)")
        }
    }

    @Test("the articles that apps need are there")
    func complete() {
        let names = Self.articles.map { $0.split(separator: "/").last ?? "" }
        for name in ["FirstApp", "Reconnects", "Tokens", "EndToEndEncryption", "Migrating", "Testing"] {
            #expect(names.contains("\(name).md"))
        }
    }

    @Test("snippets are put together, and what can't compile is found")
    func snippets() throws {
        let text =
            "A\n```swift\nimport Foundation\n\nlet a = Date()\n```\nB\n```\nno code\n```\n```swift\nprint(a)\n```\n"
        let source = try #require(Snippets(text).source)
        #expect(source == "import Foundation\nfunc article() async throws {\n\nlet a = Date()\nprint(a)\n}\n")
        let file = FileManager.default.temporaryDirectory.appending(path: "wrong-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("import RTMClient\nfunc article() { RTMClient.nothing() }".utf8).write(to: file)
        let complaints = try #require(try SymbolGraph.complaints(of: file))
        #expect(complaints.contains("nothing"))
    }
}

/// The Swift of an article. Its blocks follow each other in one function, as a reader would type them.
struct Snippets {
    /// Nil if there is none.
    let source: String?

    init(_ article: String) {
        var imports: [String] = []
        var statements: [String] = []
        var isInside = false
        for line in article.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isInside = line == "```swift"
            } else if isInside, line.hasPrefix("import ") {
                imports.append(line)
            } else if isInside {
                statements.append(line)
            }
        }
        let body = ["func article() async throws {"] + statements + ["}", ""]
        source = statements.isEmpty ? nil : (imports + body).joined(separator: "\n")
    }
}
