package import DequeModule
package import NIOCore
package import RTMModel

/// The log of one channel: everything its subscribers can see, in one order (architecture.md, idea 1).
///
/// An entry gets the next offset and a timestamp greater than every earlier one of the channel (M-24), and is
/// encoded at that moment, once: what subscribers receive are copies of `frame`. The log keeps a bounded
/// tail, by count, bytes and age, for those who come back. A position before the tail can't be continued, and
/// neither can a position of another epoch; both are said as a gap, never passed over.
package struct ChannelLog {
    package struct Entry {
        package let offset: UInt64
        package let timestamp: UInt64
        package let publisher: String
        package let publisherSession: UInt64
        /// The subscription feature that selects this entry.
        package let feature: SubscriptionFeatures
        /// A whole frame for clients, with its length prefix.
        package let frame: ByteBuffer
    }

    /// How much of the tail is kept; whatever is reached first. Age is in milliseconds.
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

    package let epoch: UInt64
    /// Offset of the newest entry; 0 before the first.
    package private(set) var head: UInt64 = 0
    package private(set) var tail = Deque<Entry>()
    package private(set) var tailBytes = 0
    /// Timestamp of the newest entry, or when the log began, in milliseconds.
    package private(set) var lastTimestamp: UInt64

    package init(epoch: UInt64, now: UInt64) {
        self.epoch = epoch
        lastTimestamp = now
    }

    package var position: StreamPosition { StreamPosition(epoch: epoch, offset: head) }

    /// Appends an entry; `encode` makes its frame for the offset and timestamp that it got.
    package mutating func append(
        publisher: String, session: UInt64, feature: SubscriptionFeatures, retention: Retention, now: UInt64,
        encode: (_ offset: UInt64, _ timestamp: UInt64) -> ByteBuffer
    ) -> Entry {
        head += 1
        lastTimestamp = max(now, lastTimestamp + 1)
        let entry = Entry(
            offset: head, timestamp: lastTimestamp, publisher: publisher, publisherSession: session,
            feature: feature, frame: encode(head, lastTimestamp))
        tail.append(entry)
        tailBytes += entry.frame.readableBytes
        trim(to: retention, now: now)
        return entry
    }

    /// Forgets what the retention no longer covers.
    package mutating func trim(to retention: Retention, now: UInt64) {
        while let oldest = tail.first,
            tail.count > retention.entriesMax || tailBytes > retention.bytesMax
                || oldest.timestamp + retention.ageMax < now
        {
            tailBytes -= oldest.frame.readableBytes
            tail.removeFirst()
        }
    }

    /// The entries that follow a position; nil when some of them, or the log they were in, are gone.
    package func entries(after position: StreamPosition) -> Slice<Deque<Entry>>? {
        guard position.epoch == epoch, position.offset <= head else { return nil }
        let missing = Int(head - position.offset)
        guard missing <= tail.count else { return nil }
        return tail.suffix(missing)
    }
}
