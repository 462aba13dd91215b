import RTMModel

/// Turns text (from flags and the environment) and file nodes into checked values.
///
/// Both ways end in the same rules for text: a scalar in the file is read by its text, so `listen: 7710` and
/// `--listen 7710` are refused with the same words.
extension ValueKind {
    func value(of text: String) throws(ValueRefusal) -> ConfigurationValue {
        guard text.utf8.count <= Self.textBytesMax else {
            throw ValueRefusal("has \(text.utf8.count) bytes, \(Self.textBytesMax) are allowed")
        }
        switch self {
        case .string: return .string(try Self.nonEmpty(text))
        case .secret: return .secret(Secret(try Self.nonEmpty(text)))
        case .int(let range): return .int(try Self.int(text, in: range))
        case .bool: return .bool(try Self.bool(text))
        case .duration(let range):
            guard !UnitText.isLongDuration(text) else { throw outside }
            let duration = try UnitText.duration(text)
            guard range.contains(duration) else { throw outside }
            return .duration(duration)
        case .byteSize(let range):
            guard !UnitText.isLongSize(text) else { throw outside }
            let size = try UnitText.byteSize(text)
            guard range.contains(size) else { throw outside }
            return .byteSize(size)
        case .address: return .address(try HostPort(text: text))
        case .choice(let choices):
            guard choices.contains(text) else { throw ValueRefusal("is not one of \(allowed)") }
            return .choice(text)
        case .list: return try list(Self.elements(text))
        case .records(let fields, _):
            var records: [ConfigurationValue.Record] = []
            for (index, element) in Self.elements(text).enumerated() {
                records.append(try Self.record(element, fields: fields, number: index + 1))
            }
            return try checked(records)
        }
    }

    func value(of node: FileNode) throws(ValueRefusal) -> ConfigurationValue {
        switch (self, node) {
        case (_, .null): throw ValueRefusal("is empty; leave the key out for its default")
        case (_, .scalar(let text)): return try value(of: text)
        case (.list, .list(let nodes)):
            var elements: [String] = []
            for node in nodes {
                guard case .scalar(let text) = node else { throw ValueRefusal("is not a list of texts") }
                elements.append(text)
            }
            return try list(elements)
        case (.records(let fields, _), .list(let nodes)):
            var records: [ConfigurationValue.Record] = []
            for (index, node) in nodes.enumerated() {
                records.append(try Self.record(node, fields: fields, number: index + 1))
            }
            return try checked(records)
        case (_, .list): throw ValueRefusal("is a list; expected is \(allowed)")
        case (_, .map): throw ValueRefusal("is a section; expected is \(allowed)")
        }
    }

    private var outside: ValueRefusal { ValueRefusal("is outside the allowed \(allowed)") }

    private static func nonEmpty(_ text: String) throws(ValueRefusal) -> String {
        guard !text.isEmpty else { throw ValueRefusal("is empty") }
        return text
    }

    private static func int(_ text: String, in range: ClosedRange<Int>) throws(ValueRefusal) -> Int {
        guard let number = Int(text) else {
            let digits = text.drop { $0 == "-" }
            let isLong = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
            throw isLong ? ValueKind.int(range).outside : ValueRefusal("is not a whole number")
        }
        guard range.contains(number) else { throw ValueKind.int(range).outside }
        return number
    }

    private static func bool(_ text: String) throws(ValueRefusal) -> Bool {
        guard let value = Bool(text) else { throw ValueRefusal("is neither true nor false") }
        return value
    }

    /// The parts between commas and line ends, without the blanks around them. The file of a secret has one
    /// record per line.
    private static func elements(_ text: String) -> [String] {
        text.split { $0 == "," || $0.isNewline }.map(\.trimmed).filter { !$0.isEmpty }
    }

    private func list(_ elements: [String]) throws(ValueRefusal) -> ConfigurationValue {
        guard case .list(let countMax) = self, elements.count <= countMax else {
            throw ValueRefusal("has \(elements.count) entries, allowed is \(allowed)")
        }
        return .list(elements)
    }

    private func checked(_ records: [ConfigurationValue.Record]) throws(ValueRefusal) -> ConfigurationValue {
        guard case .records(_, let countMax) = self, records.count <= countMax else {
            throw ValueRefusal("has \(records.count) records, allowed is \(allowed)")
        }
        return .records(records)
    }
}

/// Reads records. Their errors name the record's number and the field but never a value, because a field may
/// be secret.
extension ValueKind {
    /// Reads `id:certificate`: the fields in their declared order; trailing optional ones may be missing.
    private static func record(
        _ text: String, fields: [RecordField], number: Int
    ) throws(ValueRefusal) -> ConfigurationValue.Record {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= fields.count else {
            let form = fields.map(\.name).joined(separator: ":")
            throw ValueRefusal("has \(parts.count) parts in record \(number); the form is \(form)")
        }
        let entries = zip(fields, parts).filter { !$1.isEmpty }
        return try record(entries.map { ($0.name, FileNode.scalar($1)) }, fields: fields, number: number)
    }

    private static func record(
        _ node: FileNode, fields: [RecordField], number: Int
    ) throws(ValueRefusal) -> ConfigurationValue.Record {
        switch node {
        case .map(let entries):
            return try record(entries.map { ($0.name, $0.node) }, fields: fields, number: number)
        case .scalar(let text): return try record(text, fields: fields, number: number)
        case .list, .null: throw ValueRefusal("has no fields in record \(number)")
        }
    }

    private static func record(
        _ entries: [(String, FileNode)], fields: [RecordField], number: Int
    ) throws(ValueRefusal) -> ConfigurationValue.Record {
        var record: ConfigurationValue.Record = [:]
        for (name, node) in entries {
            guard let field = fields.first(where: { $0.name == name }) else {
                let hint = NearestName.hint(for: name, among: fields.map(\.name))
                throw ValueRefusal("has the unknown field \"\(name)\" in record \(number)\(hint)")
            }
            do {
                record[name] = try field.kind.value(of: node)
            } catch {
                throw ValueRefusal("has a \(name) in record \(number) that \(error.reason)")
            }
        }
        for field in fields where field.isRequired && record[field.name] == nil {
            throw ValueRefusal("has no \(field.name) in record \(number)")
        }
        return record
    }
}

extension StringProtocol {
    /// The text without the blanks at both ends.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...end])
    }
}
