import Testing

/// The rules themselves: each finds what it is for, and leaves alone what only looks like it.
@Suite("Tidy rules")
struct RuleTests {
    // MARK: Imports

    @Test("an import is recognised with its access level, attributes and kinds")
    func importStatements() {
        let statements = [
            "import RTMWire", "internal import RTMWire", "package import RTMWire", "  public import RTMWire",
            "@testable import RTMWire", "@_implementationOnly import RTMWire", "import struct RTMWire.Frame",
            "@preconcurrency package import class RTMWire.Arena", "import RTMWire;",
        ]
        for statement in statements { #expect(ImportRules.imported(by: statement) == "RTMWire") }
        for other in ["let important = 1", "importer.run()", "", "reimport RTMWire"] {
            #expect(ImportRules.imported(by: other) == nil)
        }
    }

    @Test("a server may not import another server, and is told to use its client")
    func serverImportsServer() {
        let violations = imports(
            "Services/Edge/Server/Sessions/A.swift", "import RTMModel\nimport RTMStorageServer")
        #expect(violations.map(\.line) == [2])
        #expect(violations.first?.advice.contains("RTMStorageClient") == true)
    }

    @Test("only Wire may import the generated C, and Clients nothing of the services")
    func otherDirections() {
        #expect(imports("Shared/Wire/A.swift", "import RTMProtocolC").isEmpty)
        #expect(imports("Shared/ServiceLink/A.swift", "import RTMProtocolC").count == 1)
        #expect(imports("Clients/RTMClient/A.swift", "import RTMWire").count == 1)
        #expect(imports("Clients/rtm/A.swift", "import RTMProtocol").count == 1)
        #expect(imports("Clients/rtm/A.swift", "import RTMAccessToken").isEmpty)
        #expect(imports("Clients/RTMClient/A.swift", "import RTMAccessToken").count == 1)
        #expect(imports("Services/Edge/Server/A.swift", "import RTMAccessToken").isEmpty)
        #expect(imports("Services/Messaging/Server/A.swift", "import RTMAccessToken").count == 1)
        #expect(imports("Services/Edge/Server/A.swift", "import CCrypto").count == 1)
        #expect(imports("Shared/Cryptography/A.swift", "import CryptoKit\nimport CCrypto").isEmpty)
        for room in ["Clients/RTMClient/Outbox", "Services/Gateway/Server", "Shared/AccessToken/JWT"] {
            for module in ["Crypto", "CryptoExtras", "CryptoKit"] {
                let violations = imports("\(room)/A.swift", "import \(module)")
                #expect(violations.first?.advice.contains("use RTMCryptography") == true)
            }
        }
        #expect(imports("Services/Messaging/Server/A.swift", "import RTMPresenceClient").count == 1)
        #expect(imports("Services/Presence/Server/A.swift", "import RTMMessagingClient").isEmpty)
        #expect(imports("Shared/Model/A.swift", "import Foundation").isEmpty)
        #expect(imports("Shared/Model/A.swift", "import Logging").count == 1)
    }

    @Test("only Standalone imports several servers")
    func severalServers() {
        let both = "import RTMEdgeServer\nimport RTMStorageServer"
        #expect(imports("Services/Standalone/Main/A.swift", both).isEmpty)
        #expect(imports("Services/Edge/Main/A.swift", both).map(\.line) == [2])
    }

    @Test("a folder that the rules don't know has to be added to them")
    func unknownRoom() {
        #expect(imports("Shared/Utils/A.swift", "import RTMModel").count == 1)
    }

    // MARK: Lines

    @Test("sleeping is found in all its forms, but not a method of that name")
    func sleeps() {
        let found = [
            "try await Task.sleep(for: .seconds(1))", "sleep(1)", "usleep(5)",
            "Thread.sleep(forTimeInterval: 1)",
            "try await Task .sleep(nanoseconds: 5)",
        ]
        for line in found { #expect(LineRules.sleeps(in: file(line)).count == 1, "\(line)") }
        for line in ["clock.sleep(until: deadline)", "let sleepers = 3", "// sleep(1)", #"say("sleep(1)")"#] {
            #expect(LineRules.sleeps(in: file(line)).isEmpty, "\(line)")
        }
    }

    @Test("a _read accessor is found, _modify and a function of that name aren't")
    func yieldedReads() {
        let accessors = file("_read { yield a }\n_modify { yield &a }")
        #expect(LineRules.yieldedReads(in: accessors).map(\.line) == [1])
        #expect(LineRules.yieldedReads(in: file("func did_read() {}\nlet a = _read // _read {")).isEmpty)
    }

    @Test("crashing and printing are found in code only")
    func crashesAndPrints() {
        #expect(LineRules.crashes(in: file("let a = try! f()\nfatalError(\"no\")")).map(\.line) == [1, 2])
        #expect(LineRules.crashes(in: file("try f() // not try!\n/* fatalError( */")).isEmpty)
        #expect(LineRules.prints(in: file("print(1)\nif x { debugPrint(x) }")).map(\.line) == [1, 2])
        #expect(LineRules.prints(in: file("fingerprint(1)\npage.print(1)\n\"print(1)\"")).isEmpty)
    }

    @Test("unchecked isolation needs its Safety paragraph closely above")
    func safety() {
        let line = "final class A: @unchecked Sendable {}"
        let far = String(repeating: "\n", count: 7)
        #expect(LineRules.uncheckedIsolation(in: file(line)).count == 1)
        #expect(LineRules.uncheckedIsolation(in: file("// Safety: one loop.\n\(line)")).isEmpty)
        #expect(LineRules.uncheckedIsolation(in: file("// Safety: one loop.\(far)\(line)")).count == 1)
        #expect(LineRules.uncheckedIsolation(in: file("nonisolated(unsafe) var a = 1")).count == 1)
    }

    @Test("a task needs its reason")
    func tasks() {
        for line in ["Task {", "Task.detached {", "Task(priority: .low) {", "let t = Task<Void, Never> {"] {
            #expect(LineRules.unstructuredTasks(in: file(line)).count == 1, "\(line)")
            #expect(LineRules.unstructuredTasks(in: file("// Unstructured: why.\n\(line)")).isEmpty)
        }
        for line in ["group.addTask {", "Task.currentPriority", "struct MyTask {"] {
            #expect(LineRules.unstructuredTasks(in: file(line)).isEmpty, "\(line)")
        }
    }

    @Test("a line may have 110 columns, not 111, unless it is a string literal")
    func longLines() {
        let lines = [110, 111].map { String(repeating: "x", count: $0) }.joined(separator: "\n")
        #expect(LineRules.longLines(in: file(lines)).map(\.line) == [2])
        let words = String(repeating: "word ", count: 25)
        #expect(LineRules.longLines(in: file("// \(words)")).count == 1)
        #expect(LineRules.longLines(in: file("/// \(words)")).count == 1)
        #expect(LineRules.longLines(in: file("call(\"\(words)\")")).count == 1)
        #expect(LineRules.longLines(in: file("    \"\(words)\",")).isEmpty)
        #expect(LineRules.longLines(in: file("\"\"\"\n\(words)\n\"\"\"")).isEmpty)
    }

    @Test("a marker of unfinished work is found in comments too")
    func leftovers() {
        let marker = "TO" + "DO"
        #expect(LineRules.leftovers(path: "a.sh", text: "a\n# \(marker): later").map(\.line) == [2])
        #expect(LineRules.leftovers(path: "a.sh", text: "\(marker)LIST").isEmpty)
    }

    @Test("a table without titles is found, and a row with more or fewer cells than titles")
    func tables() {
        func found(_ text: String) -> [Int] { LineRules.tables(path: "a.md", text: text).map(\.line) }
        #expect(
            found("a\n\n| a | b |\n|---|:-:|\n| 1 | `2 \\| 3` |\n\n| | |\n|---|---|\n| 1 | 2 |\n").isEmpty)
        #expect(found("a\n\n|---|---|\n| 1 | 2 |\n") == [3])
        #expect(found("| 1 | 2 |\n| 3 | 4 |\n") == [1])
        #expect(found("| 1 | 2 |") == [1])
        #expect(found("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 1 |\n") == [3, 4])
        #expect(found("```\n| 1 | 2 |\n```\n").isEmpty)
    }

    // MARK: Code without comments and strings

    @Test("comments and strings are blanked, interpolations stay, line numbers hold")
    func codeOnly() {
        let samples: [(String, String)] = [
            ("a // b", "a     "),
            ("a /* b /* c */ d */ e", "a                   e"),
            (#"f("x\"y", z)"#, "f(      , z)"),
            (#"f("a\(g(1))b")"#, "f(    g(1))  )"),
            (##"f(#"a"\(b)"#)"##, "f(          )"),
            ("\"\"\"\nprint(1) \"x\"\n\"\"\"\nb", "   \n            \n   \nb"),
            ("\"open\nnext", "     \nnext"),
        ]
        for (text, expected) in samples {
            #expect(CodeOnly.lines(of: text).joined(separator: "\n") == expected, "\(text)")
        }
    }

    // MARK: -

    private func file(_ text: String) -> SwiftFile { SwiftFile(path: "Shared/Model/A.swift", text: text) }

    private func imports(_ path: String, _ text: String) -> [Violation] {
        ImportRules.house.violations(in: SwiftFile(path: path, text: text))
    }
}
