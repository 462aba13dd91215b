import CLedgerTexts
import Foundation

/// The table of everything that `import AgoraRtmKit` offers, member by member: the texts beside this file. A
/// line is a mark, a declaration and a sentence. The mark `.` is that of a member as documented which the
/// document only names, because the vendor's documents say the same of it.
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
        /// Whether the document only names it.
        package let isPlain: Bool

        package init(mark: Mark, declaration: String, text: String, isPlain: Bool = false) {
            self.mark = mark
            self.declaration = declaration
            self.text = text
            self.isPlain = isPlain
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
        let isPlain = line.hasPrefix(".")
        guard let mark = isPlain ? Mark.same : halves[0].first.flatMap({ Mark(rawValue: $0) }) else {
            throw Mistake(description: "this line begins with no mark: \(line)")
        }
        let declaration = halves[0].dropFirst().trimmingCharacters(in: .whitespaces)
        sections[section].entries[entry].members.append(
            Member(mark: mark, declaration: declaration, text: halves[1], isPlain: isPlain))
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
        var lines = ["", "### \(entry.kind) \(entry.name)", "", entry.text]
        let rows = entry.members.filter { !$0.isPlain && !$0.isUsual }
        if !rows.isEmpty {
            lines += ["", "| member | | what it does here |", "|---|---|---|"]
            lines += Self.alike(rows).map { members in
                let names = members.map { "`\($0.shortName)`" }.joined(separator: ", ")
                return "| \(names) | \(members[0].mark.word) | \(members[0].text) |"
            }
        }
        let plain = entry.members.filter(\.isPlain).map { "`\($0.shortName)`" }
        if !plain.isEmpty { lines += ["", "As documented: \(plain.joined(separator: ", "))."] }
        return lines
    }

    /// Members that follow each other with one mark and one text share a row.
    private static func alike(_ members: [Member]) -> [[Member]] {
        members.reduce(into: []) { rows, member in
            if let last = rows.last?.last, last.mark == member.mark, last.text == member.text {
                rows[rows.count - 1].append(member)
            } else {
                rows.append([member])
            }
        }
    }
}

extension Ledger.Member {
    /// What every object of its kind has, and about which there is nothing to say.
    fileprivate var isUsual: Bool {
        let usual = ["init()", "init(rawValue: ", "let rawValue: ", "func copy(with: "]
        return mark == .same && usual.contains { declaration.hasPrefix($0) }
    }

    /// As the document writes it: without types, without the block of a call, and a case with its number.
    var shortName: String {
        var text = Substring(declaration)
        for word in ["static ", "func ", "var ", "let ", "case ", "typealias "] where text.hasPrefix(word) {
            text = text.dropFirst(word.count)
        }
        let name = text.prefix { $0 != "(" && $0 != ":" }
        guard text.dropFirst(name.count).first == "(" else { return String(name) }
        let parameters = text.matches(of: #/(?:\(|, )(\w+): ([^,)]*)/#)
        var labels = parameters.filter { !$0.output.2.hasSuffix("Block?") }.map { "\($0.output.1):" }
        if labels.count > 8 { labels = labels.prefix(2) + ["…"] }
        return "\(name)(\(labels.joined()))"
    }
}
