/// Swift source in which comments and the text of string literals are blanked out, so that a rule about code
/// doesn't stumble over a sentence about it. Line breaks stay, so that line numbers hold.
///
/// This is no parser: it knows line and (nested) block comments, and plain, multi-line and raw strings with
/// interpolations, whose content is code again. A regex literal with a quotation mark in it misleads it until
/// the end of that line.
struct CodeOnly {
    private let source: [UInt8]
    private var kept: [UInt8]
    private var index = 0

    static func lines(of text: String) -> [String] {
        var scan = CodeOnly(source: Array(text.utf8))
        scan.code(isInterpolation: false)
        return scan.kept.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private init(source: [UInt8]) {
        self.source = source
        self.kept = source
    }

    /// Leaves code as it is, up to the end or, in an interpolation, behind its closing parenthesis.
    private mutating func code(isInterpolation: Bool) {
        var depth = 0
        while index < source.count {
            switch source[index] {
            case UInt8(ascii: "/") where isNext("//"): lineComment()
            case UInt8(ascii: "/") where isNext("/*"): blockComment()
            case UInt8(ascii: "\""): string(hashes: 0)
            case UInt8(ascii: "#"): poundSign()
            case UInt8(ascii: "("):
                depth += 1
                index += 1
            case UInt8(ascii: ")"):
                depth -= 1
                index += 1
                if isInterpolation, depth < 0 { return }
            default: index += 1
            }
        }
    }

    private mutating func lineComment() {
        while index < source.count, source[index] != UInt8(ascii: "\n") { blank(1) }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if isNext("/*") { depth += 1 }
            if isNext("*/") { depth -= 1 }
            blank(isNext("/*") || isNext("*/") ? 2 : 1)
        } while depth > 0 && index < source.count
    }

    private mutating func string(hashes: Int) {
        let rawMarks = String(repeating: "#", count: hashes)
        blank(hashes)
        let quotes = isNext("\"\"\"") ? 3 : 1
        blank(quotes)
        let closing = String(repeating: "\"", count: quotes) + rawMarks
        let escape = "\\" + rawMarks
        while index < source.count {
            switch source[index] {
            case UInt8(ascii: "\"") where isNext(closing): return blank(closing.utf8.count)
            case UInt8(ascii: "\n") where quotes == 1: return
            case UInt8(ascii: "\\") where isNext(escape + "("):
                blank(escape.utf8.count + 1)
                code(isInterpolation: true)
            case UInt8(ascii: "\\") where isNext(escape): blank(escape.utf8.count + 1)
            default: blank(1)
            }
        }
    }

    /// A raw string, or a word such as `#expect`.
    private mutating func poundSign() {
        var end = index
        while end < source.count, source[end] == UInt8(ascii: "#") { end += 1 }
        if end < source.count, source[end] == UInt8(ascii: "\"") {
            string(hashes: end - index)
        } else {
            index = end
        }
    }

    private func isNext(_ text: String) -> Bool {
        source[index...].starts(with: text.utf8)
    }

    private mutating func blank(_ count: Int) {
        for _ in 0..<count where index < source.count {
            if source[index] != UInt8(ascii: "\n") { kept[index] = UInt8(ascii: " ") }
            index += 1
        }
    }
}
