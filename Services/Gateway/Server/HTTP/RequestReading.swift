import Foundation
import Hummingbird
import NIOCore
import RTMModel

/// A body of a request. A key that it doesn't have is refused: a misspelt option must not be passed over.
protocol APIBody: Decodable, Sendable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

extension Request {
    /// Reads a JSON body.
    ///
    /// - Throws: 413 for a long one, 400 for anything that isn't the body, with the place.
    func body<Body: APIBody>(_ type: Body.Type, upTo bytesMax: Int) async throws -> Body {
        let bytes: ByteBuffer
        do {
            bytes = try await body.collect(upTo: bytesMax)
        } catch is NIOTooManyBytesError {
            throw APIError(.contentTooLarge, "bodyTooLong", "a body has at most \(bytesMax) bytes")
        }
        do {
            return try JSONDecoder().decode(Strict<Body>.self, from: Data(bytes.readableBytesView)).body
        } catch let error as DecodingError {
            throw APIError(.badRequest, "invalidBody", error.sentence)
        }
    }

    /// A value of the query.
    func query(_ name: String) -> String? { uri.queryParameters[Substring(name)].map(String.init) }

    /// A whole number of the query.
    func number<Number: FixedWidthInteger>(_ name: String, default value: Number) throws(APIError) -> Number {
        guard let text = query(name) else { return value }
        guard let number = Number(text) else {
            throw APIError(.badRequest, "invalidQuery", "\"\(name)\" is a whole number")
        }
        return number
    }
}

/// Decodes a body that has no unknown keys.
private struct Strict<Body: APIBody>: Decodable {
    let body: Body

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        for key in container.allKeys where Body.CodingKeys(stringValue: key.stringValue) == nil {
            let known = Body.CodingKeys.allCases.map { "\"\($0.stringValue)\"" }.joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container,
                debugDescription: "there is no key \"\(key.stringValue)\"; there are \(known)")
        }
        body = try Body(from: decoder)
    }
}

/// A list whose elements have no unknown keys either.
struct StrictList<Element: APIBody>: Decodable, Sendable {
    let elements: [Element]

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var elements: [Element] = []
        while !container.isAtEnd { elements.append(try container.decode(Strict<Element>.self).body) }
        self.elements = elements
    }
}

extension DecodingError {
    /// What is wrong with a body, in words.
    fileprivate var sentence: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.place(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(Self.place(context.codingPath)) has no value"
        case .typeMismatch(_, let context):
            "\(Self.place(context.codingPath)) has another type: \(context.debugDescription)"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "the body is not JSON: \(context.debugDescription)"
                : "\(Self.place(context.codingPath)): \(context.debugDescription)"
        @unknown default: "the body can't be read"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.reduce("") { text, key in
            if let index = key.intValue { return "\(text)[\(index)]" }
            return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
        }
        return "\"\(text)\""
    }
}
