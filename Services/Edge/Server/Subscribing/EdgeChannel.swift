import NIOCore
import RTMModel
import RTMWire

/// One channel as one loop of an edge sees it: the local subscribers, where its log stands, and the entries
/// of this turn.
///
/// The entries that arrive within a turn of the event loop are gathered in `batch`, and at the end of the
/// turn every subscriber gets it.
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

    /// What a delivery needs to know lies here, so that it needn't look at the session.
    struct Subscriber {
        let session: Session
        let id: SessionID
        let connection: (any SessionConnection)?
        let features: SubscriptionFeatures

        init(_ session: Session, features: SubscriptionFeatures) {
            self.session = session
            id = session.id
            connection = session.connection
            self.features = features
        }
    }

    let key: ChannelKey
    /// The number under which messaging delivers. It names the place in the index and how often that was
    /// reused.
    let interest: UInt64
    /// Set for an inbox: it belongs to one session, and the newest login of the user has it (S-10).
    let owner: Session?
    /// The owner's number, by which messaging knows who is the newest; 0 until it has given one.
    var claim: UInt64 = 0
    var attachment = Attachment.detached
    /// Of the newest entry that arrived; nil until messaging has answered for the first time.
    var position: StreamPosition?
    /// Sessions that go on once the channel is attached.
    var waiting: [PendingSubscribe] = []
    /// Sessions on their way to become subscribers, the waiting ones among them. They keep the channel.
    var enteringCount = 0
    private(set) var subscribers = ContiguousArray<Subscriber>()
    private var batch = DeliveryBatch()

    init(key: ChannelKey, interest: UInt64, owner: Session? = nil) {
        self.key = key
        self.interest = interest
        self.owner = owner
    }

    var isUnused: Bool { subscribers.isEmpty && enteringCount == 0 }
    var hasBatch: Bool { !batch.isEmpty }

    // MARK: Subscribers

    /// Returns the place of the new subscriber. What arrived before it is not for it: flush first.
    mutating func add(_ session: Session, features: SubscriptionFeatures) -> Int {
        assert(!hasBatch, "a new subscriber would receive entries from before its position")
        subscribers.append(Subscriber(session, features: features))
        return subscribers.count - 1
    }

    /// Returns the session that took over the place, if one did.
    mutating func remove(at place: Int) -> Session? {
        subscribers.swapAt(place, subscribers.count - 1)
        subscribers.removeLast()
        return place < subscribers.count ? subscribers[place].session : nil
    }

    // MARK: Entries

    /// Takes entries into the batch of this turn: those that the subscribers still have to see.
    mutating func gather(_ delivery: DeliveryPush) {
        guard let known = entriesKnown(of: delivery), known < delivery.count else { return }
        position?.offset = delivery.offset + UInt64(delivery.count) - 1
        batch.append(delivery, without: known)
    }

    /// How many entries at the beginning of a delivery were seen before; nil when it doesn't continue here.
    ///
    /// An attach may time out that messaging has performed, or still will. Its deliveries come all the same,
    /// and the next attach sends some of them again; so until one is answered only entries right behind our
    /// position count.
    private func entriesKnown(of delivery: DeliveryPush) -> Int? {
        guard let position else { return nil }
        let next = position.offset + 1
        if delivery.offset > next { return attachment == .attached ? 0 : nil }
        return Int(clamping: next - delivery.offset)
    }

    /// Gives the batch to every subscriber. Returns how many deliveries that were.
    mutating func flush() -> Int {
        guard !batch.isEmpty else { return 0 }
        var deliveries = 0
        for subscriber in subscribers {
            deliveries += batch.send(to: subscriber)
        }
        batch.clear()
        return deliveries
    }

    /// Sends a frame of the edge itself to every subscriber.
    func sendToAll(_ frame: ByteBuffer) {
        for subscriber in subscribers { subscriber.connection?.send(frame) }
    }
}
