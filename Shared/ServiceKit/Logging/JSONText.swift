/// JSON that is written by hand: log lines and health answers are small, and nothing here needs a decoder.
package enum JSONText {
    /// A JSON string with its quotes. Control characters are escaped, so the result is always one line, and
    /// so are the marks of writing direction, with which a name could show a reader another text.
    package static func quoted(_ text: some StringProtocol) -> String {
        var result = "\""
        result.reserveCapacity(text.utf8.count + 2)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{2028}", "\u{2029}", "\u{85}": result += escape(scalar)
            case "\u{61C}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                result += escape(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// An object whose values are JSON already.
    package static func object(_ fields: [(name: String, json: String)]) -> String {
        "{" + fields.map { "\(quoted($0.name)):\($0.json)" }.joined(separator: ",") + "}"
    }

    package static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
