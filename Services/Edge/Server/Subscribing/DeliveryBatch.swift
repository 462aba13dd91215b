import NIOCore
import RTMModel
import RTMWire

/// The entries of a channel that arrived within a turn of the event loop, as every subscriber gets them.
///
/// They lie in one buffer, one behind the other, and that buffer is handed to each session: encoding happened
/// in messaging, here nothing is even copied for most. Only a session that may not see an entry (its own
/// message, or a feature that it did not ask for) gets a selection.
struct DeliveryBatch {
    /// Entries that the same sessions may see.
    private struct Part {
        let frames: Range<Int>
        let count: Int
        let feature: SubscriptionFeatures
        let publisherSession: UInt64
    }

    private var frames = ByteBuffer()
    private var parts: [Part] = []
    private var count = 0
    /// Whoever wants all of these features and is none of these publishers may see everything.
    private var features: SubscriptionFeatures = []
    private var publishers: [UInt64] = []

    var isEmpty: Bool { parts.isEmpty }

    /// Adds the entries of a delivery, without the first `known`.
    mutating func append(_ delivery: DeliveryPush, without known: Int) {
        let start = frames.writerIndex
        frames.writeBytes(FrameReader.dropFirst(known, of: delivery.frames.bytes))
        let added = delivery.count - known
        parts.append(
            Part(
                frames: start..<frames.writerIndex, count: added, feature: delivery.feature,
                publisherSession: delivery.publisherSession))
        count += added
        features.formUnion(delivery.feature)
        if delivery.publisherSession != 0, publishers.last != delivery.publisherSession {
            publishers.append(delivery.publisherSession)
        }
    }

    /// Returns how many entries the subscriber got.
    func send(to subscriber: EdgeChannel.Subscriber) -> Int {
        guard subscriber.features.isSuperset(of: features), !publishers.contains(subscriber.id.rawValue)
        else {
            return sendSelection(to: subscriber)
        }
        subscriber.connection?.send(frames)
        return count
    }

    /// A subscriber that may not see everything gets copies of what it may (M-2, M-21).
    private func sendSelection(to subscriber: EdgeChannel.Subscriber) -> Int {
        let visible = parts.filter {
            $0.publisherSession != subscriber.id.rawValue && subscriber.features.contains($0.feature)
        }
        guard !visible.isEmpty else { return 0 }
        subscriber.connection?.write { outbound in
            for part in visible {
                guard let slice = frames.getSlice(at: part.frames.lowerBound, length: part.frames.count)
                else { continue }
                outbound.writeImmutableBuffer(slice)
            }
        }
        return visible.reduce(0) { $0 + $1.count }
    }

    /// The sessions may still hold the buffer, so the next turn gets another.
    mutating func clear() {
        frames = ByteBuffer()
        parts.removeAll(keepingCapacity: true)
        count = 0
        features = []
        publishers.removeAll(keepingCapacity: true)
    }
}
