import DequeModule
import NIOCore

/// The bytes of a log's newest frames, one behind the other in a few chunks.
///
/// An append writes the bytes where they will stay, so it costs no allocation of its own: a chunk grows with
/// the channel up to `chunkBytes`, then the next one begins. Forgotten bytes are given back chunk by chunk. A
/// frame never lies in two chunks, and neither do frames that were appended together.
struct FrameTail {
    /// A chunk takes another append while it holds less than this. The value is somewhat below a power of
    /// two, because a buffer grows in powers of two.
    private static let chunkBytes = 30 * 1024

    /// The kept part of each chunk lies between its reader index and its writer index.
    private var chunks = Deque<ByteBuffer>()
    private(set) var byteCount = 0
    /// The memory of all chunks, with what is free in them and what was forgotten.
    private(set) var bytesHeld = 0

    /// Returns the bytes that `write` added.
    mutating func append(_ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
        if (chunks.last?.writerIndex ?? Self.chunkBytes) >= Self.chunkBytes { chunks.append(ByteBuffer()) }
        let last = chunks.count - 1
        let start = chunks[last].writerIndex
        bytesHeld -= chunks[last].storageCapacity
        write(&chunks[last])
        bytesHeld += chunks[last].storageCapacity
        let length = chunks[last].writerIndex - start
        byteCount += length
        return chunks[last].getSlice(at: start, length: length) ?? ByteBuffer()
    }

    mutating func removeFirst(_ length: Int) {
        byteCount -= length
        guard chunks[0].readableBytes == length else {
            return chunks[0].moveReaderIndex(forwardBy: length)
        }
        bytesHeld -= chunks[0].storageCapacity
        chunks.removeFirst()
    }

    /// Reads the newest `length` bytes. They have to begin where a frame begins.
    func last(_ length: Int) -> Reader {
        var first = chunks.count
        var rest = length
        while rest > 0 {
            first -= 1
            rest -= chunks[first].readableBytes
        }
        return Reader(chunks: chunks, chunk: first, skip: -rest)
    }

    struct Reader {
        private let chunks: Deque<ByteBuffer>
        private var chunk: Int
        private var current: ByteBuffer

        fileprivate init(chunks: Deque<ByteBuffer>, chunk: Int, skip: Int) {
            self.chunks = chunks
            self.chunk = chunk
            current = chunk < chunks.count ? chunks[chunk] : ByteBuffer()
            current.moveReaderIndex(forwardBy: skip)
        }

        /// The next frame, whose length the caller knows.
        mutating func next(_ length: Int) -> ByteBuffer {
            while current.readableBytes == 0, chunk + 1 < chunks.count {
                chunk += 1
                current = chunks[chunk]
            }
            return current.readSlice(length: length) ?? ByteBuffer()
        }
    }
}
