import NIOCore
import RTMModel
import RTMWire

/// The entries of a channel that arrived within a turn of the event loop, as every subscriber gets them.
///
/// The entries lie in one buffer, one behind the other, and every subscriber gets that buffer. Messaging
/// encoded the entries, and for most subscribers nothing is even copied here. Only a subscriber that may not
/// see an entry (its own message, or a feature that it did not ask for) gets a selection.
struct DeliveryBatch {
    /// Entries that the same subscribers may see.
    struct Part {
        let frames: Range<Int>
        let count: Int
        fileprivate let feature: SubscriptionFeatures
        fileprivate let publisherSession: UInt64
        /// Of a topic: the publisher's number in its audience.
        fileprivate let publisher: Int
    }

    /// The frames of all entries.
    private(set) var frames = ByteBuffer()
    /// The number of all entries.
    private(set) var count = 0
    private var parts: [Part] = []
    /// Whoever wants all of these features and is none of these publishers may see everything.
    private var features: SubscriptionFeatures = []
    private var publishers: [UInt64] = []
    /// Of a topic: who hears whom; nil for every other channel.
    private var audience: TopicAudience?
    /// Of a topic: whose entries these are.
    private var heard = PublisherSet()
    /// Of a topic: how urgent the most urgent of them is; nil for every other channel.
    private(set) var topic: TopicRank?

    var isEmpty: Bool { parts.isEmpty }

    /// Adds the entries of a delivery, without the first `known`.
    mutating func append(_ delivery: DeliveryPush, without known: Int) {
        append(delivery, without: known, of: 0)
    }

    /// Adds the entries of a topic, without the first `known`.
    mutating func append(
        _ delivery: DeliveryPush, without known: Int, of publisher: Int, to audience: TopicAudience,
        as rank: TopicRank
    ) {
        append(delivery, without: known, of: publisher)
        self.audience = audience
        heard.insert(publisher)
        topic = TopicRank(
            place: rank.place, priority: min(rank.priority, topic?.priority ?? rank.priority))
    }

    private mutating func append(_ delivery: DeliveryPush, without known: Int, of publisher: Int) {
        let start = frames.writerIndex
        frames.writeBytes(FrameReader.dropFirst(known, of: delivery.frames.bytes))
        let added = delivery.count - known
        parts.append(
            Part(
                frames: start..<frames.writerIndex, count: added, feature: delivery.feature,
                publisherSession: delivery.publisherSession, publisher: publisher))
        count += added
        features.formUnion(delivery.feature)
        if delivery.publisherSession != 0, publishers.last != delivery.publisherSession {
            publishers.append(delivery.publisherSession)
        }
    }

    /// Whether the subscriber gets `frames` as they are.
    func isWhole(for subscriber: Subscriber) -> Bool {
        subscriber.features.isSuperset(of: features)
            && !publishers.contains(subscriber.session.id.rawValue)
            && audience?.hears(subscriber.session.id, all: heard) != false
    }

    /// What a subscriber gets that may not see everything (M-2, M-21, C-8).
    func selection(for subscriber: Subscriber) -> [Part] {
        parts.filter {
            $0.publisherSession != subscriber.session.id.rawValue && subscriber.features.contains($0.feature)
                && audience?.hears(subscriber.session.id, $0.publisher) != false
        }
    }

    /// Writes a selection.
    func write(_ parts: [Part], to outbound: inout ByteBuffer) {
        for part in parts {
            guard let slice = frames.getSlice(at: part.frames.lowerBound, length: part.frames.count) else {
                continue
            }
            outbound.writeImmutableBuffer(slice)
        }
    }

    /// Sends the batch, and begins a new one in the memory of its small arrays. The sessions may still hold
    /// the frames, so the next turn gets another buffer.
    mutating func handOut(
        to subscribers: ContiguousArray<Subscriber>,
        _ send: (DeliveryBatch, ContiguousArray<Subscriber>) -> Void
    ) {
        send(self, subscribers)
        frames = ByteBuffer()
        parts.removeAll(keepingCapacity: true)
        count = 0
        features = []
        publishers.removeAll(keepingCapacity: true)
        audience = nil
        heard = PublisherSet()
        topic = nil
    }
}

/// A batch, and who gets it. The loop sends it to their connections.
struct FanOut {
    let batch: DeliveryBatch
    let subscribers: ContiguousArray<Subscriber>
}
