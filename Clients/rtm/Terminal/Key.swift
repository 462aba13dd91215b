// The input of a terminal in raw mode, as keys. Keys that aren't characters come as sequences that begin with
// ESC, and a read may cut a sequence or a character anywhere.

/// A key, as the line editor knows it.
enum Key: Sendable, Hashable {
    case character(Character)
    case enter
    case backspace, delete
    case left, right, wordLeft, wordRight, home, end
    case up, down
    case eraseWord, eraseToStart, eraseToEnd
    case redraw
    /// Ctrl-C.
    case interrupt
    /// Ctrl-D.
    case endOfInput
}

/// Turns the bytes of a terminal into keys.
struct KeyDecoder: Sendable {
    /// Limit: bytes of a sequence. No terminal sends a longer one; longer input is dropped.
    private static let sequenceBytesMax = 32

    /// The beginning of a sequence or character whose rest is still to come.
    private var pending: [UInt8] = []

    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] { bytes.compactMap { decode($0) } }

    private mutating func decode(_ byte: UInt8) -> Key? {
        guard let first = pending.first else { return begin(byte) }
        guard first == 0x1B || byte & 0xC0 == 0x80 else {
            // The character broke off, so this byte begins a new one.
            pending = []
            return begin(byte)
        }
        pending.append(byte)
        let (key, isComplete) = first == 0x1B ? Self.sequence(pending) : Self.character(pending)
        if isComplete || pending.count >= Self.sequenceBytesMax { pending = [] }
        return key
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B, 0xC2...0xF4:
            pending = [byte]
            return nil
        case 0x20...0x7E: return .character(Character(UnicodeScalar(byte)))
        default: return Self.control(byte)
        }
    }

    private static func control(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x01: .home
        case 0x02: .left
        case 0x03: .interrupt
        case 0x04: .endOfInput
        case 0x05: .end
        case 0x06: .right
        case 0x08, 0x7F: .backspace
        case 0x09: .character(" ")
        case 0x0A, 0x0D: .enter
        case 0x0B: .eraseToEnd
        case 0x0C: .redraw
        case 0x0E: .down
        case 0x10: .up
        case 0x15: .eraseToStart
        case 0x17: .eraseWord
        default: nil
        }
    }

    private static func character(_ bytes: [UInt8]) -> (Key?, isComplete: Bool) {
        let length = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
        guard bytes.count == length else { return (nil, false) }
        let key = String(validating: bytes, as: UTF8.self)?.first.map(Key.character)
        return (key, true)
    }

    private static func sequence(_ bytes: [UInt8]) -> (Key?, isComplete: Bool) {
        let introducer = bytes[1]
        guard introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
            return (altKeys[introducer], true)
        }
        // The sequence has parameters, then one final byte.
        guard bytes.count > 2, let last = bytes.last, (0x40...0x7E).contains(last) else {
            return (nil, false)
        }
        let text = String(decoding: bytes.dropFirst(2), as: UTF8.self)
        return (sequenceKeys[text], true)
    }

    private static let altKeys: [UInt8: Key] = [
        UInt8(ascii: "b"): .wordLeft, UInt8(ascii: "f"): .wordRight, 0x7F: .eraseWord, 0x08: .eraseWord,
    ]

    private static let sequenceKeys: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end,
        "1~": .home, "7~": .home, "4~": .end, "8~": .end, "3~": .delete,
        "1;5C": .wordRight, "1;3C": .wordRight, "1;5D": .wordLeft, "1;3D": .wordLeft,
    ]
}
