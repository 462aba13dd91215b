import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire

/// The entries of a channel that arrived within a turn of the event loop, as every subscriber gets them.
///
/// The entries lie in one buffer, one behind the other, and every subscriber gets that buffer. Messaging
/// encoded the entries, and for most subscribers nothing is even copied here. Only a subscriber that may not
/// see an entry (its own message, or a feature that it did not ask for) gets a selection.
struct DeliveryBatch {
    /// Entries that the same subscribers may see.
    struct Slice {
        let frames: Range<Int>
        let count: Int
        fileprivate let feature: SubscriptionFeatures
        fileprivate let publisherSession: UInt64
        /// In a topic, the publisher's number in its audience.
        fileprivate let publisher: Int
    }

    /// Limit: memory of frames that a batch keeps for the next turn.
    private static let keptBytesMax = 16_384

    /// The frames of all entries. What an empty batch has here was handed out in an earlier turn.
    private(set) var frames = ByteBuffer()
    /// The number of all entries.
    private(set) var count = 0
    private var slices: [Slice] = []
    /// A subscriber that wants all of these features and is none of these publishers may see everything. One
    /// that wants its own messages gets a selection as well when it has published, so that nobody else pays
    /// for looking.
    private var features: SubscriptionFeatures = []
    private var publishers: [UInt64] = []
    /// In a topic, who wants whose messages; nil for every other channel.
    private var audience: TopicAudience?
    /// In a topic, whose entries these are.
    private var topicPublishers = PublisherSet()
    /// In a topic, how urgent the most urgent of them is; nil for every other channel.
    private(set) var topic: TopicRank?

    var isEmpty: Bool { slices.isEmpty }

    /// How many bytes of it are presence.
    var presenceBytes: Int {
        guard features.contains(.presence) else { return 0 }
        return slices.reduce(0) { $0 + ($1.feature == .presence ? $1.frames.count : 0) }
    }

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
        topicPublishers.insert(publisher)
        topic = TopicRank(
            index: rank.index, priority: min(rank.priority, topic?.priority ?? rank.priority))
    }

    private mutating func append(_ delivery: DeliveryPush, without known: Int, of publisher: Int) {
        // A session that is behind may still hold them. Then this gets other memory.
        if isEmpty, frames.capacity > 0 { frames.clear() }
        let start = frames.writerIndex
        frames.writeBytes(FrameReader.dropFirst(known, of: delivery.frames.bytes))
        let added = delivery.count - known
        slices.append(
            Slice(
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
            && audience?.wants(subscriber.session.id, all: topicPublishers) != false
    }

    /// What a subscriber gets that may not see everything (M-2, M-21, M-43, C-8).
    func selection(for subscriber: Subscriber) -> [Slice] {
        slices.filter {
            subscriber.features.contains($0.feature)
                && ($0.publisherSession != subscriber.session.id.rawValue
                    || !subscriber.features.leavesOutOwn($0.feature))
                && audience?.wants(subscriber.session.id, $0.publisher) != false
        }
    }

    /// Writes a selection.
    func write(_ slices: [Slice], to outbound: inout ByteBuffer) {
        for slice in slices {
            guard let slice = frames.getSlice(at: slice.frames.lowerBound, length: slice.frames.count) else {
                continue
            }
            outbound.writeImmutableBuffer(slice)
        }
    }

    /// Sends the batch, and begins a new one in the same memory. Memory that is freed at the end of each turn
    /// would go back to the kernel and come again page by page, which cost a tenth of the time of a message.
    mutating func handOut(
        to subscribers: ShortList<Subscriber>,
        _ send: (DeliveryBatch, ShortList<Subscriber>) -> Void
    ) {
        send(self, subscribers)
        if frames.capacity > Self.keptBytesMax { frames = ByteBuffer() }
        slices.removeAll(keepingCapacity: true)
        count = 0
        features = []
        publishers.removeAll(keepingCapacity: true)
        audience = nil
        topicPublishers = PublisherSet()
        topic = nil
    }
}

/// The batches of a turn, one for each channel with entries, in the order in which their first entries came.
///
/// Batches stay where they are and are used again, so that a turn allocates nothing. Moving a
/// batch of five fields to its channel and back cost a fifth of all instructions of a delivery.
struct PendingDeliveries {
    private struct Gathered {
        /// Where the channel lies in the table.
        var index: Int
        var batch = DeliveryBatch()
    }

    /// Limit: batches that are kept for the next turn. A turn with entries of more channels makes new ones.
    private static let spareMax = 1_024

    /// The batches of this turn, and behind them those that are kept.
    private var gathered: [Gathered] = []
    private var count = 0

    /// The numbers of this turn's batches.
    var numbers: Range<Int> { 0..<count }

    subscript(number: Int) -> DeliveryBatch {
        get { gathered[number].batch }
        _modify { yield &gathered[number].batch }
    }

    func index(of number: Int) -> Int { gathered[number].index }

    /// Begins the batch of a channel, and returns its number.
    mutating func begin(for index: Int) -> Int {
        if count < gathered.count {
            gathered[count].index = index
        } else {
            gathered.append(Gathered(index: index))
        }
        count += 1
        return count - 1
    }

    /// Takes a batch out before the turn ends. It leaves an empty one in its slot.
    mutating func take(_ number: Int) -> DeliveryBatch {
        var taken = DeliveryBatch()
        swap(&taken, &gathered[number].batch)
        return taken
    }

    /// Every batch was handed out.
    mutating func end() {
        count = 0
        if gathered.count > Self.spareMax { gathered.removeLast(gathered.count - Self.spareMax) }
    }
}
