import Foundation
import Hummingbird
import NIOCore
import RTMAccessToken
import RTMModel

/// A body of a request. A key that it doesn't have is refused: a misspelt option must not be passed over.
protocol APIBody: Decodable, Sendable {
    associatedtype CodingKeys: CodingKey & CaseIterable

    /// The body, if it is one that comes often and is written as usual; nil leaves it to the decoder.
    static func plain(_ bytes: [UInt8]) throws(APIError) -> Self?

    /// How many of them a list may have, and the refusal of a longer one.
    static var listRefusal: (countMax: Int, error: APIError) { get }

    /// How many objects and lists are open where the body has payloads that may be JSON; nil if it has none.
    static var payloadDepth: Int? { get }
}

extension APIBody {
    static func plain(_ bytes: [UInt8]) throws(APIError) -> Self? { nil }
    static var payloadDepth: Int? { nil }

    static var listRefusal: (countMax: Int, error: APIError) {
        let countMax = 16_384
        return (countMax, APIError(.badRequest, "invalidBody", "a list has at most \(countMax) elements"))
    }
}

extension Request {
    /// Making one costs more than decoding a short body.
    static let decoder = JSONDecoder()

    /// Reads a JSON body that nobody pays for, because nobody has said yet who calls.
    ///
    /// - Throws: 413 for a long one, 400 for anything that isn't the body, with the place.
    func body<Body: APIBody>(_ type: Body.Type, upTo bytesMax: Int) async throws -> Body {
        try Self.decodeNamed(type, from: Array(try await bytes(upTo: bytesMax).readableBytesView))
    }

    /// Decodes a body, and says in words what is wrong with it.
    @Sendable static func decodeNamed<Body: APIBody>(
        _ type: Body.Type, from bytes: [UInt8]
    ) throws -> Body {
        do {
            return try Self.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw APIError(.badRequest, "invalidBody", BodyProblem.sentence(error, bytes))
        }
    }

    static func decode<Body: APIBody>(_ type: Body.Type, from bytes: [UInt8]) throws -> Body {
        if let body = try type.plain(bytes) { return body }
        return try decodeStrictly(type, from: bytes)
    }

    /// Any body, and why it is refused.
    static func decodeStrictly<Body: APIBody>(_ type: Body.Type, from bytes: [UInt8]) throws -> Body {
        try checkIsUnambiguous(bytes)
        guard let depth = type.payloadDepth else {
            return try decoder.decode(Strict<Body>.self, from: Data(bytes)).body
        }
        let texts: [UInt8]
        do throws(JSONPayloads.NotJSON) {
            texts = try JSONPayloads.asTexts(bytes, atDepth: depth)
        } catch {
            throw APIError(.badRequest, "invalidBody", BodyProblem.unreadable(error.payload))
        }
        return try decoder.decode(Strict<Body>.self, from: Data(texts)).body
    }

    /// - Throws: 400 for what two readers of JSON could read in two ways.
    static func checkIsUnambiguous(_ bytes: [UInt8]) throws(APIError) {
        guard let problem = StrictJSON.ambiguity(in: bytes) else { return }
        throw APIError(.badRequest, "invalidBody", "the body \(problem)")
    }

    /// The whole body.
    ///
    /// - Parameter take: called before more of it is kept.
    func bytes(
        upTo bytesMax: Int, _ take: (_ bytes: Int) throws -> Void = { _ in }
    ) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await chunk in body {
            guard bytes.readableBytes + chunk.readableBytes <= bytesMax else {
                throw APIError(.contentTooLarge, "bodyTooLong", "a body has at most \(bytesMax) bytes")
            }
            try take(chunk.readableBytes)
            bytes.writeImmutableBuffer(chunk)
        }
        return bytes
    }

    /// - Parameter names: those that the path knows.
    func query(_ names: Set<String>) throws(APIError) -> Query { try Query(uri.query ?? "", names) }
}

/// The query of a request, decoded as forms are: `+` is a space. As in a body, a misspelt name is refused.
struct Query: Sendable, Equatable {
    private var values: [String: String] = [:]

    init(_ text: String, _ names: Set<String>) throws(APIError) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count == 2 ? parts[1] : "")
            else { throw APIError(.badRequest, "invalidQuery", "the query is not URL-encoded UTF-8") }
            guard names.contains(name) else {
                let known = names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
                let advice = names.isEmpty ? "this path takes none" : "there are \(known)"
                throw APIError(.badRequest, "invalidQuery", "there is no parameter \"\(name)\"; \(advice)")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw APIError(.badRequest, "invalidQuery", "\"\(name)\" is there twice")
            }
        }
    }

    private static func decode(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    subscript(_ name: String) -> String? { values[name] }

    /// A whole number.
    func number<Number: FixedWidthInteger>(_ name: String, default value: Number) throws(APIError) -> Number {
        guard let text = self[name] else { return value }
        guard let number = Number(text) else {
            throw APIError(
                .badRequest, "invalidQuery",
                "\"\(name)\" is a whole number from \(Number.min) to \(Number.max)")
        }
        return number
    }

    func flag(_ name: String) throws(APIError) -> Bool {
        switch self[name] {
        case "true": true
        case "false", nil: false
        default: throw APIError(.badRequest, "invalidQuery", "\"\(name)\" is true or false")
        }
    }

    /// What `type` names.
    var channelType: ChannelType {
        get throws(APIError) {
            switch self["type"] ?? "message" {
            case "message": return .message
            case "stream": return .stream
            default: throw APIError(.badRequest, "invalidQuery", "\"type\" is message or stream")
            }
        }
    }

    /// The message or stream channel that `channel` and `type` name.
    func channel(of client: APIClient) throws(APIError) -> ChannelKey {
        guard let name = self["channel"] else {
            throw APIError(.badRequest, "invalidQuery", "\"channel\" is missing")
        }
        let channel = ChannelKey(appID: client.app, type: try channelType, name: name)
        try client.check(channel)
        return channel
    }
}

extension GatewayContext {
    /// A piece of the path, decoded. A slash in a name is written as `%2F`.
    func parameter(_ name: String) throws(APIError) -> String {
        guard let text = parameters.get(name),
            let decoded = text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : text,
            !decoded.isEmpty
        else { throw APIError(.badRequest, "invalidPath", "the path is not URL-encoded UTF-8") }
        return decoded
    }
}

/// Decodes a body that has no unknown keys.
struct Strict<Body: APIBody>: Decodable, Sendable {
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
            let place = BodyProblem.place(decoder.codingPath + [key])
            throw APIError(
                .badRequest, "invalidBody",
                "\(place): there is no key \"\(key.stringValue)\"; there are \(known)")
        }
        body = try Body(from: decoder)
    }
}

/// A list whose elements have no unknown keys either.
struct StrictList<Element: APIBody>: Decodable, Sendable {
    let elements: [Element]

    init(_ elements: [Element]) { self.elements = elements }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let (countMax, refusal) = Element.listRefusal
        if let count = container.count, count > countMax { throw refusal }
        var elements: [Element] = []
        while !container.isAtEnd { elements.append(try container.decode(Strict<Element>.self).body) }
        self.elements = elements
    }
}

extension StrictList: Equatable where Element: Equatable {}
