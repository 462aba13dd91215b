/// The effective configuration as YAML that can be read back (`--print-config`, `/config`): every key with
/// its value and, as a comment, its origin. Secrets are masked.
extension Configuration {
    package var yaml: String {
        var lines: [String] = []
        Self.append(
            schema.keys.map { (path: $0.name.split(separator: "."), key: $0) }[...], depth: 0, to: &lines
        ) {
            line(for: $0, name: $1)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func line(for key: KeyDeclaration, name: Substring) -> String {
        guard let setting = settings[key.name], let value = setting.value else { return "# \(name): not set" }
        return "\(name): \(value.yaml)  # \(setting.origin)"
    }

    private typealias Row = (path: [Substring], key: KeyDeclaration)

    /// Writes the keys of one section together, in the place of its first key.
    private static func append(
        _ rows: ArraySlice<Row>, depth: Int, to lines: inout [String],
        line: (KeyDeclaration, Substring) -> String
    ) {
        let indent = String(repeating: "  ", count: depth)
        var rest = rows
        while let first = rest.first {
            let name = first.path[depth]
            if first.path.count == depth + 1 {
                lines.append(indent + line(first.key, name))
                rest.removeFirst()
                continue
            }
            lines.append("\(indent)\(name):")
            append(
                rest.filter { $0.path[depth] == name && $0.path.count > depth + 1 }[...], depth: depth + 1,
                to: &lines, line: line)
            rest = rest.filter { $0.path[depth] != name }[...]
        }
    }
}
