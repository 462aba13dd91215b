import NIOCore

/// One command with its arguments, which may be any bytes.
package struct RedisCommand: Sendable {
    package private(set) var arguments: [RedisArgument]

    package init(_ arguments: RedisArgument...) { self.arguments = arguments }

    package init(_ arguments: [RedisArgument]) { self.arguments = arguments }

    /// Writes the command as an array of bulk strings (RESP2).
    func encode(into buffer: inout ByteBuffer) {
        buffer.writeString("*\(arguments.count)\r\n")
        for argument in arguments {
            switch argument {
            case .text(let text): buffer.writeString("$\(text.utf8.count)\r\n\(text)\r\n")
            case .bytes(let bytes):
                buffer.writeString("$\(bytes.count)\r\n")
                buffer.writeBytes(bytes)
                buffer.writeString("\r\n")
            }
        }
    }
}

package enum RedisArgument: Sendable, ExpressibleByStringLiteral {
    case text(String)
    case bytes([UInt8])

    package init(stringLiteral text: String) { self = .text(text) }
    package init(_ text: String) { self = .text(text) }
    package init(_ number: UInt64) { self = .text(String(number)) }
    package init(_ flag: Bool) { self = .text(flag ? "1" : "0") }
}

/// A Lua script that Redis runs as one step. Redis knows it by the hash of its text.
package final class RedisScript: Sendable {
    /// The script's name in errors.
    package let name: String
    package let source: String

    package init(name: String, source: String) {
        self.name = name
        self.source = source
    }
}
