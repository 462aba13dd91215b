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

    /// The chunks that take no more appends, and their memory. Of each chunk, also of the open one, the kept
    /// part lies between its reader index and its writer index.
    private var full = Deque<ByteBuffer>()
    private var fullHeld = 0
    /// The chunk that takes the next append. It stands beside the others, because every append touches it.
    private var open = ByteBuffer()
    private(set) var byteCount = 0

    /// The memory of all chunks, with what is free in them and what was forgotten.
    var bytesHeld: Int { fullHeld + open.capacity }

    /// Returns the bytes that `write` added.
    mutating func append(_ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
        if open.writerIndex >= Self.chunkBytes { close() }
        let start = open.writerIndex
        write(&open)
        let length = open.writerIndex - start
        byteCount += length
        return open.getSlice(at: start, length: length) ?? ByteBuffer()
    }

    private mutating func close() {
        fullHeld += open.capacity
        full.append(open)
        open = ByteBuffer()
    }

    mutating func removeFirst(_ length: Int) {
        byteCount -= length
        guard let first = full.first else { return removeFromOpen(length) }
        guard first.readableBytes == length else { return full[0].moveReaderIndex(forwardBy: length) }
        fullHeld -= first.capacity
        full.removeFirst()
    }

    private mutating func removeFromOpen(_ length: Int) {
        open.moveReaderIndex(forwardBy: length)
        // A reader may hold the memory, too, so it isn't written again.
        if open.readableBytes == 0 { open = ByteBuffer() }
    }

    /// Reads the newest `length` bytes. They have to begin where a frame begins.
    func last(_ length: Int) -> Reader {
        var first = full.count
        var rest = length - open.readableBytes
        while rest > 0 {
            first -= 1
            rest -= full[first].readableBytes
        }
        return Reader(full: full, open: open, chunk: first, skip: -rest)
    }

    struct Reader {
        private let full: Deque<ByteBuffer>
        private let open: ByteBuffer
        /// Which chunk is read; the open one has the number behind the full ones.
        private var chunk: Int
        private var current: ByteBuffer

        fileprivate init(full: Deque<ByteBuffer>, open: ByteBuffer, chunk: Int, skip: Int) {
            self.full = full
            self.open = open
            self.chunk = chunk
            current = chunk < full.count ? full[chunk] : open
            current.moveReaderIndex(forwardBy: skip)
        }

        /// The next frame, whose length the caller knows.
        mutating func next(_ length: Int) -> ByteBuffer {
            while current.readableBytes == 0, chunk < full.count {
                chunk += 1
                current = chunk < full.count ? full[chunk] : open
            }
            return current.readSlice(length: length) ?? ByteBuffer()
        }
    }
}
