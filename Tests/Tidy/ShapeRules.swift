/// How big folders and types may get, and what cores may know. CONTRIBUTING.md says why.
enum ShapeRules {
    static let filesInFolderMax = 20
    static let linesOfTypeMax = 400

    /// Facades: the whole API of a library is one type, and has as many lines as it has calls.
    static let facades: Set<String> = ["RTMClient", "AgoraRtmClientKit"]

    // MARK: Known exceptions

    // These three lists name what is still too big, each with the size that it may not exceed meanwhile. They
    // only ever shrink: lower a number or delete a line when its room has been redrawn.

    static let bigFolders: [String: Int] = [:]

    /// By name, with the lines of all extensions.
    static let bigTypes: [String: Int] = [:]

    /// Comments that consist of a rule's id alone, by room.
    static let bareCitations: [String: Int] = [:]

    // MARK: Folders

    static func bigFolders(_ files: [SwiftFile], except known: [String: Int]) -> [Finding] {
        Dictionary(grouping: files, by: \.folder).compactMap { folder, files in
            let countMax = known[folder] ?? filesInFolderMax
            guard files.count > countMax else { return nil }
            return Finding(
                path: folder, line: 0,
                advice: "\(files.count) Swift files directly in one folder, \(countMax) are allowed: "
                    + "let folders show the features")
        }
        .sorted { $0.path < $1.path }
    }

    // MARK: Types

    /// Sums a type with all its extensions in one room. Types of different rooms that share a name are
    /// different types.
    static func bigTypes(_ files: [SwiftFile], except known: [String: Int]) -> [Finding] {
        var lines: [String: Int] = [:]
        var places: [String: (name: String, path: String, line: Int)] = [:]
        for declaration in files.flatMap(TypeDeclaration.all) {
            let room = ImportRules.house.room(of: declaration.path) ?? ""
            let key = "\(room) \(declaration.name)"
            lines[key, default: 0] += declaration.lines.count
            if places[key] == nil || !declaration.isExtension {
                places[key] = (declaration.name, declaration.path, declaration.lines.lowerBound + 1)
            }
        }
        return lines.compactMap { key, count in
            guard let place = places[key], !facades.contains(place.name) else { return nil }
            let countMax = known[place.name] ?? linesOfTypeMax
            guard count > countMax else { return nil }
            return Finding(
                path: place.path, line: place.line,
                advice: "\(place.name) has \(count) lines with its extensions, \(countMax) are allowed: "
                    + "ask which noun is missing")
        }
        .sorted { $0.path < $1.path }
    }

    // MARK: Comments

    /// A comment says what a rule demands here; its id alone sends the reader to another page.
    static func bareCitations(in file: SwiftFile) -> [Finding] {
        var findings: [Finding] = []
        var index = 0
        while index < file.lines.count {
            let comment = file.lines[index...].prefix { $0.drop { $0 == " " }.hasPrefix("//") }
            if isBareCitation(comment.joined(separator: " ")) {
                findings.append(
                    Finding(
                        path: file.path, line: index + 1,
                        advice: "say what the rule demands here, then its id in brackets"))
            }
            index += max(1, comment.count)
        }
        return findings
    }

    static func isBareCitation(_ comment: String) -> Bool {
        let ids = Citations.ids(in: comment)
        guard !ids.isEmpty else { return false }
        let fillers: Set<Substring> = ["and", "or", "to", "see", "rule", "rules"]
        let words = comment.split { !($0.isLetter || $0.isNumber || $0 == "-") }
        return words.allSatisfy { fillers.contains($0) || ids.contains(String($0)) }
    }
}
