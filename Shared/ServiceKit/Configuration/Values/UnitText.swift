/// How durations and sizes are written in a configuration: a whole number and a unit, `30s`, `500ms`,
/// `32KiB`.
///
/// Each value has one written form, the one with the largest unit that divides the value, so a printed value
/// can be read back.
package enum UnitText {
    private static let durations: [(unit: String, value: Duration)] = [
        ("d", .seconds(86_400)), ("h", .seconds(3_600)), ("m", .seconds(60)), ("s", .seconds(1)),
        ("ms", .milliseconds(1)), ("us", .microseconds(1)),
    ]

    private static let sizes: [(unit: String, value: Int)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Whether a text is a duration that is longer than any that is read, or a size that is.
    static func isLongDuration(_ text: String) -> Bool {
        let (digits, unit) = split(text)
        return digits.count > digitsMax && durations.contains { $0.unit == unit }
    }

    static func isLongSize(_ text: String) -> Bool {
        let (digits, unit) = split(text)
        guard !digits.isEmpty, let scale = sizes.first(where: { $0.unit == (unit.isEmpty ? "B" : unit) })
        else { return false }
        return Int(digits)?.multipliedReportingOverflow(by: scale.value).overflow ?? true
    }

    /// Limit: twelve digits keep the product with every unit far from an overflow.
    private static let digitsMax = 12

    package static func duration(_ text: String) throws(ValueRefusal) -> Duration {
        let (digits, unit) = split(text)
        guard let count = Int64(digits), digits.count <= digitsMax else {
            throw ValueRefusal("is not a duration; write a whole number and a unit such as 500ms, 30s, 2m")
        }
        guard let scale = durations.first(where: { $0.unit == unit }) else {
            let problem = unit.isEmpty ? "has no unit" : "has the unknown unit \"\(unit)\""
            throw ValueRefusal("\(problem); the units are us, ms, s, m, h, d")
        }
        return scale.value * count
    }

    package static func duration(_ value: Duration) -> String {
        guard value != .zero else { return "0s" }
        let (seconds, fraction) = value.components
        guard fraction == 0 else {
            let count = seconds * 1_000_000 + fraction / 1_000_000_000_000
            return count % 1_000 == 0 ? "\(count / 1_000)ms" : "\(count)us"
        }
        let scale = durations.first { seconds % $0.value.components.seconds == 0 }
        return scale.map { "\(seconds / $0.value.components.seconds)\($0.unit)" } ?? "\(seconds)s"
    }

    static func byteSize(_ text: String) throws(ValueRefusal) -> Int {
        let (digits, unit) = split(text)
        guard let count = Int(digits) else {
            throw ValueRefusal("is not a size; write a number of bytes such as 65536, 32KiB, 4MiB")
        }
        guard let scale = sizes.first(where: { $0.unit == unit || (unit.isEmpty && $0.unit == "B") }) else {
            throw ValueRefusal("has the unknown unit \"\(unit)\"; the units are B, KiB, MiB, GiB, TiB")
        }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: scale.value)
        guard !isTooLarge else { throw ValueRefusal("is larger than any size") }
        return product
    }

    static func byteSize(_ value: Int) -> String {
        for (unit, scale) in sizes where scale > 1 && value >= scale && value % scale == 0 {
            return "\(value / scale)\(unit)"
        }
        return "\(value)"
    }

    private static func split(_ text: String) -> (digits: Substring, unit: Substring) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return (digits, text[digits.endIndex...])
    }
}
