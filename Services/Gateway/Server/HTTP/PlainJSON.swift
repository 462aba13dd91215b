/// Reads JSON as programs usually write it, several times faster than Foundation does: reading bodies was a
/// third of the work of a batch.
///
/// It never decides that a body is wrong. Whatever is unusual ends it: an unknown or repeated name, `null`,
/// `\u` in a text, a fraction, and of course what is no JSON. Then `JSONDecoder` reads the same bytes,
/// accepts or refuses them, and says why. What this reads, that decoder reads with the same result, and a
/// test compares the two.
///
/// Pure.
struct PlainJSON {
    /// The body is for the other decoder.
    struct Unusual: Error {}

    private let bytes: [UInt8]
    private var index = 0
    /// Whether an object or a list was just opened, so that no comma comes before what follows.
    private var isAtStart = false

    /// What `body` makes of a whole text; nil if the text is unusual.
    static func read<Body>(
        _ bytes: [UInt8], _ body: (inout PlainJSON) throws(Unusual) -> Body
    ) -> Body? {
        var json = PlainJSON(bytes: bytes)
        do throws(Unusual) {
            let value = try body(&json)
            json.skipSpace()
            return json.index == bytes.count ? value : nil
        } catch {
            return nil
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Objects and lists

    mutating func openObject() throws(Unusual) { try open(UInt8(ascii: "{")) }

    /// The name of the next member of the object that is open; its value has to be read next. Nil at the end.
    mutating func nextMember() throws(Unusual) -> String? {
        guard try hasMore(before: UInt8(ascii: "}")) else { return nil }
        let name = try text()
        try expect(UInt8(ascii: ":"))
        return name
    }

    /// Reads a list.
    mutating func list<Element>(
        _ element: (inout PlainJSON) throws(Unusual) -> Element
    ) throws(Unusual) -> [Element] {
        try open(UInt8(ascii: "["))
        var elements: [Element] = []
        while try hasMore(before: UInt8(ascii: "]")) { elements.append(try element(&self)) }
        return elements
    }

    private mutating func open(_ bracket: UInt8) throws(Unusual) {
        try expect(bracket)
        isAtStart = true
    }

    private mutating func hasMore(before end: UInt8) throws(Unusual) -> Bool {
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

    mutating func text() throws(Unusual) -> String {
        try expect(UInt8(ascii: "\""))
        let start = index
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\\") {
            index += 1
            if byte == UInt8(ascii: "\"") { return try Self.text(bytes[start..<index - 1]) }
        }
        return try textWithEscapes(from: start)
    }

    private mutating func textWithEscapes(from start: Int) throws(Unusual) -> String {
        var text = Array(bytes[start..<index])
        while let byte = next, byte >= 0x20 {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return try Self.text(text[...])
            case UInt8(ascii: "\\"): text.append(try escaped())
            default: text.append(byte)
            }
        }
        throw Unusual()
    }

    private mutating func escaped() throws(Unusual) -> UInt8 {
        defer { index += 1 }
        switch next {
        case UInt8(ascii: "\"")?: return UInt8(ascii: "\"")
        case UInt8(ascii: "\\")?: return UInt8(ascii: "\\")
        case UInt8(ascii: "/")?: return UInt8(ascii: "/")
        case UInt8(ascii: "n")?: return UInt8(ascii: "\n")
        case UInt8(ascii: "r")?: return UInt8(ascii: "\r")
        case UInt8(ascii: "t")?: return UInt8(ascii: "\t")
        default: throw Unusual()
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(Unusual) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Unusual() }
        return text
    }

    /// A whole number that is not negative.
    mutating func number() throws(Unusual) -> UInt64 {
        skipSpace()
        let start = index
        var number: UInt64 = 0
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
            index += 1
        }
        // With 19 digits there is no overflow, and a zero begins no other number.
        guard 1...19 ~= index - start, index - start == 1 || bytes[start] != UInt8(ascii: "0") else {
            throw Unusual()
        }
        return number
    }

    mutating func flag() throws(Unusual) -> Bool {
        skipSpace()
        for (word, value) in [("true", true), ("false", false)] where bytes[index...].starts(with: word.utf8)
        {
            index += word.utf8.count
            return value
        }
        throw Unusual()
    }

    // MARK: Bytes

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(Unusual) {
        skipSpace()
        guard next == byte else { throw Unusual() }
        index += 1
    }
}

extension Optional {
    /// Takes the value of a name that stands for the first time.
    mutating func take(_ value: Wrapped) throws(PlainJSON.Unusual) {
        guard self == nil else { throw PlainJSON.Unusual() }
        self = value
    }
}
