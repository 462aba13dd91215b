/// Where texts cite a rule of docs/behaviour.md: `S-41`, `S-12b`, `T7`.
enum Citations {
    private static let letters = Set("ACDEHKLMNPRSW".utf8)

    /// The ids in a text, each once. Of a range ("P-1 to P-7") the two ends.
    static func ids(in text: String) -> Set<String> {
        Set(all(in: text).map(\.id))
    }

    /// Line numbers count from 1.
    static func all(in text: String) -> [(id: String, line: Int)] {
        let bytes = Array(text.utf8)
        var found: [(id: String, line: Int)] = []
        var line = 1
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            let isBeginning = index == 0 || !isPartOfWord(bytes[index - 1])
            guard isBeginning, let end = end(ofIDAt: index, in: bytes) else {
                index += 1
                continue
            }
            found.append((String(decoding: bytes[index..<end], as: UTF8.self), line))
            index = end
        }
        return found
    }

    private static func end(ofIDAt start: Int, in bytes: [UInt8]) -> Int? {
        var index = start + 1
        let isTransition = bytes[start] == UInt8(ascii: "T")
        if !isTransition {
            guard letters.contains(bytes[start]), index < bytes.count, bytes[index] == UInt8(ascii: "-")
            else { return nil }
            index += 1
        }
        let digits = bytes[index...].prefix { isDigit($0) }
        guard (1...2).contains(digits.count) else { return nil }
        index += digits.count
        let variants = UInt8(ascii: "a")...UInt8(ascii: "c")
        if !isTransition, index < bytes.count, variants.contains(bytes[index]) { index += 1 }
        // "S-41s" and "T1xx" are something else.
        guard index == bytes.count || !isPartOfWord(bytes[index]) || bytes[index] == UInt8(ascii: "-")
        else { return nil }
        return index
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }
}

/// docs/behaviour.md as its tests read it.
struct BehaviourDocument {
    static let path = "docs/behaviour.md"
    static let house = BehaviourDocument(SourceTree.text(of: path))

    /// In their order. An id that stands there twice is in it twice.
    let rules: [String]
    /// Those that no test cites, as the table at the end lists them.
    let untested: [String]

    /// A rule is a list item or a table row that begins with its id in bold. The table of untested rules
    /// begins its rows with their ids in plain text.
    init(_ text: String) {
        let parts = text.split(separator: "## Rules without a test\n", maxSplits: 1)
        rules = (parts.first ?? "").split(separator: "\n").compactMap { line in
            let item = #/^(?:- |\| )\*\*([A-Z]-?\d+[a-z]?)\*\*/#
            return line.firstMatch(of: item).map { String($0.1) }
        }
        untested = (parts.count > 1 ? parts[1] : "").split(separator: "\n").flatMap { line in
            let cells = line.split(separator: "|")
            guard line.hasPrefix("| "), cells.count == 2 else { return [String]() }
            return Citations.all(in: String(cells[0])).map(\.id)
        }
    }
}
