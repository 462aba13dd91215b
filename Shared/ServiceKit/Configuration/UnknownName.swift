import RTMModel

/// The hint in the refusal of a flag, a key or a variable that a program doesn't have: which one was probably
/// meant, or which program has it. Each hint is a clause behind "unknown flag" or "unknown key", and empty if
/// there is none. Pure.
struct UnknownName {
    let schema: ConfigurationSchema

    /// - Parameter flag: the flag without its dashes.
    func hint(forFlag flag: String) -> String {
        let plain = Self.flag(flag)
        let own = schema.keys.filter { [Self.flag($0.name), Self.flag(Self.rest($0.name))].contains(plain) }
        if !own.isEmpty { return meant(own.map { "--\($0.flag)" }) }
        let known = schema.keys.map(\.flag) + ConfigurationSchema.reservedFlags
        return sectionOwner(plain)
            ?? NearestName.nearest(to: flag, among: known).map { meant(["--\($0)"]) } ?? ""
    }

    /// The other program that has the section with which the flag begins.
    private func sectionOwner(_ plain: String) -> String? {
        let section = String(plain.prefix { $0 != "-" })
        guard section != plain, schema.neighbours.sections.contains(section), !schema.owns(section: section)
        else { return nil }
        return "; the keys of \(section) belong to rtm-\(section)"
    }

    /// - Parameter path: the key with its sections.
    func hint(forKey path: String) -> String {
        let plain = Self.flag(path)
        if let own = schema.keys.first(where: { $0.flag == plain }) { return meant([own.name]) }
        let sections = path.contains(".") ? [] : schema.sections.union(schema.neighbours.sections)
        return NearestName.hint(for: path, among: schema.keys.map(\.name) + sections)
    }

    /// - Parameter known: the variables of this program.
    func hint(forVariable name: String, _ known: Set<String>) -> String {
        if let near = NearestName.nearest(to: name, among: known) { return meant([near]) }
        // A name without its section, as flags have it.
        let words = name.split(separator: "_").dropFirst()
        let flag = words.joined(separator: "-").lowercased()
        let nearFlag = NearestName.nearest(to: flag, among: schema.keys.map(\.flag))
        if let key = schema.keys.first(where: { $0.flag == nearFlag }) { return meant([key.variable]) }
        guard let first = words.first,
            let section = NearestName.nearest(to: String(first), among: schema.neighbours.sections)
        else { return "" }
        let rest = [section.uppercased()] + words.dropFirst().map(String.init)
        let meantName = "RTM_" + rest.joined(separator: "_")
        return meantName == name ? "" : meant([meantName])
    }

    private func meant(_ names: [String]) -> String { "; did you mean \(names.joined(separator: " or "))?" }

    /// `storage.bytesMax` is `storage-bytes-max`.
    private static func flag(_ name: String) -> String {
        KeyDeclaration.words(name).joined(separator: "-")
    }

    /// The name without its section.
    private static func rest(_ name: String) -> String {
        name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }
}
