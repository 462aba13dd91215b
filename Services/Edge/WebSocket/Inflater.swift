import CZlib
import NIOCore

/// Decompresses messages with zlib, each by itself and into memory of a fixed size: a bomb fills the memory
/// and no more.
final class Inflater {
    enum Outcome: Equatable {
        case bytes(Int)
        case tooMany
        case damaged
    }

    /// zlib keeps the address of the stream.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit2_(
            stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib takes these settings, and fails only for want of memory")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// - Parameter memory: has space for one byte more than a message may have.
    func inflate(
        _ message: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
    ) -> Outcome {
        inflateReset(stream)
        stream.pointee.next_out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(memory.count)
        return read(message) ?? Deflater.tail.withUnsafeBytes(read)
            ?? .bytes(memory.count - Int(stream.pointee.avail_out))
    }

    /// - Returns: nil when all of it was read.
    private func read(_ chunk: UnsafeRawBufferPointer) -> Outcome? {
        // zlib declares its input as mutable, and only reads it.
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: chunk.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(chunk.count)
        while stream.pointee.avail_in > 0 {
            let status = CZlib.inflate(stream, Z_SYNC_FLUSH)
            guard stream.pointee.avail_out > 0 else { return .tooMany }
            switch status {
            case Z_OK: break
            // The sender may end the compressed data within a message, and continue with new data behind it
            // (RFC 7692, 7.2.3.4).
            case Z_STREAM_END: inflateReset(stream)
            default: return .damaged
            }
        }
        return nil
    }
}
