/// Writes JSON piece by piece, for the answers to messages: Foundation's encoder took a fifth of the time of
/// a batch. Members are written in the order in which they are given; as in all answers, that is the order of
/// their names.
///
/// Pure.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// Whether a comma comes before what is written next.
    private var isAfterValue = false

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    // MARK: Objects and lists

    mutating func object(_ members: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        members(&self)
        close(UInt8(ascii: "}"))
    }

    mutating func list<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        open(UInt8(ascii: "["))
        for element in elements { write(element, &self) }
        close(UInt8(ascii: "]"))
    }

    /// - Parameter name: one that needs no escapes.
    mutating func name(_ name: StaticString) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes += $0 }
        bytes += "\":".utf8
        isAfterValue = false
    }

    private mutating func open(_ bracket: UInt8) {
        beginValue()
        bytes.append(bracket)
        isAfterValue = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        isAfterValue = true
    }

    private mutating func beginValue() {
        if isAfterValue { bytes.append(UInt8(ascii: ",")) }
        isAfterValue = true
    }

    // MARK: Values

    mutating func number(_ number: UInt64) {
        beginValue()
        let start = bytes.count
        var rest = number
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes.withUnsafeMutableBufferPointer { $0[start...].reverse() }
    }

    mutating func flag(_ flag: Bool) {
        beginValue()
        bytes += flag ? "true".utf8 : "false".utf8
    }

    mutating func text(_ text: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                bytes += "\\u00".utf8
                bytes += [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a value that is JSON already.
    mutating func value(_ json: String) {
        beginValue()
        bytes += json.utf8
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
