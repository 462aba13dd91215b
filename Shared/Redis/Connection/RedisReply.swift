import CHiredis

/// The answer of Redis to one command, copied.
package enum RedisReply: Sendable, Hashable {
    /// A bulk or simple string, as bytes: Redis has no encodings.
    case string([UInt8])
    case integer(Int)
    case array([RedisReply])
    case null
    /// Redis refused the command, for example with "NOSCRIPT No matching script.".
    case error(String)

    init(_ reply: redisReply) {
        switch reply.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .string(Self.bytes(reply))
        case REDIS_REPLY_INTEGER: self = .integer(Int(reply.integer))
        case REDIS_REPLY_ARRAY:
            self = .array((0..<reply.elements).map { reply.element[$0].map { Self($0.pointee) } ?? .null })
        case REDIS_REPLY_ERROR: self = .error(String(decoding: Self.bytes(reply), as: UTF8.self))
        default: self = .null
        }
    }

    private static func bytes(_ reply: redisReply) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: reply.str, count: reply.str == nil ? 0 : reply.len))
    }

    package var string: String? {
        if case .string(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    /// The number of an integer, or of a string of digits.
    package var number: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .string: string.flatMap { UInt64($0) }
        default: nil
        }
    }

    package var elements: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// Turns the bytes of a connection into replies, with hiredis's reader. It is confined to its owner.
final class ReplyReader {
    private let reader: UnsafeMutablePointer<redisReader>?

    init() { reader = redisReaderCreate() }

    deinit { redisReaderFree(reader) }

    /// Returns false if the bytes are not a reply; the connection can't continue then.
    func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        redisReaderFeed(reader, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count) == REDIS_OK
    }

    enum Outcome {
        case reply(RedisReply)
        case incomplete
        case malformed
    }

    func next() -> Outcome {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { return .malformed }
        guard let object else { return .incomplete }
        defer { freeReplyObject(object) }
        return .reply(RedisReply(object.assumingMemoryBound(to: redisReply.self).pointee))
    }
}
