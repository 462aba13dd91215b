import Foundation
import RTMModel

/// JSON that every reader reads in the same way. Foundation takes the first of two equal names, where RFC
/// 7519 demands the last or a refusal, and reads UTF-16 and a comma behind the last element: readers that
/// differ would disagree on what was signed, or on what a proxy has let through.
package enum StrictJSON {
    /// - Throws: what `JSONDecoder` throws, and `.invalidToken` (-10005) for what is ambiguous.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: [UInt8]) throws -> Value {
        let value = try JSONDecoder().decode(type, from: Data(json))
        // Foundation also reads UTF-16 and UTF-32, in which every second byte or more is zero.
        guard !json.contains(0) else { throw CocoaError(.propertyListReadCorrupt) }
        if let problem = ambiguity(in: json) {
            throw RTMError(.invalidToken, "the token is ambiguous: it \(problem)")
        }
        return value
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Why readers may differ, as a clause that follows "the text"; nil if they don't, and for what is no
    /// JSON in any reader's eyes.
    package static func ambiguity(in json: [UInt8]) -> String? {
        guard !json.contains(0), !json.starts(with: byteOrderMark) else {
            return "is not UTF-8 without a byte order mark"
        }
        // The names of each object that is open; an array has none.
        var open: [Set<ArraySlice<UInt8>>] = []
        var rest = json[...]
        var isBehindComma = false
        while let byte = rest.popFirst() {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append([])
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if isBehindComma { return "has a comma behind its last element" }
                _ = open.popLast()
            case UInt8(ascii: "\""):
                let text = takeText(&rest)
                let next = rest.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                if next == UInt8(ascii: ":"), !open.isEmpty {
                    let name = plain(text)
                    guard open[open.count - 1].insert(name).inserted else {
                        return "has the name \(String(decoding: name, as: UTF8.self).quoted) twice"
                    }
                }
            default: break
            }
            isBehindComma = byte == UInt8(ascii: ",")
        }
        return nil
    }

    /// Takes the rest of a text, behind its first quotation mark, and returns it without the last.
    private static func takeText(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let all = rest
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                _ = rest.popFirst()
            } else if byte == UInt8(ascii: "\"") {
                return all[all.startIndex..<(rest.startIndex - 1)]
            }
        }
        return all
    }

    /// An escape may spell what another name says without one.
    private static func plain(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard text.contains(UInt8(ascii: "\\")) else { return text }
        let quoted = Data("\"".utf8) + Data(text) + Data("\"".utf8)
        return (try? JSONDecoder().decode(String.self, from: quoted)).map { ArraySlice($0.utf8) } ?? text
    }
}
