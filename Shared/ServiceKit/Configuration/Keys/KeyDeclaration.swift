/// One row of the key table: everything about a key from which flags, environment, file, help and
/// documentation are derived.
package struct KeyDeclaration: Sendable, Hashable {
    /// The path in the file: `edge.listen`. The first part is the service, unless the key is common to all
    /// services.
    package let name: String
    package let kind: ValueKind
    /// Nil when the key may stay unset.
    package internal(set) var defaultValue: ConfigurationValue?
    /// Whether the value is the path of a file that the program reads.
    package internal(set) var isFile = false
    /// Whether the value leads to certificates, of which a metric says when they end.
    package internal(set) var hasCertificates = false
    /// Whether a running program takes over a new value.
    package internal(set) var isLive = false
    /// Whether the key has no meaning where the service runs beside others in one process.
    package internal(set) var isForOwnProcess = false
    /// One sentence with unit, meaning and consequence.
    package let summary: String
    /// The flag without its dashes. A schema shortens it where no other key claims the short one.
    package internal(set) var flag: String

    init(_ name: String, _ kind: ValueKind, default defaultValue: ConfigurationValue?, _ summary: String) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.summary = summary
        self.flag = Self.words(name).joined(separator: "-")
    }

    /// `edge.handshakeDeadline` is `RTM_EDGE_HANDSHAKE_DEADLINE`.
    package var variable: String { Self.variable(name) }

    static func variable(_ name: String) -> String {
        "RTM_" + words(name).joined(separator: "_").uppercased()
    }

    /// The variable that names a file which holds the value; only secrets have one.
    package var fileVariable: String? { kind.isSecret ? variable + "_FILE" : nil }

    /// The lower-case words of a name. A word ends at a dot, and before a capital that follows a small letter
    /// or a digit.
    static func words(_ name: String) -> [String] {
        var words = [""]
        var previous: Character = "."
        for character in name {
            if character == "." || (character.isUppercase && !previous.isUppercase && previous != ".") {
                words.append("")
            }
            if character != "." { words[words.count - 1] += character.lowercased() }
            previous = character
        }
        return words
    }
}
