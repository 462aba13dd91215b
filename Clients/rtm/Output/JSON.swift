// JSON as this tool writes it: on one line, with the fields of an object in the order in which they were
// written. So a reader sees the same as in the documents; `JSONEncoder` promises no order except the
// alphabet's.

import Foundation

/// A JSON value. It is written as a literal, and `description` is its text.
enum JSON: Sendable, Hashable {
    case string(String)
    case array([JSON])
    case object([Field])
    /// A number, `true`, `false` or `null`, as it stands in the text.
    case literal(String)

    struct Field: Sendable, Hashable {
        let name: String
        let value: JSON
    }

    static let null = JSON.literal("null")

    static func number(_ value: some BinaryInteger) -> JSON { .literal(String(value)) }

    /// A number, rounded to `decimals` places, because more would suggest an exactness that no measurement
    /// has.
    static func number(_ value: Double, decimals: Int) -> JSON {
        value.isFinite ? .literal(value.text(decimals: decimals)) : .null
    }

    /// A point in time as ISO 8601 writes it, in UTC.
    static func time(_ milliseconds: UInt64) -> JSON {
        let text = Date(timeIntervalSince1970: TimeInterval(milliseconds / 1000)).formatted(.iso8601)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return .string("\(text.dropLast()).\(fraction)Z")
    }

    static func strings(_ values: [String]) -> JSON { .array(values.map(JSON.string)) }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .literal(value ? "true" : "false") }
    init(integerLiteral value: Int) { self = .number(value) }
    init(dictionaryLiteral fields: (String, JSON)...) {
        self = .object(fields.map { Field(name: $0.0, value: $0.1) })
    }
}

extension JSON: CustomStringConvertible {
    var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .string(let string): Self.write(string, to: &text)
        case .literal(let literal): text += literal
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, field) in fields.enumerated() {
                if index > 0 { text += "," }
                Self.write(field.name, to: &text)
                text += ":"
                field.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // JSON forbids the first range. The others are allowed, but they break lines, or steer the
            // terminal of a reader of the raw output.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension Double {
    /// The number in decimal notation without an exponent, independent of the locale.
    func text(decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = (magnitude * scale).rounded()
        guard let digits = Int64(exactly: scaled) else { return description }
        let sign = self < 0 && digits > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(digits) }
        let padded =
            String(repeating: "0", count: max(0, decimals + 1 - String(digits).count)) + String(digits)
        return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }
}

extension JSON: ExpressibleByArrayLiteral {
    init(arrayLiteral values: JSON...) { self = .array(values) }
}
