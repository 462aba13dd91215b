import Testing

/// The rules about shape, citations and cores themselves: each finds what it is for.
@Suite("Tidy rules of shape")
struct ShapeRuleTests {
    @Test("ids of rules are found where they stand as words")
    func citations() {
        #expect(
            Citations.all(in: "S-41, K-11.\n(T7) S-12b P-1…P-7").map(\.id)
                == ["S-41", "K-11", "T7", "S-12b", "P-1", "P-7"])
        #expect(Citations.all(in: "a\nT7").map(\.line) == [2])
        for other in ["UTF-8", "SHA-256", "S-411", "S-41s", "T", "T1xx", "X-1", "a-1", "-11033"] {
            #expect(Citations.ids(in: other).isEmpty, "\(other)")
        }
    }

    @Test("the document's rules begin a list item or a row, those without a test stand in the table")
    func document() {
        let document = BehaviourDocument(
            """
            - **S-1** One. S-9 is only mentioned.
            | **T7** | from → to |

            ## Rules without a test

            | rules | why |
            |---|---|
            | E-1, E-2 | not built yet: S-1 |
            """)
        #expect(document.rules == ["S-1", "T7"])
        #expect(document.untested == ["E-1", "E-2"])
    }

    @Test("a comment that is only an id is found, one that says something isn't")
    func bareCitations() {
        let bare = ["/// L-1.", "    // K-4, K-5, K-7.", "/// L-24 and M-8.", "/// T8,\n/// T11."]
        for text in bare { #expect(ShapeRules.bareCitations(in: file(text)).count == 1, "\(text)") }
        let others = ["/// The name of a lock (L-11).", "/// L-11\n/// is the rule of names.", "// Locks."]
        for text in others { #expect(ShapeRules.bareCitations(in: file(text)).isEmpty, "\(text)") }
    }

    @Test("declarations are found with kind, name, lines and comment")
    func declarations() {
        let text = """
            /// Pure.
            @frozen
            package final class A<T>: B {
                struct Inner {}
            }

            extension A.Inner: C where T: D
            {
                // }
            }
            let text = "struct E {"
            func class2() {}
            @Suite("Some, with words") struct F {}
            """
        let found = TypeDeclaration.all(in: file(text))
        #expect(found.map(\.name) == ["A", "A.Inner", "F"])
        #expect(found.map(\.kind) == [.class, .extension, .struct])
        #expect(found.map(\.lines) == [2..<5, 6..<10, 12..<13])
        #expect(found.first?.comment == "/// Pure.")
    }

    @Test("a method that nobody answers is found, one that two files answer, and a table of contexts")
    func calls() {
        let schema = SwiftFile(
            path: "Shared/Wire/Schema/A.swift",
            text: """
                package enum StorageMethod {
                    package static var audit: ServiceMethod<A, B> { .init(1) }
                    package static var push: ServicePush<A> { .init(2) }
                }
                """)
        func file(_ name: String, _ text: String) -> SwiftFile {
            SwiftFile(path: "Services/Storage/Server/\(name).swift", text: text)
        }
        let answer = file("A", "case StorageMethod.audit: break")
        let another = file("B", "case StorageMethod.audits: break")
        func found(_ files: SwiftFile...) -> Int { CallRules.answers(in: [schema] + files).count }
        #expect(found(another) == 1 && found(answer, another) == 0)
        #expect(found(answer, file("C", "case StorageMethod.audit:")) == 1)
        let table = SwiftFile(path: "Services/Gateway/Server/A.swift", text: "var a = RequestContexts<Int>()")
        #expect(CallRules.contexts(in: [table, answer]).map(\.path) == [table.path])
    }

    @Test("a short file is a fragment if its type has one user, and that one lies beside it")
    func fragments() {
        let type = "struct A {}"
        let user = SwiftFile(path: "Shared/Model/B.swift", text: "struct B { var a: A }")
        func found(_ text: String, _ others: [SwiftFile]) -> [String] {
            let files = [file(text)] + others
            return ShapeRules.fragments(in: files, IdentifierIndex(files)).map(\.path)
        }
        #expect(found(type, [user]) == ["Shared/Model/A.swift"])
        let second = SwiftFile(path: "Shared/Model/C.swift", text: "struct C { var a: A }")
        #expect(found(type, [user, second]).isEmpty, "two users")
        #expect(found(type, []).isEmpty, "nobody uses it")
        let below = SwiftFile(path: "Shared/Model/Names/C.swift", text: "struct C { var a: A }")
        #expect(found(type, [below]).isEmpty, "the user is in another folder")
        let elsewhere = SwiftFile(path: "Shared/Wire/C.swift", text: "struct C { var a: A }")
        #expect(found(type, [user, elsewhere]).count == 1, "another room sees only what is declared for it")
        #expect(found("package \(type)", [user, elsewhere]).isEmpty)
        let mention = SwiftFile(path: "Shared/Model/C.swift", text: "// A\nstruct C { var b = \"A\" }")
        #expect(found(type, [user, mention]).count == 1, "a comment is no user")
        let test = SwiftFile(path: "Tests/Model/A.swift", text: "let a: A")
        #expect(found("package \(type)", [user, test]).count == 1, "a test is no user")
        #expect(found("public enum A { case b }", [user]).isEmpty, "apps use a public enum")
        #expect(found("public \(type)", [user]).count == 1)
        #expect(found(type + String(repeating: "\n", count: 29), [user]).count == 1)
        #expect(found(type + String(repeating: "\n", count: 30), [user]).isEmpty, "no short file")
    }

    @Test("a struct that holds many objects is found, a class and one with values aren't")
    func heavyStructs() {
        let counter = "final class Counter {}\n"
        func found(_ kind: String, _ property: String, count: Int = 6) -> Int {
            let body = String(repeating: "    \(property)\n", count: count)
            return ShapeRules.heavyStructs(in: [file(counter + "\(kind) A {\n\(body)}")]).count
        }
        #expect(found("struct", "private let a: Counter") == 1)
        #expect(found("package struct", "package private(set) var a: Counter?") == 1)
        #expect(found("struct", "let a: any Channel") == 1)
        #expect(found("struct", "let a: Counter", count: 5) == 0)
        #expect(found("final class", "let a: Counter") == 0)
        #expect(found("struct", "let a: Int") == 0)
        #expect(found("struct", "var a: Counter { b }") == 0)
        #expect(found("struct", "    let a: Counter") == 0, "a variable of a function")
    }

    @Test("a name in two rooms is found, one in two folders of a room and a private one aren't")
    func sharedNames() {
        func found(_ second: String, _ text: String) -> [String: Violation] {
            ShapeRules.sharedNames(in: [file("struct A {}"), SwiftFile(path: second, text: text)])
        }
        #expect(found("Shared/Wire/A.swift", "enum A {}").keys.sorted() == ["A"])
        #expect(found("Tests/Wire/A.swift", "enum A {}").keys.sorted() == ["A"])
        #expect(found("Shared/Model/Names/A.swift", "enum A {}").isEmpty)
        #expect(found("Shared/Wire/A.swift", "private enum A {}\nextension A {}").isEmpty)
        #expect(found("Tests/Package/Apple/A.swift", "enum A {}").isEmpty)
    }

    @Test("identifiers are taken apart into words")
    func words() {
        #expect(IdentifierIndex.words(of: "sendWhenRoom") == ["send", "when", "room"])
        #expect(IdentifierIndex.words(of: "NIOEmbedded") == ["nio", "embedded"])
        #expect(IdentifierIndex.words(of: "rtm__lead_push") == ["rtm", "lead", "push"])
        #expect(IdentifierIndex.words(of: "userID") == ["user", "id"])
        let text = "let a1 = b_c(\"d\", 12, 0x3f) // e"
        #expect(IdentifierIndex.identifiers(on: CodeOnly.lines(of: text)[0]) == ["let", "a1", "b_c"])
    }

    @Test("a refused verb is found in comments, texts and documents, and not in code or in another word")
    func refusedVerbs() throws {
        let found = [
            "// who is told", "let a = 1 // it hears", #"log("the session goes on")"#, "/// Signs of life.",
            "\"\"\"\nthe oldest makes room\n\"\"\"",
        ]
        for text in found {
            #expect(try RefusedWords.verbs(in: file(text).prose, of: "A.swift").count == 1, "\(text)")
        }
        let fine = ["session.tell(1)", "// a teller, and what is shearing", "///   - heard: called again."]
        for text in fine {
            #expect(try RefusedWords.verbs(in: file(text).prose, of: "A.swift").isEmpty, "\(text)")
        }
        let advice = try RefusedWords.verbs(in: ["", "The app is told."], of: "a.md").first
        #expect(advice?.line == 2 && advice?.advice.contains("\"told\"") == true)
    }

    @Test("a refused word is found in every part of an identifier, and only as a word")
    func refusedWords() {
        func found(_ text: String) -> [String] {
            RefusedWords.violations(in: IdentifierIndex([file(text)])).keys.sorted()
        }
        #expect(found("let heir = next\nfunc slowHeir() {}") == ["heir", "slowHeir"])
        #expect(found("if hasRoomForOthers { makeRoom() }") == ["hasRoomForOthers", "makeRoom"])
        #expect(found("struct EmbeddedBroker {}") == ["EmbeddedBroker"])
        #expect(found("let channel = EmbeddedChannel()").isEmpty)
        #expect(found("let theirs = general + interference + room").isEmpty)
        #expect(found("// heir\nlet a = \"heir\"").isEmpty)
        let advice = RefusedWords.violations(in: IdentifierIndex([file("let heir = 1")]))["heir"]?.advice
        #expect(advice?.contains("successor") == true)
    }

    @Test("a core that refers to an object is found, in its extensions too; a shell may")
    func cores() {
        let session = SwiftFile(
            path: "Services/Edge/Server/Session.swift", text: "final class Session {}")
        func violations(_ text: String) -> [Int] {
            let file = SwiftFile(path: "Services/Edge/Server/A.swift", text: text)
            return Cores.violations(in: [file, session]).map(\.line)
        }
        #expect(violations("/// Seats. Pure.\nstruct Seats {\n    var one: Session?\n}") == [3])
        #expect(
            violations("/// Pure.\nstruct A {}\nextension A {\n    func f(_ c: any Channel) {}\n}") == [4])
        #expect(violations("/// Pure.\nstruct A {\n    // Session\n    var id: SessionID\n}").isEmpty)
        #expect(violations("/// Purely a shell.\nstruct A {\n    var one: Session?\n}").isEmpty)
    }

    private func file(_ text: String) -> SwiftFile { SwiftFile(path: "Shared/Model/A.swift", text: text) }
}
