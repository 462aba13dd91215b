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

    @Test("a type's lines are those of all its extensions in its room, facades may have any number")
    func bigTypes() {
        func type(_ name: String, _ lines: Int, _ folder: String, _ keyword: String = "struct") -> SwiftFile {
            let body = String(repeating: "\n", count: lines - 1)
            return SwiftFile(path: "\(folder)/\(keyword).swift", text: "\(keyword) \(name) {\(body)}")
        }
        let room = "Services/Edge/Server"
        let whole = [type("A", 200, room), type("A", 200, room + "/X", "extension")]
        #expect(ShapeRules.bigTypes(whole, except: [:]).isEmpty)
        #expect(ShapeRules.bigTypes(whole + [type("A", 1, room + "/Y", "extension")], except: [:]).count == 1)
        #expect(ShapeRules.bigTypes([type("A", 401, room)], except: ["A": 401]).isEmpty)
        let elsewhere = type("A", 201, "Services/Messaging/Server", "extension")
        #expect(ShapeRules.bigTypes(whole + [elsewhere], except: [:]).isEmpty)
        #expect(ShapeRules.bigTypes([type("RTMClient", 900, "Clients/RTMClient")], except: [:]).isEmpty)
    }

    @Test("a folder may have 20 files directly in it, not 21")
    func bigFolders() {
        func files(_ count: Int, in folder: String) -> [SwiftFile] {
            (0..<count).map { SwiftFile(path: "\(folder)/\($0).swift", text: "") }
        }
        let full = files(20, in: "Shared/Wire") + files(5, in: "Shared/Wire/Frames")
        #expect(ShapeRules.bigFolders(full, except: [:]).isEmpty)
        #expect(
            ShapeRules.bigFolders(files(21, in: "Shared/Wire"), except: [:]).map(\.path) == ["Shared/Wire"])
        #expect(ShapeRules.bigFolders(files(21, in: "Shared/Wire"), except: ["Shared/Wire": 21]).isEmpty)
    }

    @Test("a core that refers to an object is found, in its extensions too; a shell may")
    func cores() {
        let session = SwiftFile(
            path: "Services/Edge/Server/Session.swift", text: "final class Session {}")
        func findings(_ text: String) -> [Int] {
            let file = SwiftFile(path: "Services/Edge/Server/A.swift", text: text)
            return Cores.findings(in: [file, session]).map(\.line)
        }
        #expect(findings("/// Seats. Pure.\nstruct Seats {\n    var one: Session?\n}") == [3])
        #expect(findings("/// Pure.\nstruct A {}\nextension A {\n    func f(_ c: any Channel) {}\n}") == [4])
        #expect(findings("/// Pure.\nstruct A {\n    // Session\n    var id: SessionID\n}").isEmpty)
        #expect(findings("/// Purely a shell.\nstruct A {\n    var one: Session?\n}").isEmpty)
    }

    private func file(_ text: String) -> SwiftFile { SwiftFile(path: "Shared/Model/A.swift", text: text) }
}
