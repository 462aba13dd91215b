/// What a file and a type may look like, as far as a test can judge it: a file holds a whole idea, and a name
/// means one thing. CONTRIBUTING.md says why.
enum ShapeRules {
    /// A shorter file is a fragment, if its type has one user and that one lies beside it.
    static let linesOfFragmentMax = 29

    // MARK: Fragments

    /// Short files whose types have one user, in the same folder. A public enum may be alone in a file,
    /// because apps use it. Tests are no users of a source.
    static func fragments(in files: [SwiftFile], _ index: IdentifierIndex) -> [Violation] {
        files.compactMap { file in
            guard file.lineCount <= linesOfFragmentMax else { return nil }
            let types = TypeDeclaration.all(in: file).filter { !$0.isExtension }
            guard !types.isEmpty, !types.contains(where: { isAPIEnum($0, in: file) }) else { return nil }
            let users = types.reduce(into: Set<String>()) { users, type in
                users.formUnion(index.paths(of: type.name).filter { sees(file, type, from: $0) })
            }
            .subtracting([file.path])
            guard users.count == 1, let user = users.first, folder(of: user) == file.folder else {
                return nil
            }
            return Violation(
                path: file.path, line: 1,
                advice: "\(file.lineCount) lines with one user beside it: move them into \(user)")
        }
    }

    private static func isAPIEnum(_ type: TypeDeclaration, in file: SwiftFile) -> Bool {
        type.kind == .enum && file.code[type.lines.lowerBound].contains("public ")
    }

    /// Another room sees only types that are declared for it. The same name elsewhere is another type.
    private static func sees(_ file: SwiftFile, _ type: TypeDeclaration, from path: String) -> Bool {
        guard path.hasPrefix("Tests/") == file.path.hasPrefix("Tests/") else { return false }
        let declaration = file.code[type.lines.lowerBound]
        let isForOthers = declaration.contains("public ") || declaration.contains("package ")
        return isForOthers || room(of: path) == room(of: file.path)
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// A folder of tests is a room, too.
    private static func room(of path: String) -> String {
        ImportRules.house.room(of: path) ?? path.split(separator: "/").prefix(2).joined(separator: "/")
    }

    // MARK: Copies

    /// A copy of a struct retains each object in it. With more of them than this, it belongs into a class.
    static let referencesOfStructMax = 5

    /// Structs of servers that hold many objects. A struct of 25 of them once took a twentieth of the time of
    /// a message, because it was copied at each use (docs/decisions/0023).
    static func heavyStructs(in files: [SwiftFile]) -> [Violation] {
        let types = files.map { ($0, TypeDeclaration.all(in: $0)) }
        let classes = Set(types.flatMap(\.1).filter { $0.kind == .class }.map(\.name))
        return types.flatMap { file, types in
            types.filter { $0.kind == .struct }.compactMap { type in
                let count = file.code[type.lines].count { holdsObject($0, of: classes) }
                guard count > referencesOfStructMax else { return nil }
                return Violation(
                    path: file.path, line: type.lines.lowerBound + 1,
                    advice: "each copy of \(type.name) retains \(count) objects: make it a final class")
            }
        }
    }

    /// Whether the line declares a stored property of a type at the top level of its file that is an object.
    private static func holdsObject(_ line: String, of classes: Set<String>) -> Bool {
        guard line.hasPrefix("    "), !line.hasPrefix("     "), !line.contains("{") else { return false }
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let declared = parts[0].split(separator: " ").dropLast().last,
            declared == "let" || declared == "var"
        else { return false }
        let type = parts[1].drop { $0 == " " }.prefix { $0.isLetter || $0.isNumber }
        return type == "any" || classes.contains(String(type))
    }

    // MARK: Names of types

    /// Names that types of several rooms have because they are the same thing: the message as the services
    /// read it (Shared/Wire), and the value that an app gets (RTMClient). No program has both.
    static let sameThings: Set<String> = [
        "HistoryMessage", "HistoryPage", "LockDetail", "LockEvent", "MetadataItem", "MetadataTarget",
        "OnlineUsers", "PresenceEvent", "PresenceInterval", "UserChannel", "UserState",
    ]

    /// Types of different rooms that have one name, by that name. A type that is private to its file, and a
    /// stub of somebody else's module, is nobody else's business.
    static func sharedNames(in files: [SwiftFile]) -> [String: Violation] {
        var places: [String: [(path: String, line: Int)]] = [:]
        for file in files where !file.path.hasPrefix("Tests/Package/") {
            for type in TypeDeclaration.all(in: file) where !type.isExtension {
                guard !file.code[type.lines.lowerBound].contains("private ") else { continue }
                places[type.name, default: []].append((file.path, type.lines.lowerBound + 1))
            }
        }
        let shared = places.filter { name, places in
            Set(places.map { room(of: $0.path) }).count > 1 && !sameThings.contains(name)
        }
        return shared.reduce(into: [:]) { violations, entry in
            let others = entry.value.dropFirst().map(\.path).joined(separator: ", ")
            violations[entry.key] = Violation(
                path: entry.value[0].path, line: entry.value[0].line,
                advice: "\(entry.key) is also declared in \(others): rename one, or share it")
        }
    }

    // MARK: Comments

    /// A comment says what a rule demands here; its id alone sends the reader to another page.
    static func bareCitations(in file: SwiftFile) -> [Violation] {
        var violations: [Violation] = []
        var index = 0
        while index < file.lines.count {
            let comment = file.lines[index...].prefix { $0.drop { $0 == " " }.hasPrefix("//") }
            if isBareCitation(comment.joined(separator: " ")) {
                violations.append(
                    Violation(
                        path: file.path, line: index + 1,
                        advice: "say what the rule demands here, then its id in brackets"))
            }
            index += max(1, comment.count)
        }
        return violations
    }

    static func isBareCitation(_ comment: String) -> Bool {
        let ids = Citations.ids(in: comment)
        guard !ids.isEmpty else { return false }
        let fillers: Set<Substring> = ["and", "or", "to", "see", "rule", "rules"]
        let words = comment.split { !($0.isLetter || $0.isNumber || $0 == "-") }
        return words.allSatisfy { fillers.contains($0) || ids.contains(String($0)) }
    }
}
