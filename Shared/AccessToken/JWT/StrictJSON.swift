import Foundation
import RTMModel

/// JSON in which no object has a name twice. Foundation takes the first of two, and RFC 7519 demands the last
/// or a refusal: readers that differ would disagree on what was signed.
enum StrictJSON {
    /// - Throws: what `JSONDecoder` throws, and `.invalidToken` (-10005) for a name that stands twice.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: [UInt8]) throws -> Value {
        let value = try JSONDecoder().decode(type, from: Data(json))
        // Foundation also reads UTF-16 and UTF-32, in which every second byte or more is zero.
        guard !json.contains(0) else { throw CocoaError(.propertyListReadCorrupt) }
        if let name = doubledName(in: json) {
            throw RTMError(.invalidToken, "the token is ambiguous: it has the name \(name.quoted) twice")
        }
        return value
    }

    /// - Parameter json: valid JSON.
    private static func doubledName(in json: [UInt8]) -> String? {
        // The names of each object that is open; an array has none.
        var open: [Set<String>] = []
        var rest = json[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append([])
            case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
            case UInt8(ascii: "\""):
                let text = takeText(&rest)
                let next = rest.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                guard next == UInt8(ascii: ":") else { continue }
                if !open[open.count - 1].insert(text).inserted { return text }
            default: break
            }
        }
        return nil
    }

    /// Takes the rest of a text, behind its first quotation mark.
    private static func takeText(_ rest: inout ArraySlice<UInt8>) -> String {
        var text: [UInt8] = [UInt8(ascii: "\"")]
        while let byte = rest.popFirst() {
            text.append(byte)
            if byte == UInt8(ascii: "\\") {
                text.append(rest.popFirst() ?? 0)
            } else if byte == UInt8(ascii: "\"") {
                break
            }
        }
        // An escape may spell what another name says without one.
        return (try? JSONDecoder().decode(String.self, from: Data(text))) ?? ""
    }
}
