import RTMModel

/// Reads numbers, texts and maps from bytes that were not verified yet.
///
/// It takes no more memory than the bytes justify: a count is believed only one element at a time.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// - Parameter what: what is read, for the sentence of the refusal.
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ what: String
    ) throws(RTMError) -> Number {
        var number: Number = 0
        for (place, byte) in try take(Number.bitWidth / 8, what).enumerated() {
            number |= Number(byte) << (8 * place)
        }
        return number
    }

    mutating func bytes(_ what: String) throws(RTMError) -> ArraySlice<UInt8> {
        let count: UInt16 = try number(what)
        return try take(Int(count), what)
    }

    mutating func text(_ what: String) throws(RTMError) -> String {
        guard let text = String(validating: try bytes(what), as: UTF8.self) else {
            throw RTMError(.invalidToken, "the token is damaged: \(what) is not UTF-8 text")
        }
        return text
    }

    mutating func list<Element>(
        _ what: String, _ element: (inout ByteReader) throws(RTMError) -> Element
    ) throws(RTMError) -> [Element] {
        let count: UInt16 = try number(what)
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try element(&self)) }
        return elements
    }

    /// Reads a map. A key that occurs twice is refused: readers that take the first and readers that take the
    /// last one would disagree on what was signed.
    mutating func map<Value>(
        _ what: String, _ value: (inout ByteReader) throws(RTMError) -> Value
    ) throws(RTMError) -> [UInt16: Value] {
        let count: UInt16 = try number(what)
        var values: [UInt16: Value] = [:]
        for _ in 0..<count {
            let key: UInt16 = try number(what)
            guard values.updateValue(try value(&self), forKey: key) == nil else {
                throw RTMError(.invalidToken, "the token is ambiguous: \(what) have number \(key) twice")
            }
        }
        return values
    }

    private mutating func take(_ count: Int, _ what: String) throws(RTMError) -> ArraySlice<UInt8> {
        guard count <= rest.count else {
            throw RTMError(.invalidToken, "the token is cut off within \(what)")
        }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

/// Writes numbers, texts and maps.
///
/// A length beyond 16 bits would be written wrong. `SignedToken.bytesMax` refuses such a token as a whole,
/// because its bytes are counted.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func number(_ number: some FixedWidthInteger & UnsignedInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func count(_ count: Int) { number(UInt16(truncatingIfNeeded: count)) }

    mutating func text(_ text: String) {
        count(text.utf8.count)
        bytes += text.utf8
    }

    mutating func map<Value>(_ values: [UInt16: Value], _ write: (inout ByteWriter, Value) -> Void) {
        count(values.count)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            number(key)
            write(&self, value)
        }
    }
}
