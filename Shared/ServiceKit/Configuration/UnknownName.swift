import RTMModel

/// What is said about a flag, a key or a variable that a program doesn't have: which one was probably meant,
/// or whose it is. Each hint is a clause behind "unknown flag" or "unknown key", and empty if there is none.
/// Pure.
struct UnknownName {
    let schema: ConfigurationSchema

    // MARK: - Flags

    /// - Parameter flag: the flag without its dashes.
    func hint(forFlag flag: String) -> String {
        let plain = Self.flag(flag)
        let own = schema.keys.filter { [Self.flag($0.name), Self.flag(Self.rest($0.name))].contains(plain) }
        if !own.isEmpty { return meant(own.map { "--\($0.flag)" }) }
        let known = schema.keys.map(\.flag) + ConfigurationSchema.reservedFlags
        return owners(of: plain)
            ?? NearestName.nearest(to: flag, among: known).map { meant(["--\($0)"]) }
            ?? nearForeign(plain) ?? sectionOwner(plain) ?? ""
    }

    /// Whose flag it is, in its long or its short form.
    private func owners(of plain: String) -> String? {
        if let name = foreign.first(where: { Self.flag($0) == plain }) { return belongs([name]) }
        let short = foreign.filter { Self.flag(Self.rest($0)) == plain }
        return short.isEmpty ? nil : belongs(short)
    }

    private func nearForeign(_ plain: String) -> String? {
        let near = NearestName.nearest(to: plain, among: foreign.map(Self.flag))
        return foreign.first { Self.flag($0) == near }.map { belongs([$0]) }
    }

    private func sectionOwner(_ plain: String) -> String? {
        let section = plain.prefix { $0 != "-" }
        guard foreign.contains(where: { $0.hasPrefix("\(section).") }) else { return nil }
        return "; the keys of \(section) belong to rtm-\(section)"
    }

    // MARK: - Keys and variables

    /// - Parameter path: the key with its sections.
    func hint(forKey path: String) -> String {
        let plain = Self.flag(path)
        if let own = schema.keys.first(where: { $0.flag == plain }) { return meant([own.name]) }
        let same = foreign.filter { Self.rest($0) == Self.rest(path) }
        if path.contains("."), !same.isEmpty { return belongs(same) }
        let sections = path.contains(".") ? [] : schema.sections.union(schema.neighbours.sections)
        return NearestName.hint(for: path, among: schema.keys.map(\.name) + sections)
    }

    /// - Parameter known: the variables of this program.
    func hint(forVariable name: String, _ known: Set<String>) -> String {
        NearestName.hint(for: name, among: known.union(foreign.map(KeyDeclaration.variable)))
    }

    // MARK: - Words

    /// The keys that only other programs have.
    private var foreign: [String] {
        schema.neighbours.names.filter { schema.key(named: $0) == nil }
    }

    private func meant(_ names: [String]) -> String { "; did you mean \(names.joined(separator: " or "))?" }

    private func belongs(_ names: [String]) -> String {
        let places = names.map { name in "\(name) of rtm-\(name.prefix { $0 != "." })" }
        return "; it is \(places.joined(separator: " or "))"
    }

    /// `storage.bytesMax` is `storage-bytes-max`.
    private static func flag(_ name: String) -> String {
        KeyDeclaration.words(name).joined(separator: "-")
    }

    /// The name without its section.
    private static func rest(_ name: String) -> String {
        name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }
}
