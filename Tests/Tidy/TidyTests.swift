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
        report(SourceTree.sources.flatMap(ImportRules.house.findings))
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
        report(Cores.findings(in: SourceTree.sources))
    }

    @Test("no folder has more than 20 Swift files directly in it")
    func folders() {
        report(ShapeRules.bigFolders(SourceTree.sources, except: ShapeRules.bigFolders))
    }

    @Test("no type has more than 400 lines with its extensions")
    func types() {
        report(ShapeRules.bigTypes(SourceTree.sources, except: ShapeRules.bigTypes))
    }

    @Test("no comment consists of a rule's id alone")
    func bareCitations() {
        let byRoom = Dictionary(grouping: SourceTree.swift.flatMap(ShapeRules.bareCitations)) {
            ImportRules.house.room(of: $0.path) ?? "Tests"
        }
        for (room, findings) in byRoom where findings.count > ShapeRules.bareCitations[room] ?? 0 {
            report(findings)
        }
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
            filled.map { Finding(path: $0.path, line: 1, advice: "the room has real files: delete this one") }
        )
    }

    @Test("the links of our documents lead somewhere")
    func links() {
        let link = #/\]\((?<target>[^)\s#]+)(?:#[^)]*)?\)/#
        for path in SourceTree.paths where path.hasSuffix(".md") {
            let folder = SourceTree.root.appending(path: path).deletingLastPathComponent()
            for match in SourceTree.text(of: path).matches(of: link) where !match.target.contains(":") {
                let target = folder.appending(path: String(match.target)).standardizedFileURL
                #expect(
                    FileManager.default.fileExists(atPath: target.path()),
                    "\(path): the link to \(match.target) leads nowhere")
            }
        }
    }

    private func report(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
        for finding in findings {
            Issue.record(Comment(rawValue: "\(finding)"), sourceLocation: sourceLocation)
        }
    }
}
