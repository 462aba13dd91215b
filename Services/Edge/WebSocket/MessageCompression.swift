package import NIOCore
import NIOWebSocket

/// The compression that all WebSockets of an event loop use in turn (RFC 7692): what zlib needs is there
/// once, however many connections there are. NIO's handlers compress bodies of HTTP and nothing else.
package final class MessageCompression {
    /// A shorter message is sent as it is. Little can be saved on it, and most of that goes for the ends of
    /// the compressed data.
    package static let bytesMin = 128

    private let inflater = Inflater()
    private let inflated: UnsafeMutableRawBufferPointer
    private var deflaters: [Int: Deflater] = [:]
    private var deflated = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// All subscribers of a channel get the same bytes one after the other, so these are compressed once.
    private var latest: Latest?

    private struct Latest {
        let message: ByteBuffer
        let windowBits: Int
        /// Nil if the message is better sent as it is.
        let compressed: ByteBuffer?
    }

    /// - Parameter messageBytesMax: the longest message that clients may send.
    package init(messageBytesMax: Int) {
        inflated = .allocate(byteCount: messageBytesMax + 1, alignment: 1)
    }

    deinit {
        inflated.deallocate()
        deflated.deallocate()
    }

    /// The message, compressed; nil if it is better sent as it is.
    package func deflate(_ message: ByteBuffer, windowBits: Int) -> ByteBuffer? {
        guard message.readableBytes >= Self.bytesMin else { return nil }
        if let latest, latest.windowBits == windowBits, latest.message == message {
            return latest.compressed
        }
        let compressed = compress(message, windowBits)
        latest = Latest(message: message, windowBits: windowBits, compressed: compressed)
        return compressed
    }

    private func compress(_ message: ByteBuffer, _ windowBits: Int) -> ByteBuffer? {
        growMemory(to: message.readableBytes)
        let memory = UnsafeMutableRawBufferPointer(rebasing: deflated[..<message.readableBytes])
        let deflater = deflater(windowBits)
        let length = message.withUnsafeReadableBytes { deflater.deflate($0, into: memory) }
        return length.map { ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: memory[..<$0])) }
    }

    private func growMemory(to count: Int) {
        guard deflated.count < count else { return }
        deflated.deallocate()
        deflated = .allocate(byteCount: count, alignment: 1)
    }

    private func deflater(_ windowBits: Int) -> Deflater {
        if let present = deflaters[windowBits] { return present }
        let deflater = Deflater(windowBits: windowBits)
        deflaters[windowBits] = deflater
        return deflater
    }

    /// The message that a client has compressed.
    func inflate(_ message: ByteBuffer) throws(WebSocketViolation) -> ByteBuffer {
        switch message.withUnsafeReadableBytes({ inflater.inflate($0, into: inflated) }) {
        case .bytes(let count):
            return ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: inflated[..<count]))
        case .tooMany:
            throw .tooLarge(bytesMax: inflated.count - 1)
        case .damaged:
            throw WebSocketViolation(
                .dataInconsistentWithMessage, "a compressed message could not be decompressed")
        }
    }
}
