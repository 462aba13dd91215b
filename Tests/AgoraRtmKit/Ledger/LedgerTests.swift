import AgoraRtmKit
import Foundation
import RTMLedger
import RTMTestSupport
import Testing

/// The ledger has every member of the API and no other, and docs/compatibility.md is made of it.
@Suite("The ledger")
struct LedgerTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL

    /// What every class and every enum has by itself, and nobody calls by its name.
    private static let inherited: Set = [
        "func hash(into: inout Hasher)", "var hashValue: Int", "init?(rawValue: Int)",
    ]

    @Test("every member of the ledger is there, and nothing else is", .ends(withinMinutes: 2))
    func members() throws {
        let ledger = try Ledger.house()
        let graph = try SymbolGraph.extract("AgoraRtmKit")
        #expect(graph.members.count > 70, "the compiler was asked for the right module")
        for entry in ledger.entries {
            let listed = Set(entry.members.map { Self.withoutValue($0.declaration) })
            #expect(listed.count == entry.members.count, "\(entry.name) has a member twice")
            let present = graph.members[entry.name] ?? []
            for missing in listed.subtracting(present).sorted() {
                Issue.record("\(entry.name) lacks a member of Clients/Ledger: \(missing)")
            }
            for extra in present.subtracting(listed).subtracting(Self.inherited).sorted() {
                Issue.record("Clients/Ledger lacks a member of \(entry.name): \(extra)")
            }
        }
        for type in Set(graph.members.keys).subtracting(ledger.entries.map(\.name)).sorted() {
            Issue.record("Clients/Ledger lacks \(type)")
        }
    }

    @Test("the labels are true: what has no effect is called so, and so is what is our choice")
    func labels() throws {
        let law = try String(contentsOf: Self.root.appending(path: "docs/behaviour.md"), encoding: .utf8)
        let rule = #/(?m)^(?:- |\| )\*\*(?<id>[A-Z]-?\d+[a-z]?)\*\*(?<text>.*(?:\n  .*)*)/#
        let ours = Set(
            law.matches(of: rule).filter { $0.text.contains("Our choice") }.map { String($0.id) })
        #expect(ours.count > 20)
        for entry in try Ledger.house().entries {
            for member in entry.members {
                let name = "\(entry.name) \(member.declaration)"
                let isIdle = member.text.contains(/[Ww]ithout effect|no effect|^Never|no event has it/)
                #expect(!isIdle || member.mark == .idle, "\(name)")
                let rules = Set(member.text.matches(of: /[A-Z]-?\d+[a-z]?/).map { String($0.output) })
                let choices = rules.intersection(ours).sorted()
                #expect(choices.isEmpty || member.mark != .same, "\(name) is our choice: \(choices)")
            }
        }
    }

    @Test("each call with a block has its form with await, with the same labels and the same response")
    func forms() throws {
        let ledger = try Ledger.house()
        let graph = try SymbolGraph.extract("AgoraRtmKit")
        let form = #/^(?<name>func \w+)\((?<labels>.*?)(, )?(completion|_): AgoraRtm(?<block>\w+)Block\?\)$/#
        var calls = 0
        for entry in ledger.entries {
            var expected: Set<String> = []
            for member in entry.members {
                guard let call = member.declaration.firstMatch(of: form) else { continue }
                let response = call.block == "Operation" ? "Common" : call.block
                expected.insert(
                    "\(call.name)(\(call.labels)) async -> (AgoraRtm\(response)Response?, AgoraRtmErrorInfo?)"
                )
            }
            calls += expected.count
            #expect(graph.asyncCalls[entry.name] ?? [] == expected, "\(entry.name)")
        }
        #expect(calls > 50)
    }

    /// Enums whose raw values the ledger has, by the names of their cases.
    private static let enums: [String: @Sendable (Int) -> String?] = [
        "AgoraRtmChannelType": { AgoraRtmChannelType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmStorageType": { AgoraRtmStorageType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmStorageEventType": { AgoraRtmStorageEventType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmPresenceEventType": { AgoraRtmPresenceEventType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmLockEventType": { AgoraRtmLockEventType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmTopicEventType": { AgoraRtmTopicEventType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmTokenEventTokenType": { AgoraRtmTokenEventTokenType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmLinkState": { AgoraRtmLinkState(rawValue: $0).map { "\($0)" } },
        "AgoraRtmLinkOperation": { AgoraRtmLinkOperation(rawValue: $0).map { "\($0)" } },
        "AgoraRtmLinkStateChangeReason": { AgoraRtmLinkStateChangeReason(rawValue: $0).map { "\($0)" } },
        "AgoraRtmProtocolType": { AgoraRtmProtocolType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmProxyType": { AgoraRtmProxyType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmEncryptionMode": { AgoraRtmEncryptionMode(rawValue: $0).map { "\($0)" } },
        "AgoraRtmLogLevel": { AgoraRtmLogLevel(rawValue: $0).map { "\($0)" } },
        "AgoraRtmMessageQos": { AgoraRtmMessageQos(rawValue: $0).map { "\($0)" } },
        "AgoraRtmMessagePriority": { AgoraRtmMessagePriority(rawValue: $0).map { "\($0)" } },
        "AgoraRtmClientConnectionState": { AgoraRtmClientConnectionState(rawValue: $0).map { "\($0)" } },
        "AgoraRtmClientConnectionChangeReason": {
            AgoraRtmClientConnectionChangeReason(rawValue: $0).map { "\($0)" }
        },
        "AgoraRtmPresenceType": { AgoraRtmPresenceType(rawValue: $0).map { "\($0)" } },
        "AgoraRtmErrorCode": { AgoraRtmErrorCode(rawValue: $0).map { "\($0)" } },
    ]

    @Test("the cases of the enums have the numbers of the ledger")
    func rawValues() throws {
        for entry in try Ledger.house().entries where entry.kind == "enum" {
            let name = try #require(Self.enums[entry.name], "\(entry.name) is in the table of this test")
            for member in entry.members {
                let parts = member.declaration.dropFirst("case ".count).split(separator: " = ")
                let text = String(parts.last ?? "")
                let value = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
                #expect(
                    value.flatMap(name) == parts.first.map(String.init), "\(entry.name) \(member.declaration)"
                )
            }
        }
    }

    @Test("what has no effect, or differs, says why; so does every choice")
    func reasons() throws {
        for entry in try Ledger.house().entries {
            #expect(!entry.text.isEmpty, "\(entry.name)")
            for member in entry.members {
                #expect(member.text.hasSuffix("."), "\(entry.name) \(member.declaration)")
            }
        }
    }

    @Test("docs/compatibility.md is what the ledger says; `make write` writes it")
    func document() throws {
        let introduction = try String(
            contentsOf: Self.root.appending(path: "Clients/Ledger/introduction.md"), encoding: .utf8)
        let file = Self.root.appending(path: "docs/compatibility.md")
        let expected = try Ledger.house().document(introduction)
        if ProcessInfo.processInfo.environment["WRITE_COMPATIBILITY"] == "1" {
            try Data(expected.utf8).write(to: file)
        }
        let present = try String(contentsOf: file, encoding: .utf8)
        #expect(present == expected, "run make write")
    }

    @Test("the ledger refuses lines that it can't read")
    func mistakes() throws {
        #expect(throws: Ledger.Mistake.self) { try Ledger(["= var a: Int | It."]) }
        #expect(throws: Ledger.Mistake.self) { try Ledger(["# A\n## class\n"]) }
        #expect(throws: Ledger.Mistake.self) { try Ledger(["# A\n## class B\n* var a: Int | It."]) }
        let ledger = try Ledger(["# A\n\n## class B\nWhat it is.\n- var a: Int | It has no effect."])
        #expect(ledger.members == [.init(mark: .idle, declaration: "var a: Int", text: "It has no effect.")])
        #expect(ledger.document("Hello").contains("| `a` | no effect | It has no effect. |"))
    }

    @Test("the document shortens declarations, shares rows, and only names what is plain")
    func rows() throws {
        let ledger = try Ledger([
            "# A\n## class B\nIt.\n= init() | Makes it.\n. var a: Int | A number.\n= case b = 2 | Two.",
            """
            ? func c(_: String, in: [A: B], completion: CBlock?) | As before.
            ? static func d(e: (any F)?) -> String | As before.
            ? init(a: A, b: A, c: A, d: A, e: A, f: A, g: A, h: A, i: A) | Long.
            """,
        ])
        #expect(ledger.members.count == 6)
        let table = ledger.document("Hello").split(separator: "|---|---|---|\n").last
        #expect(
            table == """
                | `b = 2` |  | Two. |
                | `c(_:in:)`, `d(e:)` | our choice | As before. |
                | `init(a:b:…)` | our choice | Long. |

                As documented: `a`.

                """)
    }

    private static func withoutValue(_ declaration: String) -> String {
        declaration.hasPrefix("case ") ? declaration.replacing(#/ = .*$/#, with: "") : declaration
    }
}
