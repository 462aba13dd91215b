import CLedgerTexts
import Foundation

/// The table of everything that `import AgoraRtmKit` offers, member by member: the texts beside this file. A
/// line is a mark, a declaration and a sentence.
package struct Ledger: Sendable {
    /// How a member stands to the vendor's documents.
    package enum Mark: Character, CaseIterable, Sendable {
        case same = "="
        case choice = "?"
        case differs = "!"
        case addition = "+"
        case earlier = "<"
        case idle = "-"

        /// How the document calls it.
        package var word: String {
            switch self {
            case .same: ""
            case .choice: "our choice"
            case .differs: "differs"
            case .addition: "addition"
            case .earlier: "earlier"
            case .idle: "no effect"
            }
        }
    }

    package struct Member: Hashable, Sendable {
        package let mark: Mark
        /// As Swift writes it, without the names that only the inside sees, and without defaults. Both forms
        /// of a call are one member, in the form with a block.
        package let declaration: String
        package let text: String

        package init(mark: Mark, declaration: String, text: String) {
            self.mark = mark
            self.declaration = declaration
            self.text = text
        }
    }

    package struct Entry: Sendable {
        /// `class`, `struct`, `enum`, `protocol`, or `module` for what stands outside of types.
        package let kind: String
        package let name: String
        package fileprivate(set) var text = ""
        package fileprivate(set) var members: [Member] = []
    }

    package struct Section: Sendable {
        package let title: String
        package fileprivate(set) var entries: [Entry] = []
    }

    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var sections: [Section] = []

    package var entries: [Entry] { sections.flatMap(\.entries) }
    package var members: [Member] { entries.flatMap(\.members) }

    /// Reads the files one after the other.
    package init(_ files: [String]) throws {
        for line in files.flatMap({ $0.split(separator: "\n") }) { try read(String(line)) }
    }

    private mutating func read(_ line: String) throws {
        if line.hasPrefix("# ") {
            sections.append(Section(title: String(line.dropFirst(2))))
        } else if line.hasPrefix("## ") {
            let words = line.dropFirst(3).split(separator: " ").map(String.init)
            guard words.count == 2, !sections.isEmpty else { throw Mistake(description: line) }
            sections[sections.count - 1].entries.append(Entry(kind: words[0], name: words[1]))
        } else {
            try readInEntry(line)
        }
    }

    private mutating func readInEntry(_ line: String) throws {
        guard let section = sections.indices.last, let entry = sections[section].entries.indices.last else {
            throw Mistake(description: "this line stands under no type: \(line)")
        }
        let halves = line.split(separator: " | ", maxSplits: 1).map(String.init)
        guard halves.count == 2 else {
            sections[section].entries[entry].text = line
            return
        }
        guard let first = halves[0].first, let mark = Mark(rawValue: first) else {
            throw Mistake(description: "this line begins with no mark: \(line)")
        }
        let declaration = halves[0].dropFirst().trimmingCharacters(in: .whitespaces)
        sections[section].entries[entry].members.append(
            Member(mark: mark, declaration: declaration, text: halves[1]))
    }
}

extension Ledger {
    /// The ledger of this version.
    package static func house() throws -> Ledger {
        try Ledger(
            (0..<ledger_texts_count).map { index in
                let text = ledger_text_at(index)
                return String(
                    decoding: UnsafeBufferPointer(start: text.bytes, count: text.length), as: UTF8.self)
            })
    }
}

// MARK: - The document

extension Ledger {
    /// docs/compatibility.md: an introduction, and a table for each type.
    package func document(_ introduction: String) -> String {
        // The page lies in another folder.
        let introduction = introduction.trimmingCharacters(in: .newlines)
            .replacing("](../../docs/", with: "](").replacing("](.)", with: "](../Clients/Ledger)")
        var lines = [introduction, "", counts]
        for section in sections {
            lines += ["", "## \(section.title)"]
            for entry in section.entries { lines += table(entry) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var counts: String {
        let counted = Mark.allCases.map { mark in
            (mark.word.isEmpty ? "as documented" : mark.word, members.count { $0.mark == mark })
        }
        let cells = counted.map { "| \($0.0) | \($0.1) |" }.joined(separator: "\n")
        return "| of \(members.count) members | |\n|---|---|\n" + cells
    }

    private func table(_ entry: Entry) -> [String] {
        [
            "", "### \(entry.kind) \(entry.name)", "", entry.text, "", "| member | | what it does here |",
            "|---|---|---|",
        ]
            + entry.members.map { member in
                let declaration = member.declaration.replacing("|", with: "\\|")
                return "| `\(declaration)` | \(member.mark.word) | \(member.text) |"
            }
    }
}
