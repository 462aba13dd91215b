package import NIOCore

/// One command with its arguments, which may be any bytes.
package struct RedisCommand: Sendable {
    enum Content: Sendable {
        case plain([RedisArgument])
        case script(RedisScript, keys: [String], [RedisArgument])
    }

    let content: Content

    package init(_ arguments: RedisArgument...) { self.init(arguments) }

    package init(_ arguments: [RedisArgument]) { content = .plain(arguments) }

    /// Runs a script. All its keys lie in one slot, so they share a hash tag.
    package init(_ script: RedisScript, keys: [String], _ arguments: [RedisArgument]) {
        content = .script(script, keys: keys, arguments)
    }

    /// The key that decides which master gets the command; nil if the command has none.
    var key: String? {
        switch content {
        case .plain(let arguments): if arguments.count > 1 { arguments[1].textOrNil } else { nil }
        case .script(_, let keys, _): keys.first
        }
    }

    /// The script, which the server may have forgotten.
    var script: RedisScript? {
        if case .script(let script, _, _) = content { script } else { nil }
    }

    /// Writes the command as an array of bulk strings (RESP2).
    ///
    /// - Parameters:
    ///   - server: what `RedisArgument.server` stands for.
    ///   - hash: under which the server knows the script; nil if it gets the text.
    func encode(into buffer: inout ByteBuffer, server: ServerFacts, hash: String?) {
        switch content {
        case .plain(let arguments):
            buffer.writeString("*\(arguments.count)\r\n")
            for argument in arguments { argument.encode(into: &buffer, server: server) }
        case .script(let script, let keys, let arguments):
            buffer.writeString("*\(3 + keys.count + arguments.count)\r\n")
            RedisArgument.encode(hash == nil ? "EVAL" : "EVALSHA", into: &buffer)
            RedisArgument.encode(hash ?? script.source, into: &buffer)
            RedisArgument.encode("\(keys.count)", into: &buffer)
            for key in keys { RedisArgument.encode(key, into: &buffer) }
            for argument in arguments { argument.encode(into: &buffer, server: server) }
        }
    }
}

package enum RedisArgument: Sendable, ExpressibleByStringLiteral {
    case text(String)
    case bytes([UInt8])
    case buffer(ByteBuffer)
    /// Stands for what the server that gets the command says about itself.
    case server(ServerFact)

    package init(stringLiteral text: String) { self = .text(text) }
    package init(_ text: String) { self = .text(text) }
    package init(_ number: UInt64) { self = .text(String(number)) }
    package init(_ flag: Bool) { self = .text(flag ? "1" : "0") }

    fileprivate var textOrNil: String? {
        if case .text(let text) = self { text } else { nil }
    }

    fileprivate func encode(into buffer: inout ByteBuffer, server: ServerFacts) {
        switch self {
        case .text(let text): Self.encode(text, into: &buffer)
        case .server(let fact): Self.encode(server[fact], into: &buffer)
        case .bytes(let bytes):
            buffer.writeString("$\(bytes.count)\r\n")
            buffer.writeBytes(bytes)
            buffer.writeString("\r\n")
        case .buffer(let bytes):
            buffer.writeString("$\(bytes.readableBytes)\r\n")
            buffer.writeImmutableBuffer(bytes)
            buffer.writeString("\r\n")
        }
    }

    fileprivate static func encode(_ text: String, into buffer: inout ByteBuffer) {
        buffer.writeString("$\(text.utf8.count)\r\n\(text)\r\n")
    }
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
