import DequeModule
import NIOCore
import RTMModel
import RTMWire

/// The newest entries of all channels of an app, in the order in which they came.
///
/// The tail is one memory that is written from its beginning to its end and then used again, so an append
/// touches memory that the processor has at hand, however many channels there are. A channel finds its
/// entries because each of them points back to the one before it (`ChannelChain`).
///
/// The tail drops whole segments, the oldest first. It doesn't know why; `LogTable` decides that.
struct EntryTail {
    /// A segment takes another append while its frames have less than this. The value is somewhat below a
    /// power of two, because a buffer grows in powers of two.
    private let segmentBytes: Int
    private var full = Deque<EntrySegment>()
    private var fullHeld = 0
    /// The segment that takes the next append. It lies beside the others, because every append touches it.
    var open = EntrySegment(number: 1)
    /// The memory of a segment that was given up, for the next one.
    private var spare: EntrySegment?

    init(segmentBytes: Int) { self.segmentBytes = segmentBytes }

    /// The memory that the tail takes.
    var bytesHeld: Int { fullHeld + open.bytesHeld + (spare?.bytesHeld ?? 0) }
    /// The earliest time at which an entry was appended; nil if there is none. The clock may have been set
    /// back since the first one.
    private(set) var oldestTime: UInt64?
    /// When the newest entry of the segment that goes first was appended; nil if no segment can go.
    var firstSegmentEnd: UInt64? { full.first?.newestTime }
    /// The earliest time at which an entry was appended to the segment that takes appends; nil if that is
    /// empty.
    var openSince: UInt64? { open.isEmpty ? nil : open.firstTime }

    private var firstSegment: UInt32 { full.first?.number ?? open.number }

    /// Whether the tail has the entry still. A place of no entry is in no tail.
    func holds(_ place: EntryPlace) -> Bool { place.segment >= firstSegment }

    /// - Parameter place: where an entry is that the tail holds.
    func record(at place: EntryPlace) -> EntryRecord {
        if place.segment == open.number { return open.records[Int(place.index)] }
        return full[Int(place.segment - firstSegment)].records[Int(place.index)]
    }

    /// - Parameter place: where an entry is that the tail holds.
    func entry(at place: EntryPlace) -> LogEntry {
        let segment = segment(place)
        let head = segment.records[Int(place.index)]
        let frame = segment.frames.getSlice(at: Int(head.start), length: Int(head.length))
        return LogEntry(
            offset: head.offset, time: head.time, publisherSession: head.publisherSession,
            feature: head.feature, frame: frame ?? ByteBuffer())
    }

    /// Nil if there is none with this number.
    func segment(numbered number: UInt32) -> EntrySegment? {
        if number == open.number { return open }
        guard let first = full.first, number >= first.number, number < open.number else { return nil }
        return full[Int(number - first.number)]
    }

    /// Where the newest entry is; `.none` if there is none.
    var newestPlace: EntryPlace {
        guard let segment = open.isEmpty ? full.last : open else { return .none }
        return EntryPlace(segment: segment.number, index: UInt32(segment.records.count - 1))
    }

    /// Whether the segment that goes first has no entry behind the place.
    func isFirstSegmentBefore(_ place: EntryPlace) -> Bool {
        guard let first = full.first else { return false }
        return first.number < place.segment
            || first.number == place.segment && Int(place.index) + 1 == first.records.count
    }

    /// The first segment that has this number or a greater one; nil if there is none with an entry.
    func firstSegment(from number: UInt32) -> EntrySegment? {
        if let first = full.first, number < open.number {
            return full[Int(max(number, first.number) - first.number)]
        }
        return number <= open.number && !open.isEmpty ? open : nil
    }

    private func segment(_ place: EntryPlace) -> EntrySegment {
        place.segment == open.number ? open : full[Int(place.segment - firstSegment)]
    }

    /// The frames of entries that were appended together, in the memory of their segment.
    func frames(of entries: AppendedEntries) -> ByteBuffer {
        let frames = entries.frames
        let slice =
            entries.place.segment == open.number
            ? open.frames.getSlice(at: frames.lowerBound, length: frames.count)
            : segment(entries.place).frames.getSlice(at: frames.lowerBound, length: frames.count)
        return slice ?? ByteBuffer()
    }
}

// MARK: - Appending

/// What entries that are appended together have in common.
struct NewEntries {
    let count: Int
    let channel: ChannelSlot
    let session: UInt64
    let feature: SubscriptionFeatures
    let origin: EntryOrigin
    let now: UInt64
}

extension EntryTail {
    /// Appends entries to a channel. `encode` is called for each of them: it gets the entry's offset and
    /// time and writes its frame behind what is in the buffer.
    ///
    /// - Parameter head: the offset of the newest entry of the channel's partition.
    mutating func append(
        _ entries: NewEntries, to chain: inout ChannelChain, head: inout UInt64,
        encode: (_ offset: UInt64, _ time: LogTime, _ frames: inout ByteBuffer) -> Void
    ) -> AppendedEntries {
        if isFull { close(isFull: true) }
        noteAppend(at: entries.now)
        let place = nextPlace
        let (first, offsetsBetween, start) = (head + 1, head - chain.head, open.frames.writerIndex)
        let time = chain.lastTime.next(entries.count, now: entries.now)
        for index in 0..<UInt64(entries.count) {
            head += 1
            append(entries, index, to: &chain, at: head, time.following(by: index), encode)
        }
        chain.notePlace(of: entries.origin)
        return AppendedEntries(
            offset: first, offsetsBetween: offsetsBetween, time: time, count: entries.count,
            publisherSession: entries.session, feature: entries.feature, place: place,
            frames: start..<open.frames.writerIndex)
    }

    private mutating func noteAppend(at now: UInt64) {
        open.noteAppend(at: now)
        oldestTime = min(oldestTime ?? now, now)
    }

    /// Whether the open segment is full.
    var isFull: Bool { open.frames.writerIndex >= segmentBytes }

    var nextPlace: EntryPlace {
        EntryPlace(segment: open.number, index: UInt32(open.records.count))
    }

    @inline(__always)
    private mutating func append(
        _ entries: NewEntries, _ index: UInt64, to chain: inout ChannelChain, at offset: UInt64,
        _ time: LogTime,
        _ encode: (_ offset: UInt64, _ time: LogTime, _ frames: inout ByteBuffer) -> Void
    ) {
        let frame = open.write { encode(offset, time, &$0) }
        let place = nextPlace
        open.append(
            EntryRecord(
                time: time, publisherSession: entries.session, offset: offset,
                previous: chain.newest, channel: entries.channel, feature: entries.feature,
                entries.origin.following(by: index), frame))
        chain.appended(offset, time, entries.feature, at: place)
    }
}

// MARK: - Giving up

extension EntryTail {
    /// Ends the open segment, so that it can be given up.
    ///
    /// - Parameter isFull: whether the next one is likely to become as large.
    mutating func close(isFull: Bool = false) {
        guard !open.isEmpty else { return }
        fullHeld += open.bytesHeld
        var next = spare.take() ?? EntrySegment(number: 0)
        next.number = open.number + 1
        // A single large segment says nothing about the next one.
        let usual = min(open.frames.writerIndex, full.last?.frames.writerIndex ?? 0)
        if isFull { next.reserve(like: open, bytes: max(segmentBytes, usual)) }
        swap(&next, &open)
        full.append(next)
    }

    /// Gives up the oldest segment, and keeps its memory for the next one if it isn't larger than usual. With
    /// large entries the usual segment is larger, too.
    ///
    /// - Returns: the records of its entries. The caller marks them as lost in their channels.
    mutating func removeFirst() -> ContiguousArray<EntryRecord>? {
        guard var first = full.popFirst() else { return nil }
        fullHeld -= first.bytesHeld
        oldestTime = full.lazy.map(\.firstTime).reduce(openSince) { min($0 ?? $1, $1) }
        let records = first.empty()
        // A buffer grows in powers of two, so what is full to the half was needed.
        let usual = max(segmentBytes, full.last?.frames.writerIndex ?? 0)
        if spare == nil, first.frames.capacity <= 2 * usual { spare = first }
        return records
    }

    /// Gives back the memory that no entry needs. A tail that was busy once must not keep it while it is
    /// silent.
    mutating func release() {
        spare = nil
        if open.isEmpty { open = EntrySegment(number: open.number) }
    }
}

extension JournaledEntries {
    var origin: EntryOrigin { EntryOrigin(user: user, client: client, sequence: sequence) }
}

extension EntryTail {
    /// Puts entries of a journal where they were when they were appended, behind all that is here. The caller
    /// has seen that their frames are as many as it says, and that the channel doesn't have them.
    mutating func restore(
        _ entries: JournaledEntries, _ frames: [UnsafeRawBufferPointer], at channel: ChannelSlot,
        to chain: inout ChannelChain
    ) {
        if isFull { close(isFull: true) }
        noteAppend(at: entries.timestamp)
        let first = LogTime(milliseconds: entries.timestamp, order: entries.order)
        for (index, bytes) in frames.enumerated() {
            let number = UInt64(index)
            let frame = open.write { _ = $0.writeBytes(bytes) }
            let place = nextPlace
            open.append(
                EntryRecord(
                    time: first.following(by: number), publisherSession: entries.publisherSession,
                    offset: entries.offset + number, previous: chain.newest, channel: channel,
                    feature: entries.feature, entries.origin.following(by: number), frame))
            chain.appended(
                entries.offset + number, first.following(by: number), entries.feature, at: place)
        }
    }
}
