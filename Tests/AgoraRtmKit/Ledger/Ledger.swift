import Foundation

/// The table of everything that `import AgoraRtmKit` offers, member by member: docs/ledger. Its head says how
/// a line is written.
struct Ledger {
    /// How a member stands to the vendor's documents.
    enum Mark: Character, CaseIterable {
        case same = "="
        case choice = "?"
        case differs = "!"
        case addition = "+"
        case earlier = "<"
        case idle = "-"

        /// How the document calls it.
        var word: String {
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

    struct Member: Hashable {
        let mark: Mark
        /// As Swift writes it, without the names that only the inside sees, and without defaults. Both forms
        /// of a call are one member, in the form with a block.
        let declaration: String
        let text: String
    }

    struct Entry {
        /// `class`, `struct`, `enum`, `protocol`, or `module` for what stands outside of types.
        let kind: String
        let name: String
        var text = ""
        var members: [Member] = []
    }

    struct Section {
        let title: String
        var entries: [Entry] = []
    }

    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var sections: [Section] = []

    var entries: [Entry] { sections.flatMap(\.entries) }
    var members: [Member] { entries.flatMap(\.members) }

    /// Reads the files one after the other.
    init(_ files: [String]) throws {
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
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL

    /// The ledger of this repository.
    static func read() throws -> Ledger {
        let folder = root.appending(path: "docs/ledger")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".txt")
        }
        return try Ledger(
            files.sorted().map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) })
    }

    // MARK: The document

    /// docs/compatibility.md: an introduction, and a table for each type.
    func document(_ introduction: String) -> String {
        // The page lies one folder above the ledger.
        let introduction = introduction.trimmingCharacters(in: .newlines).replacing("](../", with: "](")
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
