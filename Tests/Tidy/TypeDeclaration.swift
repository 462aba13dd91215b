/// A type, or an extension of one, as it stands at the top level of a file.
///
/// This is no parser either: it finds the line on which a declaration begins, and follows the braces to its
/// end.
struct TypeDeclaration: Sendable {
    enum Kind: String, Sendable {
        case `struct`, `class`, `enum`, `actor`, `protocol`, `extension`
    }

    let kind: Kind
    /// With its outer types: `Roster`, or `Roster.Member` in `extension Roster.Member`.
    let name: String
    let path: String
    /// From the line with the keyword to the line with the closing brace, counted from 0.
    let lines: Range<Int>
    /// The comment directly above it.
    let comment: String

    var isExtension: Bool { kind == .extension }

    static func all(in file: SwiftFile) -> [TypeDeclaration] {
        var found: [TypeDeclaration] = []
        var index = 0
        while index < file.code.count {
            if let (kind, name) = beginning(file.code[index]) {
                let end = end(of: index, in: file.code)
                found.append(
                    TypeDeclaration(
                        kind: kind, name: name, path: file.path, lines: index..<end,
                        comment: comment(above: index, in: file.lines)))
                index = end
            } else {
                index += 1
            }
        }
        return found
    }

    /// Kind and name, if a type begins on this line. What is indented lies within another type.
    private static func beginning(_ line: String) -> (Kind, String)? {
        guard let first = line.first, first != " ", first != "}" else { return nil }
        let words = line.split { $0 == " " || $0 == ":" || $0 == "<" || $0 == "{" || $0 == "," }
        guard let place = words.firstIndex(where: { Kind(rawValue: String($0)) != nil }),
            let kind = Kind(rawValue: String(words[place])), place + 1 < words.count
        else { return nil }
        // An attribute may have arguments with any words in them.
        let areModifiers = words[..<place].allSatisfy(modifiers.contains)
        return first == "@" || areModifiers ? (kind, String(words[place + 1])) : nil
    }

    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "fileprivate", "private", "open", "final", "indirect",
        "nonisolated", "distributed",
    ]

    private static func end(of start: Int, in code: [String]) -> Int {
        var depth = 0
        var hasBody = false
        for index in start..<code.count {
            for byte in code[index].utf8 {
                if byte == UInt8(ascii: "{") {
                    depth += 1
                    hasBody = true
                } else if byte == UInt8(ascii: "}") {
                    depth -= 1
                }
            }
            if hasBody, depth == 0 { return index + 1 }
        }
        return code.count
    }

    private static func comment(above index: Int, in lines: [String]) -> String {
        let above = lines[..<index].reversed().drop { $0.hasPrefix("@") }.prefix { $0.hasPrefix("//") }
        return above.reversed().joined(separator: "\n")
    }
}
