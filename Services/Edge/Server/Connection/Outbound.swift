import NIOCore

/// What waits to be written to a client: frames in their order; behind them, while the socket is behind, the
/// lines of topics (C-14); and who waits for room. Pure.
struct Outbound {
    private var frames = ByteBuffer()
    private var backlog = TopicBacklog()
    private var waiters: [() -> Void] = []

    var isEmpty: Bool { frames.readableBytes == 0 && backlog.isEmpty }
    /// Whether entries of topics wait.
    var hasBacklog: Bool { !backlog.isEmpty }
    var hasWaiters: Bool { !waiters.isEmpty }
    /// Bytes of frames, without those of the lines.
    var frameBytes: Int { frames.readableBytes }
    var bytes: Int { frames.readableBytes + (backlog.isEmpty ? 0 : backlog.bytes) }

    /// The first frames are not copied.
    mutating func append(_ more: ByteBuffer) {
        if frames.readableBytes == 0 { frames = more } else { frames.writeImmutableBuffer(more) }
    }

    mutating func write(_ encode: (inout ByteBuffer) -> Void) { encode(&frames) }

    mutating func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) {
        backlog.write(of: topic, encode)
    }

    /// What waits of a topic goes before all that is written from here on.
    mutating func release(_ topic: Int) {
        if !backlog.isEmpty, let waiting = backlog.take(topic) { append(waiting) }
    }

    /// Takes out the frames, which go before all lines.
    mutating func takeFrames() -> ByteBuffer? {
        guard frames.readableBytes > 0 else { return nil }
        defer { frames = ByteBuffer() }
        return frames
    }

    /// Takes out what is next of the lines, about as many bytes as that.
    mutating func takeBacklog(bytes: Int) -> ByteBuffer? { backlog.next(bytes: bytes) }

    mutating func takeAll() -> ByteBuffer {
        if !backlog.isEmpty { append(backlog.takeAll()) }
        return takeFrames() ?? ByteBuffer()
    }

    /// Forgets all that was to be written.
    mutating func drop() { (frames, backlog) = (ByteBuffer(), TopicBacklog()) }

    mutating func await(_ waiter: @escaping () -> Void) { waiters.append(waiter) }

    mutating func takeWaiters() -> [() -> Void] {
        defer { waiters = [] }
        return waiters
    }
}
