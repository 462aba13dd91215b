import DequeModule
import NIOCore
import RTMServiceLink
import RTMWire

/// What waits to be written to a client, in its order: frames, and pages of what the client has asked for;
/// behind them, while the socket is behind, the queues of topics (C-14); and who waits until it is writable.
/// Pure.
///
/// Frames gather in chunks. A client that reads slowly gets them chunk by chunk, and a chunk that is handed
/// to the socket is never written to again, so nothing is copied.
struct OutboundQueue {
    /// Limit: frames beyond this begin a new chunk, and a page is handed to the socket in such pieces.
    static let chunkBytesMax = 64 * 1024

    /// What is handed to the socket at once.
    struct Chunk {
        var frames: ByteBuffer
        /// Whether other connections have the same memory, so that this one holds none by itself.
        let isShared: Bool
        /// The client has asked for it.
        var isPage = false
        /// Counts the memory until the chunk is written; nil where the connection alone counts it.
        var charge: AnyObject?
    }

    private var frames = ByteBuffer()
    private var isShared = false
    /// What goes before `frames`.
    private var chunks: Deque<Chunk> = []
    private var chunkBytes = 0
    /// How much of the chunks and pages no other connection holds.
    private var ownBytes = 0
    private var backlog = TopicBacklog()
    private var waiters: [() -> Void] = []
    /// Bytes of pages.
    private(set) var pageBytes = 0
    /// How much presence has been added since the client fell behind (P-28).
    private(set) var presenceBytes = 0

    var isEmpty: Bool { frames.readableBytes == 0 && chunks.isEmpty && backlog.isEmpty }
    var hasWaiters: Bool { !waiters.isEmpty }
    /// Whether a page is next.
    var beginsWithPage: Bool { chunks.first?.isPage ?? false }
    /// Bytes of frames and pages, without those of the queues.
    var frameBytes: Int { frames.readableBytes + chunkBytes + pageBytes }
    /// All that waits beside the pages, which the client has asked for. Presence is among it.
    var bytes: Int { frames.readableBytes + chunkBytes + backlogBytes }
    /// How much memory is held for this connection alone.
    var heldBytes: Int { (isShared ? 0 : frames.readableBytes) + ownBytes + backlogBytes }

    private var backlogBytes: Int { backlog.isEmpty ? 0 : backlog.bytes }

    /// The first frames of a chunk are not copied.
    mutating func append(_ more: ByteBuffer) {
        if frames.readableBytes > 0 {
            guard frames.readableBytes + more.readableBytes > Self.chunkBytesMax else {
                frames.writeImmutableBuffer(more)
                isShared = false
                return
            }
            closeChunk()
        }
        (frames, isShared) = (more, true)
    }

    mutating func append(_ page: RequestedPage) {
        guard page.frames.readableBytes > 0 else { return }
        closeChunk()
        chunks.append(
            Chunk(frames: page.frames, isShared: page.isShared, isPage: true, charge: page.charge))
        pageBytes += page.frames.readableBytes
        if !page.isShared { ownBytes += page.frames.readableBytes }
    }

    /// Whether the next `write` has to get memory.
    var lacksMemory: Bool { frames.capacity == 0 }

    /// Lets the next frames be written into this memory. To be called while there is none.
    mutating func reuse(_ memory: ByteBuffer) { frames = memory }

    mutating func write(_ encode: (inout ByteBuffer) -> Void) {
        if frames.readableBytes > Self.chunkBytesMax { closeChunk() }
        encode(&frames)
        isShared = false
    }

    mutating func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) {
        backlog.write(of: topic, encode)
    }

    /// Counts presence that is to wait here for a client that is behind. Returns false, and counts nothing,
    /// if that would be too much.
    mutating func reservePresence(_ bytes: Int, bytesMax: Int) -> Bool {
        guard presenceBytes + bytes <= bytesMax else { return false }
        presenceBytes += bytes
        return true
    }

    /// The client isn't behind any more.
    mutating func caughtUp() { presenceBytes = 0 }

    private mutating func closeChunk() {
        guard frames.readableBytes > 0 else { return }
        chunks.append(Chunk(frames: frames, isShared: isShared))
        chunkBytes += frames.readableBytes
        if !isShared { ownBytes += frames.readableBytes }
        (frames, isShared) = (ByteBuffer(), false)
    }

    /// What waits of a topic goes before all that is written from here on.
    mutating func release(_ topic: Int) {
        guard !backlog.isEmpty, let waiting = backlog.take(topic) else { return }
        append(waiting)
        isShared = false
    }

    /// Takes out what is next of the frames and pages, which go before all queues.
    mutating func next() -> Chunk? {
        guard !chunks.isEmpty else {
            guard frames.readableBytes > 0 else { return nil }
            defer { (frames, isShared) = (ByteBuffer(), false) }
            return Chunk(frames: frames, isShared: isShared)
        }
        let chunk = chunks[0].isPage ? nextPiece() : chunks.removeFirst()
        let count = chunk.frames.readableBytes
        if chunk.isPage { pageBytes -= count } else { chunkBytes -= count }
        if !chunk.isShared { ownBytes -= count }
        return chunk
    }

    /// Whole frames of the page that is next, and one at least.
    private mutating func nextPiece() -> Chunk {
        var piece = chunks[0]
        let length = piece.frames.withUnsafeReadableBytes {
            FrameReader.prefix(ofAbout: Self.chunkBytesMax, of: $0).count
        }
        guard length < piece.frames.readableBytes, let frames = chunks[0].frames.readSlice(length: length)
        else { return chunks.removeFirst() }
        piece.frames = frames
        return piece
    }

    /// Takes out what is next of the queues, about as many bytes as that.
    mutating func takeBacklog(bytes: Int) -> ByteBuffer? { backlog.next(bytes: bytes) }

    /// Takes out what goes before the last frame of a connection. A client that is behind, or has yet to get
    /// a snapshot that others share, gets what comes before the first page: nothing is sent without it.
    mutating func takeAll(isLagging: Bool) -> ByteBuffer {
        var all = ByteBuffer()
        while !stopsAtPage(isLagging), let chunk = next() {
            if all.readableBytes == 0 { all = chunk.frames } else { all.writeImmutableBuffer(chunk.frames) }
        }
        if !stopsAtPage(isLagging), !backlog.isEmpty { all.writeImmutableBuffer(backlog.takeAll()) }
        drop()
        return all
    }

    private func stopsAtPage(_ isLagging: Bool) -> Bool {
        chunks.first.map { $0.isPage && (isLagging || $0.isShared) } ?? false
    }

    /// Forgets all that was to be written.
    mutating func drop() {
        let waiting = waiters
        self = OutboundQueue()
        waiters = waiting
    }

    mutating func await(_ waiter: @escaping () -> Void) { waiters.append(waiter) }

    mutating func takeWaiters() -> [() -> Void] {
        defer { waiters = [] }
        return waiters
    }
}

/// Whole frames that a client has asked for: a page of what it missed, a snapshot, or the answer to a query.
/// They are sent only while the client is writable, so they are no reason to cut it off.
struct RequestedPage {
    let frames: ByteBuffer
    /// Counts the memory until the page is written.
    var charge: AnyObject?
    /// Whether other sessions have the same memory, which the charge counts then for all of them.
    var isShared = false
}

/// Memory of frames that a socket has taken, for the next frames of any connection of the loop. At the end of
/// a turn all of it is free, and the kernel would take it back and give it again page by page.
struct FrameMemory {
    /// Limits: buffers that are kept, and the bytes of each.
    private static let countMax = 1_024
    private static let bytesMax = 1_024

    private var spare: [ByteBuffer] = []

    mutating func take() -> ByteBuffer {
        guard var memory = spare.popLast() else { return ByteBuffer() }
        memory.clear()
        return memory
    }

    mutating func keep(_ memory: ByteBuffer) {
        if spare.count < Self.countMax, memory.storageCapacity <= Self.bytesMax { spare.append(memory) }
    }
}
