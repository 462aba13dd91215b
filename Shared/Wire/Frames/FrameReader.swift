package import NIOCore

/// Cuts a stream of bytes into frames: four bytes of length, big-endian, then as many bytes.
///
/// Frames are read where they arrived. Only the beginning of an incomplete frame is kept after a read, in
/// about as much memory as it has bytes, so an idle connection holds no memory here.
package struct FrameReader {
    package static let prefixLength = 4

    /// Bytes of the longest frame that is accepted, without its prefix. A longer one is refused as soon as it
    /// is announced, before any of it is kept.
    package var frameBytesMax: Int
    private var rest: ByteBuffer?
    /// A kept beginning may occupy this many times the memory that it needs.
    private static let slackMax = 2

    /// What follows a frame.
    package enum After: Sendable {
        case nextFrame
        /// The rest is kept, and read with the next chunk, which may be empty.
        case pause
        /// The rest is thrown away.
        case end
    }

    package init(frameBytesMax: Int) { self.frameBytesMax = frameBytesMax }

    /// The memory of the incomplete frame that is kept.
    package var keptBytes: Int { rest?.capacity ?? 0 }

    /// Calls `body` with each whole frame in order, until it asks to stop. The bytes are valid during the
    /// call.
    package mutating func read(
        _ chunk: consuming ByteBuffer, each body: (UnsafeRawBufferPointer) -> After
    ) throws(WireError) {
        var bytes = chunk
        if var kept = rest.take() {
            kept.writeBuffer(&bytes)
            bytes = kept
        }
        let limit = frameBytesMax
        var refusal: WireError?
        var after = After.nextFrame
        let consumed = bytes.withUnsafeReadableBytes { memory in
            Self.frames(in: memory, bytesMax: limit, refusal: &refusal, &after, each: body)
        }
        if let refusal { throw refusal }
        guard after != .end, consumed < bytes.readableBytes else { return }
        bytes.moveReaderIndex(forwardBy: consumed)
        // A pause is short, and frames that wait for its end needn't be copied each time.
        rest = after == .pause ? bytes : Self.compacted(bytes)
    }

    /// Keeps a chunk that arrives during a pause.
    package mutating func append(_ chunk: consuming ByteBuffer) {
        var chunk = chunk
        if rest?.writeBuffer(&chunk) == nil { rest = chunk }
    }

    /// A chunk's memory is much larger than what arrived in it. A connection that waits for the rest of a
    /// frame mustn't hold it.
    private static func compacted(_ bytes: ByteBuffer) -> ByteBuffer {
        guard bytes.capacity <= slackMax * bytes.readableBytes else {
            return ByteBuffer(bytes: bytes.readableBytesView)
        }
        var bytes = bytes
        bytes.discardReadBytes()
        return bytes
    }

    /// A run of whole frames without the first `count` of them.
    package static func dropFirst(_ count: Int, of frames: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var offset = 0
        for _ in 0..<count where frames.count - offset >= prefixLength {
            let length = UInt32(bigEndian: frames.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset = min(frames.count, offset + prefixLength + Int(length))
        }
        return UnsafeRawBufferPointer(rebasing: frames[offset...])
    }

    /// The first whole frames of a run, about as many bytes as that, and one frame at least.
    package static func prefix(
        ofAbout bytes: Int, of frames: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        var offset = 0
        while offset < bytes, frames.count - offset >= prefixLength {
            let length = UInt32(bigEndian: frames.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset = min(frames.count, offset + prefixLength + Int(length))
        }
        return UnsafeRawBufferPointer(rebasing: frames[..<offset])
    }

    /// Returns how many bytes were taken.
    private static func frames(
        in memory: UnsafeRawBufferPointer, bytesMax: Int, refusal: inout WireError?, _ after: inout After,
        each body: (UnsafeRawBufferPointer) -> After
    ) -> Int {
        var offset = 0
        while memory.count - offset >= prefixLength {
            let prefix = UInt32(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            let length = Int(prefix)
            guard length <= bytesMax else {
                refusal =
                    ForeignProtocol(firstBytes: prefix).map(WireError.foreign)
                    ?? .frameTooLarge(bytes: length, bytesMax: bytesMax)
                return offset
            }
            let start = offset + prefixLength
            guard memory.count - start >= length else { break }
            offset = start + length
            after = body(UnsafeRawBufferPointer(rebasing: memory[start..<offset]))
            guard after == .nextFrame else { return offset }
        }
        return offset
    }
}
