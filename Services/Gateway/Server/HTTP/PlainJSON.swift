/// Reads JSON as programs usually write it, several times faster than Foundation does: reading bodies was a
/// third of the work of a batch.
///
/// It never decides that a body is wrong, but for one: a list that is too long is refused where its limit is
/// reached, and the rest isn't read. Whatever is unusual ends it: an unknown or repeated name, `null`,
/// `\u` in a text, a fraction, and of course what is no JSON. Then `JSONDecoder` reads the same bytes,
/// accepts or refuses them, and says why. What this reads, that decoder reads with the same result, and a
/// test compares the two.
///
/// Pure.
struct PlainJSON {
    enum Stop: Error {
        /// The body is for the other decoder.
        case unusual
        /// A list has more elements than it may have.
        case tooLong
    }

    struct TooLong: Error {}

    private let bytes: [UInt8]
    private var index = 0
    /// Whether an object or a list was just opened, so that no comma comes before what follows.
    private var isAtStart = false

    /// What `body` makes of a whole text; nil if the text is unusual.
    static func read<Body>(
        _ bytes: [UInt8], _ body: (inout PlainJSON) throws(Stop) -> Body
    ) throws(TooLong) -> Body? {
        var json = PlainJSON(bytes: bytes)
        do throws(Stop) {
            let value = try body(&json)
            json.skipSpace()
            return json.index == bytes.count ? value : nil
        } catch {
            guard case .tooLong = error else { return nil }
            throw TooLong()
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Objects and lists

    mutating func openObject() throws(Stop) { try open(UInt8(ascii: "{")) }

    /// The name of the next member of the object that is open; its value has to be read next. Nil at the end.
    mutating func nextMember() throws(Stop) -> String? {
        guard try hasMore(before: UInt8(ascii: "}")) else { return nil }
        let name = try text()
        try expect(UInt8(ascii: ":"))
        return name
    }

    /// Reads a list of at most so many elements.
    mutating func list<Element>(
        upTo countMax: Int, _ element: (inout PlainJSON) throws(Stop) -> Element
    ) throws(Stop) -> [Element] {
        try open(UInt8(ascii: "["))
        var elements: [Element] = []
        while try hasMore(before: UInt8(ascii: "]")) {
            guard elements.count < countMax else { throw .tooLong }
            elements.append(try element(&self))
        }
        return elements
    }

    private mutating func open(_ bracket: UInt8) throws(Stop) {
        try expect(bracket)
        isAtStart = true
    }

    private mutating func hasMore(before end: UInt8) throws(Stop) -> Bool {
        defer { isAtStart = false }
        skipSpace()
        if next == end {
            index += 1
            return false
        }
        if !isAtStart { try expect(UInt8(ascii: ",")) }
        return true
    }

    // MARK: Values

    mutating func text() throws(Stop) -> String {
        try expect(UInt8(ascii: "\""))
        let start = index
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\\") {
            index += 1
            if byte == UInt8(ascii: "\"") { return try Self.text(bytes[start..<index - 1]) }
        }
        return try textWithEscapes(from: start)
    }

    private mutating func textWithEscapes(from start: Int) throws(Stop) -> String {
        var text = Array(bytes[start..<index])
        while let byte = next, byte >= 0x20 {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return try Self.text(text[...])
            case UInt8(ascii: "\\"): text.append(try escaped())
            default: text.append(byte)
            }
        }
        throw Stop.unusual
    }

    private mutating func escaped() throws(Stop) -> UInt8 {
        defer { index += 1 }
        switch next {
        case UInt8(ascii: "\"")?: return UInt8(ascii: "\"")
        case UInt8(ascii: "\\")?: return UInt8(ascii: "\\")
        case UInt8(ascii: "/")?: return UInt8(ascii: "/")
        case UInt8(ascii: "n")?: return UInt8(ascii: "\n")
        case UInt8(ascii: "r")?: return UInt8(ascii: "\r")
        case UInt8(ascii: "t")?: return UInt8(ascii: "\t")
        default: throw Stop.unusual
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(Stop) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Stop.unusual }
        return text
    }

    /// A whole number that is not negative.
    mutating func number() throws(Stop) -> UInt64 {
        skipSpace()
        let start = index
        var number: UInt64 = 0
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
            index += 1
        }
        // With 19 digits there is no overflow, and a zero begins no other number.
        guard 1...19 ~= index - start, index - start == 1 || bytes[start] != UInt8(ascii: "0") else {
            throw Stop.unusual
        }
        return number
    }

    mutating func flag() throws(Stop) -> Bool {
        skipSpace()
        for (word, value) in [("true", true), ("false", false)] where bytes[index...].starts(with: word.utf8)
        {
            index += word.utf8.count
            return value
        }
        throw Stop.unusual
    }

    // MARK: Bytes

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(Stop) {
        skipSpace()
        guard next == byte else { throw Stop.unusual }
        index += 1
    }
}

extension Optional {
    /// Takes the value of a name that stands for the first time.
    mutating func take(_ value: Wrapped) throws(PlainJSON.Stop) {
        guard self == nil else { throw PlainJSON.Stop.unusual }
        self = value
    }
}
