import Foundation

/// Says what is wrong with a body in the words of JSON. The decoder's own sentences name types of Swift, and
/// it calls a body "not JSON" where a number doesn't fit or a text has half a character. Pure.
enum BodyProblem {
    static func sentence(_ error: DecodingError, _ body: [UInt8]) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case .valueNotFound(let type, let context):
            "\(place(context.codingPath)) is null, and has to be \(noun(type))"
        case .typeMismatch(let type, let context): "\(place(context.codingPath)) has to be \(noun(type))"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: unreadable(body)
        case .dataCorrupted(let context):
            "\(place(context.codingPath)) \(flaw(at: context.codingPath, of: body))"
        @unknown default: "the body can't be read"
        }
    }

    static func place(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "the body" }
        let text = path.reduce("") { text, key in
            if let index = key.intValue { return "\(text)[\(index)]" }
            return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
        }
        return "\"\(text)\""
    }

    /// Of the texts in bodies only those of bytes have a form that can be wrong.
    private static func flaw(at path: [any CodingKey], of body: [UInt8]) -> String {
        let whole = try? JSONSerialization.jsonObject(with: Data(body))
        let value = path.reduce(whole) { value, key in
            guard let index = key.intValue else { return (value as? [String: Any])?[key.stringValue] }
            return (value as? [Any]).flatMap { $0.indices.contains(index) ? $0[index] : nil }
        }
        return switch value {
        case is String: "is not Base64"
        case let number as NSNumber: "is \(number), which is outside its range"
        default: "can't be read"
        }
    }

    private static func noun(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is any Sequence.Type where "\(type)".hasPrefix("Dictionary"): "an object"
        case is any Sequence.Type: "a list"
        default: "an object"
        }
    }

    /// The decoder gives no cause for these.
    static func unreadable(_ body: [UInt8]) -> String {
        guard String(validating: body, as: UTF8.self) != nil else { return "the body is not UTF-8" }
        if let half = halfCharacter(in: body) {
            return "a text has half a character, \(half): UTF-16 writes it as two halves, one after the other"
        }
        // A tree of values takes some hundred times as many bytes as their text.
        guard body.count <= readBytesMax else {
            return "the body is not JSON, or a number in it is outside its range"
        }
        guard let value = try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed)
        else {
            return "the body is not JSON, or it has a number beyond 10^308 or more than 512 levels"
        }
        let numbers = oddNumbers(in: value, at: "").sorted().prefix(numbersMax)
        guard !numbers.isEmpty else { return "a value of the body is outside its range" }
        return "a number doesn't fit, because it has a fraction, a sign or too many digits: "
            + numbers.joined(separator: ", ")
    }

    /// An escape that is one of two halves without the other.
    private static func halfCharacter(in body: [UInt8]) -> String? {
        func escape(at start: Int) -> (unit: UInt16, text: String)? {
            guard start + 6 <= body.count, body[start] == UInt8(ascii: "\\"),
                body[start + 1] == UInt8(ascii: "u")
            else { return nil }
            let text = String(decoding: body[start..<start + 6], as: UTF8.self)
            return UInt16(text.dropFirst(2), radix: 16).map { ($0, text) }
        }
        var place = 0
        while let next = body[place...].firstIndex(of: UInt8(ascii: "\\")) {
            guard let first = escape(at: next), UTF16.isSurrogate(first.unit) else {
                place = min(next + 2, body.count)
                continue
            }
            // The first half is below the second.
            guard first.unit < 0xDC00, let second = escape(at: next + 6), second.unit >= 0xDC00,
                UTF16.isSurrogate(second.unit)
            else { return first.text }
            place = next + 12
        }
        return nil
    }

    /// Limit: numbers in one sentence.
    private static let numbersMax = 3

    /// Limit: bytes of a body whose numbers are looked at.
    private static let readBytesMax = 65_536

    /// The numbers that don't fit everywhere, with their places.
    private static func oddNumbers(in value: Any, at place: String) -> [String] {
        switch value {
        case let object as [String: Any]:
            object.flatMap { oddNumbers(in: $1, at: place.isEmpty ? $0 : "\(place).\($0)") }
        case let list as [Any]:
            list.enumerated().flatMap { oddNumbers(in: $1, at: "\(place)[\($0)]") }
        case let number as NSNumber where UInt32(exactly: number.doubleValue) == nil:
            ["\"\(place)\" is \(number)"]
        default: []
        }
    }
}
