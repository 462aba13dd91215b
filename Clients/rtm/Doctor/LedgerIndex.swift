import RTMLedger

/// The ledger by the names that sources use.
struct LedgerIndex {
    struct Found: Hashable {
        let type: String
        let member: Ledger.Member

        var name: String { "\(type).\(member.declaration.split(separator: " -> ")[0])" }
    }

    /// The types, and the kinds of members that have a name of their own.
    private(set) var types: Set<String> = []
    private var calls: [String: [(labels: [String], found: Found)]] = [:]
    private var values: [String: [Found]] = [:]
    private var cases: [String: [Found]] = [:]

    init(_ ledger: Ledger) {
        for entry in ledger.entries {
            if entry.kind == "module" {
                types.formUnion(
                    entry.members.compactMap { Self.name(of: $0.declaration, behind: "typealias ") })
                continue
            }
            types.insert(entry.name)
            for member in entry.members { add(Found(type: entry.name, member: member)) }
        }
    }

    private mutating func add(_ found: Found) {
        let declaration = found.member.declaration
        if let name = Self.name(of: declaration, behind: "case ") {
            cases[name, default: []].append(found)
        } else if let name = Self.name(of: declaration, behind: "var ") {
            values[name, default: []].append(found)
        } else if let name = Self.name(of: declaration, behind: "let ") {
            cases[name, default: []].append(found)
        } else if let name = Self.name(of: declaration, behind: "func ") {
            calls[name, default: []].append((Self.labels(of: declaration), found))
        } else if declaration.hasPrefix("init") {
            calls[found.type, default: []].append((Self.labels(of: declaration), found))
        }
    }

    private static func name(of declaration: String, behind keyword: String) -> String? {
        guard let begin = declaration.firstRange(of: keyword),
            declaration[..<begin.lowerBound].allSatisfy({ $0.isLetter || $0 == " " })
        else { return nil }
        return String(declaration[begin.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    private static func labels(of declaration: String) -> [String] {
        SwiftWords(declaration).uses.first { $0.labels != nil }?.labels ?? []
    }

    /// Whether sources are searched for this member.
    func knows(_ member: Ledger.Member, of type: String) -> Bool {
        let found = Found(type: type, member: member)
        return calls.values.joined().contains { $0.found == found }
            || values.values.joined().contains(found) || cases.values.joined().contains(found)
    }

    // MARK: -

    /// The member that a use means; nil if it means none.
    ///
    /// - Parameter named: the types that the app names anywhere.
    func member(_ use: SwiftWords.Use, named: Set<String>) -> Found? {
        if let labels = use.labels, let found = call(use.name, labels, hasOwner: use.owner != nil) {
            return found
        }
        guard let owner = use.owner else { return nil }
        if types.contains(owner) {
            return (cases[use.name, default: []] + values[use.name, default: []]).first { $0.type == owner }
        }
        if let found = values[use.name]?.first(where: { named.contains($0.type) }) { return found }
        // Without its type a case is known only by a name that no other has.
        let isTelling = use.name.contains(where: \.isUppercase)
        guard owner.isEmpty, isTelling, let found = cases[use.name], found.count == 1 else { return nil }
        return found[0]
    }

    private func call(_ name: String, _ labels: [String], hasOwner: Bool) -> Found? {
        let fitting = calls[name, default: []].filter { candidate in
            guard hasOwner || candidate.found.member.declaration.hasPrefix("init") || name == "rtmKit" else {
                return false
            }
            return Self.fits(labels, candidate.labels)
        }
        // A call that is on two objects is described at the one that it belongs to.
        return (fitting.first { !$0.found.member.text.hasPrefix("As ") } ?? fitting.first)?.found
    }

    /// What has a default may be left out, and the block of a call that is waited for.
    private static func fits(_ labels: [String], _ declared: [String]) -> Bool {
        if labels == declared { return true }
        let withoutBlock =
            declared.last == "completion" || declared.last == "_" ? Array(declared.dropLast()) : declared
        return labels == withoutBlock || labels.dropLast() == withoutBlock[...]
    }
}
