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

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static let pages = ["README.md", "docs/swift.md", "docs/encryption.md"]

    /// What a reader of a page has already.
    private static func beginning(of page: String) throws -> Snippets {
        switch page {
        case "docs/swift.md":
            try Snippets(text("README.md"))
                + Snippets("```swift\nvar configuration = client.configuration\n```")
        case "docs/encryption.md":
            Snippets("```swift\nimport Foundation\nimport RTMClient\nlet salt = Data()\n```")
        default: Snippets("")
        }
    }

    @Test(
        "the code of a page compiles in loops, and in a closure, in debug and in release",
        arguments: articles + pages, [Optimization.none, .speed])
    func code(page: String, optimization: Optimization) throws {
        let snippets = try Self.beginning(of: page) + Snippets(Self.text(page))
        guard let source = snippets.source() else { return }
        if let complaints = try complaints(of: source, optimization) {
            Issue.record("\(page): \(complaints.prefix(2_000))")
        }
    }

    private func complaints(of source: String, _ optimization: Optimization) throws -> String? {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "article-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(source.utf8).write(to: file)
        return try SymbolGraph.complaints(of: file, optimization)
    }

    /// Swift 6.3.1 doesn't survive the others (Tests/README.md).
    @Test("a documented catch has no pattern, or another catch behind it")
    func lastCatch() throws {
        let folders = ["Clients", "Shared/Model", "TestKit", "Samples", "docs"]
        let files = folders.flatMap { folder -> [String] in
            let paths = FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path)
            return (paths?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }
        }
        var found = 0
        for path in files + ["README.md"] where path.hasSuffix(".md") || path.hasSuffix(".swift") {
            let isSwift = path.hasSuffix(".swift") && !path.hasPrefix("Samples/")
            let lines = try Self.text(path).split(separator: "\n").map {
                $0.trimmingPrefix(while: \.isWhitespace)
            }
            let code = isSwift ? lines.filter { $0.hasPrefix("///") }.map { $0.dropFirst(3) } : lines
            let catches = code.filter { $0.contains("} catch ") }.map { $0.drop { $0 == " " } }
            for (index, line) in catches.enumerated() where !line.contains("catch {") {
                found += 1
                let next = index + 1 < catches.count ? catches[index + 1] : ""
                if !next.hasPrefix("} catch") { Issue.record("\(path): no catch follows '\(line)'") }
            }
        }
        #expect(found >= 5)
    }

    @Test("the test of docs/swift.md is one that runs")
    func documentedTest() throws {
        let example = try Self.text("docs/swift.md").split(separator: "## Testing an app").last?
            .split(separator: "```swift\n").dropFirst().first?.split(separator: "```").first
        #expect(try example.map(String.init) == Self.text("Samples/Tests/DocumentedTests.swift"))
    }

    /// The articles whose programs Samples/Tests/ArticleTests.swift runs.
    static let programs = ["Presence", "Metadata", "Locks", "History", "SwiftUI"]

    @Test("the program of an article is one that runs", arguments: programs)
    func program(article: String) throws {
        let shown = try Snippets(Self.text("Clients/RTMClient/RTMClient.docc/\(article).md")).program
        // Where the article has a server of the reader's own, the test has one in its world.
        let local = #/servers: \[world.server\], appID: world.appID/#
        let run = try Self.text("Samples/Tests/Articles/\(article).swift").replacing(
            local, with: #"appID: "dev""#)
        #expect(shown.difference(from: Snippets.program(ofTest: run)).isEmpty)
    }

    @Test("the keys that the test kit's documentation names are there")
    func keys() throws {
        // The first cell of a row has the keys that mean the same.
        let cells = try Self.text("docs/configuration.md").matches(of: #/(?m)^\| (`[^|]+`) \|/#).map(\.1)
        let known = Set(cells.flatMap { $0.matches(of: #/`([a-zA-Z.]+)`/#).map(\.1) })
        let sections = Set(known.map { $0.prefix { $0 != "." } })
        let folder = Self.root.appending(path: "TestKit")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var named: Set<Substring> = []
        for path in paths where path.hasSuffix(".md") || path.hasSuffix(".swift") {
            let words = try Self.text("TestKit/\(path)").matches(of: #/`([a-z]+\.[a-zA-Z.]+)`/#).map(\.1)
            named.formUnion(words.filter { sections.contains($0.prefix { $0 != "." }) })
        }
        #expect(named.contains("edge.rates.publish"))
        #expect(named.subtracting(known).sorted() == [])
    }

    @Test("the articles that apps need are there")
    func complete() {
        let names = Self.articles.map { $0.split(separator: "/").last ?? "" }
        for name in ["FirstApp", "Reconnects", "Tokens", "EndToEndEncryption", "Migrating", "Testing"]
            + Self.programs
        {
            #expect(names.contains("\(name).md"))
        }
    }

    @Test("snippets are put together, and what can't compile is found")
    func snippets() throws {
        let text =
            "A\n```swift\nimport Foundation\n\nlet a = Date()\n```\nB\n```\nno code\n```\n```swift\nprint(a)\n```\n"
            + "```swift\n@Test func own() {}\n```\n```swift\n.package(url: x)\n```\n"
        let source = try #require(Snippets(text).source())
        #expect(
            source == "import Foundation\n"
                + Snippets.places.map { "\($0)\n\nlet a = Date()\nprint(a)\n}\n}\n" }.joined() + "}\n")
        let wrong = "import RTMClient\nfunc article() { RTMClient.nothing() }"
        #expect(try #require(try complaints(of: wrong, .none)).contains("nothing"))
    }

    @Test("a type of ours has a name beside the app's own of that name")
    func qualified() throws {
        let source = """
            import RTMClient
            struct Topic {}
            struct Limits {}
            #if compiler(>=6.3)
            let ours = RTMClient::Topic(name: "chat", publishers: [])
            let most = RTMModel::Limits.messageBytesMax
            #endif
            """
        #expect(try complaints(of: source, .none) == nil)
    }

    @Test("what compiles in a function and not in a Task is found")
    func closures() throws {
        func text(_ type: String) -> String {
            """
            ```swift
            import RTMClient
            let client = try RTMClient(.init(appID: "dev", userID: "carol"))
            do\(type) { try await client.login() } catch { print(error.isRetryable) }
            ```
            """
        }
        let untyped = try #require(Snippets(text("")).source())
        #expect(try #require(try complaints(of: untyped, .none)).contains("isRetryable"))
        let typed = try #require(Snippets(text(" throws(RTMError)")).source())
        #expect(try complaints(of: typed, .none) == nil)
    }

    @Test("what the compiler doesn't survive is found, too", .enabled(if: Self.compilerCrashes))
    func crash() throws {
        let text = """
            ```swift
            import RTMClient
            let client = try RTMClient(.init(appID: "dev", userID: "carol"))
            do { try await client.login() } catch where error.isRetryable { print("later") }
            ```
            """
        let source = try #require(Snippets(text).source(in: [Snippets.places[0]]))
        for optimization in [Optimization.none, .speed] {
            #expect(try complaints(of: source, optimization)?.contains("swift-frontend") == true)
        }
    }

    /// The mistake is that of Swift 6.3.
    private static var compilerCrashes: Bool {
        #if compiler(>=6.3) && compiler(<6.4)
            true
        #else
            false
        #endif
    }
}

/// The Swift of an article. Its blocks follow each other as a reader would type them, in each of several
/// places. Types that can't be declared in a function come before these places. Blocks for a manifest, and
/// those that are tests, are left out.
struct Snippets {
    private var imports: [String] = []
    private var declarations: [String] = []
    private var statements: [String] = []

    init(_ article: String) {
        var block: [String]?
        for line in article.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if let block { add(block) }
                block = line == "```swift" ? [] : nil
            } else {
                block?.append(line)
            }
        }
    }

    private mutating func add(_ block: [String]) {
        if block.contains(where: { $0.hasPrefix("@Test") || $0.hasPrefix(".package(") }) { return }
        if block.first?.hasPrefix("#if ") == true {
            declarations += block
            return
        }
        imports += block.filter { $0.hasPrefix("import ") }
        let others = block.filter { !$0.hasPrefix("import ") }
        // A macro that adds to its type, such as @Observable, needs a type outside of functions.
        if others.first(where: { !$0.isEmpty })?.hasPrefix("@available(") == true {
            declarations += others
        } else {
            statements += others
        }
    }

    /// The lines of the article's program without its imports.
    var program: [String] { (declarations + statements).filter { !$0.isEmpty && !$0.hasPrefix("import ") } }

    /// The same lines in the file of a test that has the statements in a function.
    static func program(ofTest file: String) -> [String] {
        var (lines, isFunction): ([String], Bool) = ([], false)
        for line in file.split(separator: "\n").map(String.init) {
            if line.hasPrefix("func ") { isFunction = true }
            let isFrame = line.hasPrefix("import ") || line.hasPrefix("/// The program of ")
            if isFrame || isFunction && !line.hasPrefix("    ") { continue }
            lines.append(isFunction ? String(line.dropFirst(4)) : line)
        }
        return lines
    }

    static func + (first: Snippets, second: Snippets) -> Snippets {
        var both = first
        both.imports += second.imports
        both.declarations += second.declarations
        both.statements += second.statements
        return both
    }

    /// Nil if there is no code.
    func source(in places: [String] = Self.places) -> String? {
        let bodies = places.flatMap { place in
            [place] + statements + place.filter { $0 == "{" }.map { _ in "}" }
        }
        let parts = imports + declarations + (statements.isEmpty ? [] : bodies)
        return parts.isEmpty ? nil : (parts + [""]).joined(separator: "\n")
    }

    /// Where readers write such code. In a closure the compiler doesn't infer what is thrown.
    static let places = [
        "func article() async throws {\nfor _ in 0..<1 {",
        "func articleOfEvents() async throws {\nfor await _ in AsyncStream<Void>.makeStream().stream {",
        "func articleOfTask() {\nTask {\nwhile !Task.isCancelled {",
    ]
}
