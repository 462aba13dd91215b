import NIOCore

/// How much memory a connection reads into. A connection keeps the buffer of its last read, and most
/// connections read little: a heartbeat has ten bytes. The size doubles with a read that fills it, and halves
/// with the second read in a row that needs no more than half.
///
/// NIO's `AdaptiveRecvByteBufferAllocator` does the same, but doesn't fit into the three words that a value
/// of this protocol has in a channel: it costs each connection 64 bytes more.
struct ReadSize: RecvByteBufferAllocator {
    /// Limits: bytes of a read.
    static let bytesMin: UInt32 = 64
    static let bytesMax: UInt32 = 64 * 1024

    private var bytes = Self.bytesMin
    private var isHalfEnough = false

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: Int(bytes)) }

    func nextBufferSize() -> Int? { Int(bytes) }

    /// - Returns: whether the next read may be larger.
    mutating func record(actualReadBytes: Int) -> Bool {
        let wasHalfEnough = isHalfEnough
        isHalfEnough = actualReadBytes <= bytes / 2 && bytes > Self.bytesMin
        if isHalfEnough, wasHalfEnough {
            bytes /= 2
            isHalfEnough = false
        }
        guard actualReadBytes >= bytes, bytes < Self.bytesMax else { return false }
        bytes *= 2
        return true
    }
}
