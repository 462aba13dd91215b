/// The texts about keys: `--help`, and the table of `--print-reference`. Both come from the schema, so they
/// can't be outdated.
package enum ConfigurationReference {
    /// The options of one program, each in one or two lines.
    package static func help(_ schema: ConfigurationSchema) -> String {
        var lines = commands
        for key in schema.keys {
            lines.append("  --\(key.flag) \(key.kind.placeholder)")
            lines.append("        \(key.summary)")
            lines.append("        default \(defaultText(key)); \(key.variable); \(key.name)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let commands = [
        "  --config FILE", "        Reads this YAML file; RTM_CONFIG can name it, too.",
        "  --check-config", "        Checks the configuration, prints every problem and exits with 0 or 2.",
        "  --print-config", "        Prints the effective configuration with the origin of each value.",
        "  --print-reference", "        Prints a table of all keys.",
        "  --probe", "        Asks the running program whether it is ready, and exits with 0 or 1.",
        "  --version", "        Prints the version.",
        "  --help", "        Prints this text.",
    ]

    /// The keys of one program as a table, from which tests write docs/configuration.md.
    package static func section(_ program: String, _ schema: ConfigurationSchema) -> String {
        "## \(program)\n\n\(table(schema))"
    }

    private static func table(_ schema: ConfigurationSchema) -> String {
        var rows = ["| key | flag | default | allowed | meaning |", "|---|---|---|---|---|"]
        for key in schema.keys {
            let cells = [
                "`\(key.name)`", "`--\(key.flag)`", "`\(defaultText(key))`", cell(key.kind.allowed),
                cell(key.summary),
            ]
            rows.append("| \(cells.joined(separator: " | ")) |")
        }
        return rows.joined(separator: "\n") + "\n"
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }

    private static func defaultText(_ key: KeyDeclaration) -> String {
        key.defaultValue?.yaml ?? "not set"
    }
}
