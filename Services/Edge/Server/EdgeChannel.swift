import NIOCore
import RTMModel
import RTMWire

/// One channel as one loop of an edge sees it: the local subscribers, where its log stands, and the entries
/// of this turn.
///
/// The entries that arrive within a turn of the event loop are gathered in `batch`, and at the end of the
/// turn every subscriber gets that one buffer: encoding happened in messaging, here nothing is even copied
/// for most sessions. Only a session that may not see an entry (its own message, or a feature that it did not
/// ask for) gets a selection.
struct EdgeChannel {
    /// How the channel stands with messaging.
    enum Attachment: Hashable {
        /// The link is down, or the last attempt failed. Subscribers wait; the next link takes it up again.
        case detached
        /// The request is under way. Deliveries may already come: those that follow our last position.
        case attaching
        /// Every entry after `position` will arrive, once and in order.
        case attached
    }

    struct Subscriber {
        let session: Session
        var features: SubscriptionFeatures
    }

    private struct BatchEntry {
        let frame: Range<Int>
        let feature: SubscriptionFeatures
        let publisherSession: UInt64
    }

    let key: ChannelKey
    /// The number under which messaging delivers. It names the place in the index and how often that was
    /// reused.
    let interest: UInt64
    var attachment = Attachment.detached
    /// Of the newest entry that arrived; nil until messaging has answered for the first time.
    var position: StreamPosition?
    /// Sessions that go on once the channel is attached.
    var waiting: [PendingSubscribe] = []
    /// Sessions on their way to become subscribers, the waiting ones among them. They keep the channel.
    var enteringCount = 0
    private(set) var subscribers = ContiguousArray<Subscriber>()
    private var batch = ByteBuffer()
    private var batchEntries: [BatchEntry] = []

    init(key: ChannelKey, interest: UInt64) {
        self.key = key
        self.interest = interest
    }

    var isUnused: Bool { subscribers.isEmpty && enteringCount == 0 }
    var hasBatch: Bool { !batchEntries.isEmpty }

    // MARK: Subscribers

    /// Returns the place of the new subscriber. What arrived before it is not for it: flush first.
    mutating func add(_ session: Session, features: SubscriptionFeatures) -> Int {
        assert(!hasBatch, "a new subscriber would receive entries from before its position")
        subscribers.append(Subscriber(session: session, features: features))
        return subscribers.count - 1
    }

    mutating func setFeatures(_ features: SubscriptionFeatures, at place: Int) {
        subscribers[place].features = features
    }

    /// Returns the session that took over the place, if one did.
    mutating func remove(at place: Int) -> Session? {
        subscribers.swapAt(place, subscribers.count - 1)
        subscribers.removeLast()
        return place < subscribers.count ? subscribers[place].session : nil
    }

    // MARK: Entries

    /// Takes an entry into the batch of this turn, if it is one that the subscribers still have to see.
    mutating func gather(_ delivery: DeliveryPush) {
        guard isNext(delivery.offset) else { return }
        position?.offset = delivery.offset
        let start = batch.writerIndex
        batch.writeBytes(delivery.frame.bytes)
        batchEntries.append(
            BatchEntry(
                frame: start..<batch.writerIndex, feature: delivery.feature,
                publisherSession: delivery.publisherSession))
    }

    /// An attach may time out that messaging has performed, or still will. Its deliveries come all the same,
    /// and the next attach sends some of them again; so until one is answered only the entry right behind our
    /// position counts.
    private func isNext(_ offset: UInt64) -> Bool {
        guard let position else { return false }
        return attachment == .attached ? offset > position.offset : offset == position.offset + 1
    }

    /// Gives the batch to every subscriber. Returns how many deliveries that were.
    mutating func flush() -> Int {
        guard hasBatch else { return 0 }
        var features: SubscriptionFeatures = []
        var publishers: [UInt64] = []
        for entry in batchEntries {
            features.formUnion(entry.feature)
            if entry.publisherSession != 0, publishers.last != entry.publisherSession {
                publishers.append(entry.publisherSession)
            }
        }
        var deliveries = 0
        for subscriber in subscribers {
            let id = subscriber.session.id.rawValue
            if subscriber.features.isSuperset(of: features), !publishers.contains(id) {
                subscriber.session.send(batch)
                deliveries += batchEntries.count
            } else {
                deliveries += sendSelection(to: subscriber)
            }
        }
        batch = ByteBuffer()
        batchEntries.removeAll(keepingCapacity: true)
        return deliveries
    }

    /// A subscriber that may not see every entry of the batch gets copies of those it may (M-2, M-21).
    private func sendSelection(to subscriber: Subscriber) -> Int {
        let id = subscriber.session.id.rawValue
        var selection = ByteBuffer()
        var count = 0
        for entry in batchEntries
        where entry.publisherSession != id && subscriber.features.contains(entry.feature) {
            guard let frame = batch.getSlice(at: entry.frame.lowerBound, length: entry.frame.count) else {
                continue
            }
            selection.writeImmutableBuffer(frame)
            count += 1
        }
        if count > 0 { subscriber.session.send(selection) }
        return count
    }

    /// Sends a frame of the edge itself to every subscriber.
    func sendToAll(_ frame: ByteBuffer) {
        for subscriber in subscribers { subscriber.session.send(frame) }
    }
}
