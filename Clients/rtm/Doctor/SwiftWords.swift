/// The words of a Swift source, without comments and without the contents of texts. What is in the
/// interpolations of a text counts: it is code.
struct SwiftWords {
    enum Word: Hashable {
        case name(String)
        case mark(Character)
    }

    private(set) var words: [(word: Word, line: Int)] = []

    private let source: [Character]
    private var place = 0
    private var line = 1

    init(_ text: String) {
        source = Array(text)
        readCode(isInterpolation: false)
    }

    private var next: Character? { place < source.count ? source[place] : nil }

    private func isAhead(_ text: String) -> Bool {
        var index = place
        for character in text {
            guard index < source.count, source[index] == character else { return false }
            index += 1
        }
        return true
    }

    private mutating func skip(_ count: Int = 1) {
        for _ in 0..<count where place < source.count {
            if source[place].isNewline { line += 1 }
            place += 1
        }
    }

    /// Up to the end, or to the parenthesis that ends an interpolation.
    private mutating func readCode(isInterpolation: Bool) {
        var depth = 0
        while let character = next {
            if isAhead("//") {
                while let next, !next.isNewline { skip() }
            } else if isAhead("/*") {
                skipComment()
            } else if character == "\"" || character == "#" && isText {
                skipText()
            } else if character == "_" || character.isLetter || character == "`" {
                readName()
            } else {
                if isInterpolation, character == ")", depth == 0 { return }
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                if !character.isWhitespace { words.append((.mark(character), line)) }
                skip()
            }
        }
    }

    private mutating func readName() {
        let begin = line
        var name = ""
        while let character = next,
            character == "_" || character == "`" || character.isLetter || character.isNumber
        {
            if character != "`" { name.append(character) }
            skip()
        }
        words.append((.name(name), begin))
    }

    /// Comments may lie within comments.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if isAhead("/*") {
                depth += 1
                skip(2)
            } else if isAhead("*/") {
                depth -= 1
                skip(2)
            } else {
                skip()
            }
        } while depth > 0 && next != nil
    }

    /// Whether a text without escapes begins here, as in `#"text"#`.
    private var isText: Bool {
        var index = place
        while index < source.count, source[index] == "#" { index += 1 }
        return index < source.count && source[index] == "\""
    }

    private mutating func skipText() {
        var pounds = ""
        while next == "#" {
            pounds += "#"
            skip()
        }
        let isLong = isAhead("\"\"\"")
        let end = (isLong ? "\"\"\"" : "\"") + pounds
        skip(isLong ? 3 : 1)
        let escape = "\\" + pounds
        while let character = next {
            if isAhead(end) { return skip(end.count) }
            if isAhead(escape + "(") {
                skip(escape.count + 1)
                readCode(isInterpolation: true)
                skip()
            } else if isAhead(escape) {
                skip(escape.count + 1)
            } else {
                // A text of one line that isn't closed ends with the line.
                if character.isNewline, !isLong { return }
                skip()
            }
        }
    }
}

extension SwiftWords {
    /// A name with what stands around it.
    struct Use: Hashable {
        let name: String
        let line: Int
        /// The name before the dot that stands in front, empty if there is a dot without a name; nil without
        /// a dot.
        let owner: String?
        /// The labels in the parentheses that follow, `_` for an argument without one; nil without
        /// parentheses.
        let labels: [String]?
    }

    var uses: [Use] {
        words.indices.compactMap { index in
            guard case .name(let name) = words[index].word else { return nil }
            return Use(
                name: name, line: words[index].line, owner: owner(before: index), labels: labels(after: index)
            )
        }
    }

    private func word(_ index: Int) -> Word? { words.indices.contains(index) ? words[index].word : nil }

    private func owner(before index: Int) -> String? {
        guard word(index - 1) == .mark(".") else { return nil }
        if case .name(let owner)? = word(index - 2) { return owner }
        return ""
    }

    private func labels(after index: Int) -> [String]? {
        guard word(index + 1) == .mark("(") else { return nil }
        var labels: [String] = []
        var depth = 0
        var place = index + 1
        while let word = word(place) {
            if case .mark(let mark) = word {
                if "([{".contains(mark) { depth += 1 }
                if ")]}".contains(mark) { depth -= 1 }
                if depth == 0 { break }
                let isFirst = mark == "(" && depth == 1 && self.word(place + 1) != .mark(")")
                if isFirst || mark == ",", depth == 1 { labels.append(label(at: place + 1)) }
            }
            place += 1
        }
        // A block behind the parentheses is the last argument.
        if self.word(place + 1) == .mark("{") { labels.append("completion") }
        return labels
    }

    /// `label: value` in a call, `label: Type` and `label name: Type` in a declaration.
    private func label(at index: Int) -> String {
        guard case .name(let label)? = word(index) else { return "_" }
        if word(index + 1) == .mark(":") { return label }
        if case .name? = word(index + 1), word(index + 2) == .mark(":") { return label }
        return "_"
    }
}
