import CZlib
import NIOCore

/// Compresses messages with zlib, each by itself.
final class Deflater {
    /// A message has to wait for its compression, and so have all clients of the event loop. The fastest
    /// level saves most of what the best one saves.
    private static let level: Int32 = 1
    private static let memoryLevel: Int32 = 8
    /// Every flush ends with these bytes, which are not sent (RFC 7692, 7.2.1).
    static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]

    /// zlib keeps the address of the stream.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter windowBits: 9 to 15.
    init(windowBits: Int) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Self.level, Z_DEFLATED, -Int32(windowBits), Self.memoryLevel, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib takes these settings, and fails only for want of memory")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Writes the compressed message into the memory.
    ///
    /// - Returns: its length; nil if it doesn't fit.
    func deflate(_ message: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        deflateReset(stream)
        // zlib declares its input as mutable, and only reads it.
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: message.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(message.count)
        stream.pointee.next_out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(memory.count)
        let status = CZlib.deflate(stream, Z_SYNC_FLUSH)
        // The flush is complete only if there is space behind it.
        guard status == Z_OK, stream.pointee.avail_in == 0, stream.pointee.avail_out > 0 else { return nil }
        return memory.count - Int(stream.pointee.avail_out) - Self.tail.count
    }
}
