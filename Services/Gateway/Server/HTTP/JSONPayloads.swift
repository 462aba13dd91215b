import Foundation
import RTMModel

/// The payload of a message as a body has it: a text, or an object or a list, whose JSON is published as a
/// text just as it was written, with every digit of its numbers (W-84).
struct TextPayload: Decodable, Equatable, Sendable {
    let text: String
    var isJSON = false

    /// What subscribers get to see as the custom type of JSON, if the message has none of its own.
    static let customType = "application/json"

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
        do {
            text = try decoder.singleValueContainer().decode(String.self)
        } catch {
            // `JSONPayloads` has written a list of one text.
            guard var list = try? decoder.unkeyedContainer(), list.count == 1 else { throw error }
            (text, isJSON) = (try list.decode(String.self), true)
        }
    }
}

/// Finds the payloads in a body that are objects or lists. The decoder would give their values and not what
/// was written: names in another order, and numbers with other digits. So it gets a list with their JSON as a
/// text.
///
/// Pure.
enum JSONPayloads {
    struct NotJSON: Error { let payload: [UInt8] }

    private static let name = "message"

    /// Only payloads are looked at, each by itself, because Foundation needs several hundred bytes for each
    /// object in a tree of values. The decoder reads the rest, and refuses it where it isn't JSON.
    ///
    /// - Parameter depth: how many objects and lists are open where a message has its members.
    /// - Throws: the payload that isn't JSON. One that is longer than a message may be isn't looked at.
    static func asTexts(_ bytes: [UInt8], atDepth depth: Int) throws(NotJSON) -> [UInt8] {
        var result: [UInt8] = []
        var (index, copied, open) = (0, 0, 0)
        while index < bytes.count {
            let start = index
            index = next(after: start, in: bytes)
            open += change(bytes[start])
            guard bytes[start] == UInt8(ascii: "\""), open == depth,
                let value = value(after: index, in: bytes), isName(bytes[start..<index])
            else { continue }
            index = end(ofValue: value, in: bytes)
            try check(bytes[value..<index])
            result += bytes[copied..<value]
            result += "[".utf8
            var writer = JSONWriter(capacity: index - value)
            writer.text(String(decoding: bytes[value..<index], as: UTF8.self))
            result += writer.bytes
            result += "]".utf8
            copied = index
        }
        return copied == 0 ? bytes : result + bytes[copied...]
    }

    /// An escape may spell the name, too.
    private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.contains(UInt8(ascii: "\\")) else {
            return text.dropFirst().dropLast().elementsEqual(name.utf8)
        }
        return (try? JSONDecoder().decode(String.self, from: Data(text))) == name
    }

    private static func check(_ payload: ArraySlice<UInt8>) throws(NotJSON) {
        guard payload.count <= Limits.messageBytesMax,
            (try? JSONSerialization.jsonObject(with: Data(payload))) == nil
        else { return }
        throw NotJSON(payload: Array(payload))
    }

    /// The place behind one byte, or behind the text that begins here.
    private static func next(after start: Int, in bytes: [UInt8]) -> Int {
        guard bytes[start] == UInt8(ascii: "\"") else { return start + 1 }
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func change(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): -1
        default: 0
        }
    }

    /// Where the object or list of a name begins; nil for any other value.
    private static func value(after name: Int, in bytes: [UInt8]) -> Int? {
        let value = bytes[name...].firstIndex { !" \n\r\t:".utf8.contains($0) }
        return value.flatMap { change(bytes[$0]) == 1 ? $0 : nil }
    }

    private static func end(ofValue start: Int, in bytes: [UInt8]) -> Int {
        var (index, open) = (start, 0)
        repeat {
            open += change(bytes[index])
            index = next(after: index, in: bytes)
        } while open > 0 && index < bytes.count
        return index
    }
}
