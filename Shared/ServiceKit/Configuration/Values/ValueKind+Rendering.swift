/// How kinds and values are written: in error sentences, help, documentation and printed configurations.
extension ValueKind {
    /// The allowed values in words, as they follow "allowed is" or "one of".
    package var allowed: String {
        switch self {
        case .string: "a text"
        case .secret: "a secret text"
        case .int(let range): "range \(range.lowerBound)…\(range.upperBound)"
        case .bool: "true or false"
        case .duration(let range):
            "range \(UnitText.duration(range.lowerBound))…\(UnitText.duration(range.upperBound))"
        case .byteSize(let range):
            "range \(UnitText.byteSize(range.lowerBound))…\(UnitText.byteSize(range.upperBound))"
        case .address: "HOST:PORT"
        case .list(let countMax): "a list of at most \(countMax) texts"
        case .choice(let choices): choices.joined(separator: ", ")
        case .records(let fields, let countMax):
            "a list of at most \(countMax) records with \(Self.words(fields))"
        }
    }

    /// The word that stands for a value in the help text.
    var placeholder: String {
        switch self {
        case .string: "TEXT"
        case .secret: "SECRET"
        case .int: "NUMBER"
        case .bool: "[true|false]"
        case .duration: "DURATION"
        case .byteSize: "SIZE"
        case .address: "HOST:PORT"
        case .list: "A,B,…"
        case .choice(let choices): choices.joined(separator: "|")
        case .records(let fields, _): fields.map { $0.name.uppercased() }.joined(separator: ":") + ",…"
        }
    }

    private static func words(_ fields: [RecordField]) -> String {
        fields.map { $0.isRequired ? $0.name : "\($0.name) (optional)" }.joined(separator: ", ")
    }
}

extension ConfigurationValue {
    /// The value as a YAML flow node on one line, with every secret masked.
    var yaml: String {
        switch self {
        case .string(let text): Self.shown(text)
        case .choice(let text): Self.scalar(text)
        case .secret(let secret): Self.scalar("\(secret)")
        case .int(let number): "\(number)"
        case .bool(let value): "\(value)"
        case .duration(let duration): UnitText.duration(duration)
        case .byteSize(let size): UnitText.byteSize(size)
        case .address(let address): Self.scalar("\(address)")
        case .list(let elements): "[\(elements.map(Self.shown).joined(separator: ", "))]"
        case .records(let records): "[\(records.map(Self.flow).joined(separator: ", "))]"
        }
    }

    /// Whether the value is, or contains, the mask that a printed configuration shows in place of a secret.
    var isMasked: Bool {
        switch self {
        case .secret(let secret): secret.revealed == Secret.mask
        case .string(let text): Secret.isMasked(inURL: text)
        case .list(let elements): elements.contains(where: Secret.isMasked(inURL:))
        case .records(let records): records.contains { $0.values.contains(where: \.isMasked) }
        default: false
        }
    }

    /// A text that may be, or have, a URL with a password.
    private static func shown(_ text: String) -> String { scalar(Secret.maskingPasswords(in: text)) }

    private static func flow(_ record: Record) -> String {
        let fields = record.sorted { $0.key < $1.key }.map { "\($0): \($1.yaml)" }
        return "{\(fields.joined(separator: ", "))}"
    }

    /// The text as it is where YAML is certain to read it back as the same text, otherwise quoted: a JSON
    /// string is a YAML string.
    private static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"): true
                case UInt8(ascii: "-"): true
                default: false
                }
            }
        let hasMeaning = ["", "null", "Null", "NULL"].contains(text) || text.hasSuffix(":")
        let startsPlain = text.first.map { $0.isLetter || $0.isNumber || $0 == "/" || $0 == "." } ?? false
        return isPlain && startsPlain && !hasMeaning ? text : JSONText.quoted(text)
    }
}
