import DequeModule
package import NIOCore
package import RTMModel
package import RTMWire

/// The log of one channel: everything its subscribers can see, in one order (architecture.md, idea 1).
///
/// An entry gets the next offset and a timestamp greater than every earlier one of the channel (M-24). It is
/// encoded at that moment, once and straight into the log: subscribers receive copies of those bytes. The log
/// keeps a tail that is bounded by count, bytes and age, for subscribers who come back. A position before the
/// tail can't be continued, and neither can a position of another epoch; the log reports both as a gap and
/// never passes over them.
package struct ChannelLog {
    /// An entry as a reader sees it.
    package struct Entry {
        package let offset: UInt64
        package let timestamp: UInt64
        package let publisherSession: UInt64
        /// The subscription feature that selects this entry.
        package let feature: SubscriptionFeatures
        /// A whole frame for clients, with its length prefix.
        package let frame: ByteBuffer
    }

    /// How much of the tail is kept; the limit that is reached first applies. Age is in milliseconds.
    package struct Retention: Sendable, Hashable {
        package var entriesMax: Int
        package var bytesMax: Int
        package var ageMax: UInt64

        package init(entriesMax: Int, bytesMax: Int, ageMax: UInt64) {
            self.entriesMax = entriesMax
            self.bytesMax = bytesMax
            self.ageMax = ageMax
        }
    }

    /// Entries that one session appended together. Their offsets and timestamps are consecutive.
    package struct Appended {
        package let offset: UInt64
        package let timestamp: UInt64
        package let count: Int
        package let publisherSession: UInt64
        package let feature: SubscriptionFeatures
        /// The frames of the entries, one behind the other.
        package let frames: ByteBuffer
    }

    /// What is known of an entry beside its frame. It has 32 bytes, because there are as many heads as
    /// entries.
    fileprivate struct Head {
        let timestamp: UInt64
        let publisherSession: UInt64
        let user: UInt32
        /// The lower halves of the client and of its sequence number: no tail holds four billion messages of
        /// one client, and the frame says whose message it is.
        let client: UInt32
        let sequence: UInt32
        private let lengthAndFeature: UInt32

        init(
            timestamp: UInt64, publisherSession: UInt64, origin: EntryOrigin, place: UInt64,
            feature: SubscriptionFeatures, length: Int
        ) {
            self.timestamp = timestamp
            self.publisherSession = publisherSession
            user = origin.user
            client = UInt32(truncatingIfNeeded: origin.client)
            sequence = UInt32(truncatingIfNeeded: origin.sequence &+ place)
            // Frames have some ten thousand bytes, and there are eight features, so both fit into 32 bits.
            lengthAndFeature = UInt32(length) << 8 | feature.rawValue & 0xFF
        }

        var length: Int { Int(lengthAndFeature >> 8) }
        var feature: SubscriptionFeatures { SubscriptionFeatures(rawValue: lengthAndFeature & 0xFF) }
    }

    package let epoch: UInt64
    /// Offset of the newest entry; 0 before the first.
    package private(set) var head: UInt64 = 0
    /// The timestamp of the newest entry, or the time at which the log began; in milliseconds.
    package private(set) var lastTimestamp: UInt64
    /// The timestamp of the newest entry that the tail no longer holds.
    private var forgottenTimestamp: UInt64?
    private var heads = Deque<Head>()
    /// The most heads that there were since `heads` was made; a deque keeps the memory for them.
    private var headsMost = 0
    private var frames = FrameTail()
    private var publishers = PublisherMarks()
    private var lost = LostEntries()

    /// What is kept of a log without entries.
    struct Remains {
        let epoch: UInt64
        let head: UInt64
        let lastTimestamp: UInt64
        let lost: LostEntries
    }

    /// A log that goes on where it stood.
    init(resuming remains: Remains, now: UInt64) {
        epoch = remains.epoch
        head = remains.head
        lastTimestamp = max(remains.lastTimestamp, now)
        forgottenTimestamp = remains.lastTimestamp
        lost = remains.lost
    }

    /// - Parameter forgotten: the timestamp of the newest entry that an earlier log of the channel may have
    ///   had.
    package init(epoch: UInt64, now: UInt64, forgotten: UInt64? = nil) {
        self.epoch = epoch
        lastTimestamp = now
        forgottenTimestamp = forgotten
    }

    package var position: StreamPosition { StreamPosition(epoch: epoch, offset: head) }
    /// How many entries can be read again; `tailBytes` is the size of their frames.
    package var tailCount: Int { heads.count }
    package var tailBytes: Int { frames.byteCount }
    /// The memory that the tail takes.
    var bytesHeld: Int { frames.bytesHeld + max(headsMost, heads.count) * MemoryLayout<Head>.stride }
    var remains: Remains {
        Remains(epoch: epoch, head: head, lastTimestamp: lastTimestamp, lost: lost)
    }
    /// The timestamp of the oldest entry of the tail.
    var oldestTimestamp: UInt64? { heads.first?.timestamp }
}

// MARK: - Appending

extension ChannelLog {
    /// Whether these messages follow everything that their client has in the log. If so, they count as
    /// appended from now on, so the caller has to append them.
    mutating func admits(_ origin: EntryOrigin, count: Int, now: UInt64) -> Bool {
        publishers.admits(
            origin, count: count, end: head + UInt64(count), tail: head + 1 - UInt64(heads.count), now: now)
    }

    /// Appends an entry for each message. `encode` gets the message's offset and timestamp and writes its
    /// frame behind what is in the buffer.
    package mutating func append(
        _ messages: MessageRun, session: UInt64, feature: SubscriptionFeatures, origin: EntryOrigin = .none,
        now: UInt64,
        encode: (MessageView, _ offset: UInt64, _ timestamp: UInt64, _ frames: inout ByteBuffer) -> Void
    ) -> Appended {
        let first = head + 1
        let timestamp = max(now, lastTimestamp + 1)
        let written = frames.append { buffer in
            for message in messages {
                head += 1
                lastTimestamp = max(now, lastTimestamp + 1)
                let start = buffer.writerIndex
                encode(message, head, lastTimestamp, &buffer)
                heads.append(
                    Head(
                        timestamp: lastTimestamp, publisherSession: session, origin: origin,
                        place: head - first, feature: feature, length: buffer.writerIndex - start))
            }
        }
        return Appended(
            offset: first, timestamp: timestamp, count: Int(head - first + 1), publisherSession: session,
            feature: feature, frames: written)
    }

    /// Appends one entry that is not a message; `encode` works as above.
    package mutating func append(
        session: UInt64, feature: SubscriptionFeatures, origin: EntryOrigin = .none, now: UInt64,
        encode: (_ offset: UInt64, _ timestamp: UInt64, _ frames: inout ByteBuffer) -> Void
    ) -> Appended {
        head += 1
        lastTimestamp = max(now, lastTimestamp + 1)
        let written = frames.append { encode(head, lastTimestamp, &$0) }
        heads.append(
            Head(
                timestamp: lastTimestamp, publisherSession: session, origin: origin, place: 0,
                feature: feature, length: written.readableBytes))
        return Appended(
            offset: head, timestamp: lastTimestamp, count: 1, publisherSession: session, feature: feature,
            frames: written)
    }

    /// Drops the entries that the retention no longer covers. The broker calls this after appending, too.
    package mutating func trim(to retention: Retention, now: UInt64) {
        while let oldest = heads.first,
            heads.count > retention.entriesMax || frames.byteCount > retention.bytesMax
                || oldest.timestamp + retention.ageMax < now
        {
            forget(oldest)
        }
        release()
        if heads.isEmpty, lastTimestamp + PublisherMarks.lateMax < now { publishers = PublisherMarks() }
    }

    /// Drops the oldest entries, up to those of a time, as long as `isNeeded` says so.
    ///
    /// - Returns: the timestamp of the newest entry that went.
    mutating func giveUp(
        until timestamp: UInt64, while isNeeded: (_ bytesHeld: Int) -> Bool
    ) -> UInt64? {
        var newest: UInt64?
        while let oldest = heads.first, oldest.timestamp <= timestamp, isNeeded(bytesHeld) {
            forget(oldest)
            newest = oldest.timestamp
        }
        release()
        return newest
    }

    private mutating func forget(_ oldest: Head) {
        lost.add(
            tailStart + 1, oldest.feature, of: oldest.publisherSession == 0 ? 0 : oldest.user)
        frames.removeFirst(oldest.length)
        forgottenTimestamp = oldest.timestamp
        heads.removeFirst()
    }

    /// A channel that was busy once must not keep the memory for it while it is silent, or nearly so.
    private mutating func release() {
        guard !heads.isEmpty else {
            // A deque that is made with a capacity takes memory, even with a capacity of 0.
            (heads, headsMost, frames) = (Deque(), 0, FrameTail())
            return
        }
        headsMost = max(headsMost, heads.count)
        guard headsMost >= Self.headsMin, heads.count < headsMost / 4 else { return }
        var rest = Deque<Head>(minimumCapacity: heads.count)
        rest.append(contentsOf: heads)
        heads = rest
        headsMost = heads.count
    }

    /// The room for this many heads isn't worth giving back.
    private static let headsMin = 256
}

// MARK: - What was published before

extension ChannelLog {
    /// What the log knows of a publish that its client sends once more.
    enum Memory {
        /// The log has the message: this entry.
        case published(Entry)
        /// The log does not have the message, and the tail reaches back to the time when it was first sent.
        case new
        /// The tail doesn't reach back to the time when the message was first sent.
        case unknown
    }

    /// How much longer the second transfer from the client to the log may take than the first, in
    /// milliseconds. The message may have been appended that much earlier than its age says.
    private static let transitMax: UInt64 = 10_000

    /// Whether what was first sent `age` milliseconds ago may have been appended before this time was over.
    static func mayBe(from age: UInt64, before timestamp: UInt64, now: UInt64) -> Bool {
        timestamp + age + transitMax >= now
    }

    /// Looks for a message that was first sent `age` milliseconds ago, from the newest entry to the oldest.
    func memory(of origin: EntryOrigin, age: UInt64, now: UInt64) -> Memory {
        let client = UInt32(truncatingIfNeeded: origin.client)
        let sequence = UInt32(truncatingIfNeeded: origin.sequence)
        var bytes = 0
        for (place, entry) in heads.reversed().enumerated() {
            bytes += entry.length
            guard entry.client == client, entry.sequence == sequence else { continue }
            var frame = frames.last(bytes)
            return .published(
                Entry(
                    offset: head - UInt64(place), timestamp: entry.timestamp,
                    publisherSession: entry.publisherSession, feature: entry.feature,
                    frame: frame.next(entry.length)))
        }
        guard let forgottenTimestamp, Self.mayBe(from: age, before: forgottenTimestamp, now: now) else {
            return .new
        }
        return .unknown
    }
}

// MARK: - Reading

extension ChannelLog {
    /// How a reader goes on that has seen everything up to a position.
    package struct Continuation {
        /// Set if entries that the reader may miss, or the log they were in, are gone: the reader goes on
        /// after this position.
        package let skippedTo: StreamPosition?
        /// The features that select what is lost.
        package let lost: SubscriptionFeatures
        package let entries: Entries
    }

    /// - Parameters:
    ///   - features: what the reader wants to see.
    ///   - user: the reader, if its own entries aren't for it; 0 for nobody in particular.
    package func continuation(
        after position: StreamPosition, features: SubscriptionFeatures = .all, except user: UInt32 = 0
    ) -> Continuation {
        let start = StreamPosition(epoch: epoch, offset: tailStart)
        // Nothing of another epoch is known to the reader, so it begins with the oldest entry of the tail.
        guard position.epoch == epoch else {
            return Continuation(skippedTo: start, lost: .ofEntries, entries: newest(heads.count))
        }
        guard position.offset <= head else {
            return Continuation(skippedTo: self.position, lost: .ofEntries, entries: newest(0))
        }
        let lost = lost.features(after: position.offset, except: user).intersection(features)
        return Continuation(
            skippedTo: lost.isEmpty ? nil : start, lost: lost,
            entries: newest(min(Int(head - position.offset), heads.count)))
    }

    /// Up to here entries are gone.
    private var tailStart: UInt64 { head - UInt64(heads.count) }

    private func newest(_ count: Int) -> Entries {
        let newest = heads.suffix(count)
        return Entries(
            heads: newest.makeIterator(), frames: frames.last(newest.reduce(0) { $0 + $1.length }),
            offset: head - UInt64(count))
    }

    /// Entries in order. Each one is made when it is asked for, so a reader may stop at the end of its page.
    package struct Entries: Sequence, IteratorProtocol {
        fileprivate var heads: Slice<Deque<Head>>.Iterator
        fileprivate var frames: FrameTail.Reader
        fileprivate var offset: UInt64

        package mutating func next() -> Entry? {
            guard let head = heads.next() else { return nil }
            offset += 1
            return Entry(
                offset: offset, timestamp: head.timestamp, publisherSession: head.publisherSession,
                feature: head.feature, frame: frames.next(head.length))
        }
    }
}
