/// The texts about keys: `--help`, and the tables of docs/configuration.md. Both come from the schema, so they can't be stale.
package enum ConfigurationReference {
    /// The options of one program, a line or two each.
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
        "  --config FILE", "        Reads this YAML file; RTM_CONFIG names one too.",
        "  --check-config", "        Checks the configuration, prints every problem and exits with 0 or 2.",
        "  --print-config", "        Prints the effective configuration with the origin of each value.",
        "  --version", "        Prints the version.",
        "  --help", "        Prints this text.",
    ]

    /// The whole document for these programs; `docs/configuration.md` must equal it.
    package static func document(_ programs: [(name: String, schema: ConfigurationSchema)]) -> String {
        let tables = programs.map { "## \($0.name)\n\n\(table($0.schema))" }
        return ([introduction] + tables).joined(separator: "\n")
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

    private static let introduction = """
        # Configuration

        Every program starts without a configuration. A value is looked for in this order, and the first one found wins:

        1. a flag (`--listen 0.0.0.0:7710` or `--listen=0.0.0.0:7710`),
        2. an environment variable,
        3. the YAML file that `--config FILE` or `RTM_CONFIG` names,
        4. the built-in default.

        The names follow from the key. `edge.handshakeDeadline` is the variable `RTM_EDGE_HANDSHAKE_DEADLINE`, the path `edge:` →
        `handshakeDeadline:` in the file, and the flag in the table below. An empty variable counts as not given. Keys that hold a
        secret also have a variable `RTM_…_FILE` that names a file with the value; one line end at its end is dropped.

        - A key, flag or `RTM_…` variable that nobody knows is refused with the nearest known name; so is a value that is out of range.
          Several programs may share one file and one environment: each passes over the sections of the others.
        - `--check-config` prints `ok`, or every problem, and exits with 0 or 2. `--print-config` prints the effective values
          as YAML, each with its origin; secrets are masked, and a mask is refused when it is fed back as a value.
        - Durations are a whole number and a unit (`500ms`, `30s`, `2m`; `us`, `ms`, `s`, `m`, `h`, `d`). Sizes are bytes (`65536`) or have a
          unit (`32KiB`, `4MiB`; `B`, `KiB`, `MiB`, `GiB`, `TiB`). Addresses are `HOST:PORT`, IPv6 in brackets (`[::1]:7710`).
        - Lists are YAML lists, or `a,b` in flags and variables. Apps are records: in the file a list of
          `{id: …, certificate: …}`, elsewhere `id,id:certificate`.
        - Exit codes: 0 ended as asked, 2 configuration or usage, 3 a dependency is unavailable or an address can't be bound,
          4 internal error; a second SIGTERM or SIGINT ends at once with 128 plus the signal's number.

        """
}
