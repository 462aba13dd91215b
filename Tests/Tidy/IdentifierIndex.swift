/// Which identifiers the code of which files has, without comments and the text of literals.
struct IdentifierIndex {
    /// By identifier: the files in their order, each with the line of the first occurrence, counted from 1.
    private(set) var places: [String: [(path: String, line: Int)]] = [:]

    init(_ files: [SwiftFile]) {
        for file in files {
            var seen: Set<Substring> = []
            for (index, line) in file.code.enumerated() {
                for word in Self.identifiers(on: line) where seen.insert(word).inserted {
                    places[String(word), default: []].append((file.path, index + 1))
                }
            }
        }
    }

    func paths(of identifier: String) -> [String] {
        places[identifier, default: []].map(\.path)
    }

    static func identifiers(on line: String) -> [Substring] {
        line.utf8.split { !isPart($0) }.map(Substring.init).filter { !("0"..."9").contains($0.first ?? "0") }
    }

    /// The words of an identifier in lower case: "sendWhenRoom" has three, and so has "SEND_WHEN_ROOM".
    static func words(of identifier: some StringProtocol) -> [String] {
        var words: [String] = []
        var word = ""
        var previous: Character = "_"
        for (index, character) in zip(identifier.indices, identifier) {
            let next = identifier.index(after: index)
            // In "HTTPServer" the second word begins at the "S".
            let endsAcronym =
                previous.isUppercase && next < identifier.endIndex && identifier[next].isLowercase
            if character == "_" || character.isUppercase && (!previous.isUppercase || endsAcronym) {
                words.append(word)
                word = ""
            }
            if character != "_" { word += character.lowercased() }
            previous = character
        }
        return (words + [word]).filter { !$0.isEmpty }
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
