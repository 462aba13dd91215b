import NIOCore

#if os(Linux)
    import Glibc
#endif

/// A segment of a tail: entries in the order in which they came, their frames one behind the other.
///
/// A frame never lies in two segments, and neither do entries that were appended together.
struct EntrySegment {
    var number: UInt32
    private(set) var records = ContiguousArray<EntryRecord>()
    private(set) var frames = ByteBuffer()
    /// The earliest and the latest time at which entries were appended, in milliseconds. The timestamps of
    /// entries run ahead of the clock in a channel that has more than one entry in a millisecond.
    private(set) var firstTime: UInt64 = 0
    private(set) var newestTime: UInt64 = 0

    init(number: UInt32) { self.number = number }

    var isEmpty: Bool { records.isEmpty }

    /// The memory that it takes, with what is free in it.
    var bytesHeld: Int { frames.capacity + records.capacity * MemoryLayout<EntryRecord>.stride }

    mutating func noteAppend(at now: UInt64) {
        firstTime = records.isEmpty ? now : min(firstTime, now)
        newestTime = max(newestTime, now)
    }

    /// Writes one frame behind the others.
    ///
    /// - Returns: where it lies.
    @inline(__always)
    mutating func write(_ encode: (inout ByteBuffer) -> Void) -> (start: UInt32, length: UInt32) {
        let start = frames.writerIndex
        encode(&frames)
        return (UInt32(start), UInt32(frames.writerIndex - start))
    }

    @inline(__always)
    mutating func append(_ head: EntryRecord) { records.append(head) }

    /// Takes out all entries, and keeps the memory of their frames.
    mutating func empty() -> ContiguousArray<EntryRecord> {
        frames.clear()
        (firstTime, newestTime) = (0, 0)
        let taken = records
        records = []
        return taken
    }

    /// An empty segment follows a full one, and is likely to have about as many entries.
    mutating func reserve(like other: EntrySegment, bytes: Int) {
        records.reserveCapacity(other.records.count + other.records.count / 8)
        let bytesOfRecords = records.capacity * MemoryLayout<EntryRecord>.stride
        records.withUnsafeMutableBufferPointer { records in
            if let first = records.baseAddress { touch(first, bytes: bytesOfRecords) }
        }
        guard frames.capacity < bytes else { return }
        frames.reserveCapacity(bytes)
        frames.withUnsafeMutableWritableBytes { memory in
            if let first = memory.baseAddress { touch(first, bytes: memory.count) }
        }
    }
}

/// Has the kernel bring all pages of new memory at once. Page by page, as the log grows into them, they are
/// faults in the middle of turns, which took two hundredths of the time of 500 busy pairs.
private func touch(_ memory: UnsafeMutableRawPointer, bytes: Int) {
    #if os(Linux)
        let page = Int(getpagesize())
        let begin = (UInt(bitPattern: memory) + UInt(page) - 1) & ~UInt(page - 1)
        let end = (UInt(bitPattern: memory) + UInt(bytes)) & ~UInt(page - 1)
        guard begin < end, let first = UnsafeMutableRawPointer(bitPattern: begin) else { return }
        // MADV_POPULATE_WRITE. Kernels before 5.14 don't know it, and then the pages come one by one.
        _ = madvise(first, Int(end - begin), 23)
    #endif
}
