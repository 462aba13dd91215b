import Foundation
import Testing

/// The few rules of the house that a test can hold, applied to the tree. Taste stays with the reader of a
/// change.
@Suite("The house is tidy")
struct TidyTests {
    @Test("the tree was found")
    func treeWasFound() {
        #expect(SourceTree.paths.contains("Package.swift"), "looked in \(SourceTree.root.path())")
        #expect(!SourceTree.sources.isEmpty)
        #expect(!SourceTree.tests.isEmpty)
    }

    @Test("a room imports only rooms below it")
    func imports() {
        report(SourceTree.sources.flatMap(ImportRules.house.violations))
    }

    @Test("every room of the import rules exists")
    func roomsExist() {
        for room in ImportRules.house.rooms.keys.sorted() {
            #expect(SourceTree.sources.contains { $0.path.hasPrefix(room + "/") }, "no file in \(room)")
        }
    }

    @Test("tests don't sleep")
    func sleeps() {
        let files = SourceTree.tests.filter { $0.path != "Tests/Support/Eventually.swift" }
        report(files.flatMap(LineRules.sleeps))
    }

    @Test("sources don't crash on purpose")
    func crashes() {
        report(SourceTree.sources.flatMap(LineRules.crashes))
    }

    @Test("nothing is read from a coroutine that has ended")
    func yieldedReads() {
        report(SourceTree.swift.flatMap(LineRules.yieldedReads))
    }

    @Test("only the command line prints")
    func prints() {
        let files = SourceTree.sources.filter { !$0.path.hasPrefix("Clients/rtm/") }
        report(files.flatMap(LineRules.prints))
    }

    @Test("what the compiler can't check for data races is justified")
    func uncheckedIsolation() {
        report(SourceTree.swift.flatMap(LineRules.uncheckedIsolation))
    }

    @Test("a task outside the task tree has a reason")
    func unstructuredTasks() {
        report(SourceTree.sources.flatMap(LineRules.unstructuredTasks))
    }

    @Test("lines have at most 110 columns")
    func longLines() {
        // The reference's samples are kept to the letter.
        let files = SourceTree.swift.filter { !$0.path.hasPrefix("Tests/AgoraRtmKitSamples/Samples") }
        report(files.flatMap(LineRules.longLines))
    }

    @Test("a core knows no session and no connection")
    func cores() {
        let cores = Cores.all(in: SourceTree.sources.flatMap(TypeDeclaration.all))
        #expect(!cores.isEmpty, "no type says that it is pure")
        let missing = Cores.named.subtracting(cores.map(\.name)).sorted()
        #expect(missing.isEmpty, "Tests/Tidy/Cores.swift names types that aren't there: \(missing)")
        report(Cores.violations(in: SourceTree.sources))
    }

    @Test("a short file belongs into the file of its only user, if that one lies beside it")
    func fragments() {
        let found = ShapeRules.fragments(in: SourceTree.sources + SourceTree.tests, SourceTree.identifiers)
        report(found)
    }

    @Test("no struct of the servers holds many objects, which each copy of it would retain")
    func heavyStructs() { report(ShapeRules.heavyStructs(in: SourceTree.sources)) }

    @Test("types of two rooms have one name only if they are the same thing")
    func sharedNames() {
        let found = ShapeRules.sharedNames(in: SourceTree.sources + SourceTree.tests)
        report(found.values.sorted { $0.path < $1.path })
    }

    @Test("identifiers have the words of the field")
    func words() {
        let index = SourceTree.identifiers
        report(RefusedWords.violations(in: index).values.sorted { $0.advice < $1.advice })
        let gone = RefusedWords.allowed.filter { index.paths(of: $0).isEmpty }.sorted()
        #expect(gone.isEmpty, "Tests/Tidy/RefusedWords.swift allows what isn't there: \(gone)")
    }

    @Test("comments, texts and documents say which thing happens")
    func verbs() throws {
        report(try SourceTree.sources.flatMap { try RefusedWords.verbs(in: $0.prose, of: $0.path) })
        // The first lists the words, and the other two name the target `make room`.
        let quoting = ["docs/glossary.md", "CONTRIBUTING.md", "Tests/README.md"]
        for path in SourceTree.paths where path.hasSuffix(".md") && !quoting.contains(path) {
            let lines = SourceTree.text(of: path).components(separatedBy: "\n")
            report(try RefusedWords.verbs(in: lines, of: path))
        }
    }

    @Test(
        "the prose of documents wraps at 110 columns",
        .enabled("python3 is not installed") { FileManager.default.fileExists(atPath: "/usr/bin/python3") })
    func documents() throws {
        let outcome = try Program.run("/usr/bin/python3", "docs/wrap.py", "--check")
        let found = outcome.output.split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 2)
            #expect(parts.count == 3, "\(line)")
            return Violation(
                path: String(parts[0]), line: parts.count > 1 ? Int(parts[1]) ?? 0 : 0,
                advice: "prose wraps at 110 columns: run make format")
        }
        report(found)
    }

    @Test("the tables of documents have titles, and each row has as many cells")
    func tables() {
        for path in SourceTree.paths where path.hasSuffix(".md") {
            report(LineRules.tables(path: path, text: SourceTree.text(of: path)))
        }
    }

    @Test("no comment consists of a rule's id alone")
    func bareCitations() {
        report(SourceTree.swift.flatMap(ShapeRules.bareCitations))
    }

    @Test("the tests that documents name exist")
    func namedTests() {
        let declarations = SourceTree.tests.flatMap(TypeDeclaration.all)
        let names = Set(declarations.filter { !$0.isExtension }.map(\.name))
        let test = #/`(?<name>[A-Z]\w*(?:Tests|Check))`/#
        for path in SourceTree.paths where path.hasSuffix(".md") {
            for match in SourceTree.text(of: path).matches(of: test) {
                let name = String(match.name)
                #expect(names.contains(name), "\(path): there is no \(name)")
            }
        }
    }

    @Test("the types that docs/architecture.md names exist")
    func namedTypes() {
        let page = "docs/architecture.md"
        let messages = SourceTree.paths.filter { $0.hasSuffix(".proto") }.map(SourceTree.text).joined()
        let type = #/`(?<name>[A-Z][A-Za-z]*[a-z][A-Za-z]*)`/#
        for match in SourceTree.text(of: page).matches(of: type) {
            let isInCode = !SourceTree.identifiers.paths(of: String(match.name)).isEmpty
            #expect(isInCode || messages.contains("message \(match.name) {"), "there is no \(match.name)")
        }
    }

    @Test("a call between services is answered in one file, and its asker keeps no table of it")
    func calls() {
        report(CallRules.answers(in: SourceTree.swift) + CallRules.contexts(in: SourceTree.swift))
    }

    @Test("no marker of unfinished work is left behind")
    func leftovers() {
        let endings = [".swift", ".h", ".c", ".proto", ".sh", ".lua", ".md", ".yaml", ".yml", "Makefile"]
        let paths = SourceTree.paths.filter { path in endings.contains { path.hasSuffix($0) } }
        report(paths.flatMap { LineRules.leftovers(path: $0, text: SourceTree.text(of: $0)) })
    }

    @Test("a placeholder stands only in an empty room")
    func placeholders() {
        let placeholders = SourceTree.swift.filter { $0.path.hasSuffix("/Placeholder.swift") }
        let filled = placeholders.filter { placeholder in
            SourceTree.swift.contains {
                $0.path != placeholder.path && $0.path.hasPrefix(placeholder.folder + "/")
            }
        }
        report(
            filled.map {
                Violation(path: $0.path, line: 1, advice: "the room has real files: delete this one")
            }
        )
    }

    @Test("the links of our documents lead somewhere, to a file and to its heading")
    func links() {
        let link = #/\]\((?<target>[^)\s#]*)(?:#(?<heading>[^)\s]*))?\)/#
        for path in SourceTree.paths where path.hasSuffix(".md") {
            let page = SourceTree.root.appending(path: path)
            for match in SourceTree.text(of: path).matches(of: link) where !match.target.contains(":") {
                let target =
                    match.target.isEmpty
                    ? page
                    : page.deletingLastPathComponent().appending(path: String(match.target))
                        .standardizedFileURL
                guard FileManager.default.fileExists(atPath: target.path()) else {
                    Issue.record("\(path): the link to \(match.target) leads nowhere")
                    continue
                }
                guard let heading = match.heading, target.pathExtension == "md" else { continue }
                let text = (try? String(contentsOf: target, encoding: .utf8)) ?? ""
                #expect(
                    Self.anchors(of: text).contains(String(heading)),
                    "\(path): \(match.target)#\(heading) is no heading")
            }
        }
    }

    /// The names under which a document's headings are reached, as Git hosts and most renderers make them.
    private static func anchors(of text: String) -> Set<String> {
        let headings = text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/#{1,6} +(?<title>.*)/#)?.output.title
        }
        return Set(
            headings.map { title in
                String(
                    title.lowercased().replacing(#/\]\([^)]*\)/#, with: "").compactMap { character in
                        character == " " ? "-" : isKept(character) ? character : nil
                    })
            })
    }

    private static func isKept(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "-" || character == "_"
    }

    private func report(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
        for violation in violations {
            Issue.record(Comment(rawValue: "\(violation)"), sourceLocation: sourceLocation)
        }
    }
}
