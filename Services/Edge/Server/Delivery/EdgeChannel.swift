import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire

/// A subscriber of a channel. A delivery needs nothing else of its session.
struct Subscriber: Hashable {
    let session: SessionKey
    /// With `.ownMessages`, if the subscriber wants them.
    let features: SubscriptionFeatures

    var withoutPresence: Subscriber {
        Subscriber(session: session, features: features.subtracting(.presence))
    }
}

/// The session that an inbox belongs to, as messaging has to know it (S-10).
struct InboxOwner: Hashable {
    let session: SessionKey
    /// The client object that logged in; 0 if it is unknown.
    let instance: UInt64
    /// The count of this login among the logins of the instance; 0 if it isn't counted.
    let attempt: UInt64
    /// The client comes back by itself, so this login must not end a newer one.
    let isReturn: Bool
}

/// One channel as one loop of an edge sees it: its subscribers here, how far its log has arrived, and the
/// entries of this turn.
///
/// The entries that arrive within a turn of the event loop are gathered in a batch. At the end of the turn
/// every subscriber gets the batch.
///
/// Each session has two of these at least, so their memory counts: what is small lies side by side.
struct EdgeChannel {
    /// Whether messaging delivers the channel to this loop.
    enum Attachment: Hashable {
        /// The link is down, or the last attempt failed. Subscribers wait; the next link takes it up again.
        case detached
        /// The request is under way. Deliveries may already come: those that follow our last position.
        case attaching
        /// Every entry after `position` will arrive, once and in order.
        case attached
    }

    let key: ChannelKey
    /// The number under which messaging delivers. It names the channel's slot in the table, and how often
    /// that slot was reused.
    let interest: UInt64
    /// Set for an inbox. An inbox belongs to one session: the newest login of its user.
    let owner: InboxOwner?
    /// Subscribes that have not ended yet, the waiting ones among them. They keep the channel.
    var subscribingCount: UInt32 = 0
    /// The number by which messaging knows which owner is the newest; 0 until messaging has given one.
    var ownership: UInt64 = 0
    /// The position of the newest entry that arrived; nil until messaging has answered for the first time.
    var position: StreamPosition?
    var attachment = Attachment.detached
    private var batchNumber = Self.noBatch
    /// Subscribes that continue once the channel is attached. Some of them may have ended meanwhile.
    var waiting: [SubscribeID] = []
    /// Subscribes that have missed nothing although they aren't live yet.
    var caughtUp = CaughtUpSubscribers()
    private(set) var subscribers = ShortList<Subscriber>()

    init(key: ChannelKey, interest: UInt64, owner: InboxOwner? = nil) {
        self.key = key
        self.interest = interest
        self.owner = owner
    }

    /// The number of the channel's batch among those of this turn; nil until an entry arrives.
    var batch: Int? {
        get { batchNumber == Self.noBatch ? nil : Int(batchNumber) }
        set { batchNumber = newValue.map { UInt32($0) } ?? Self.noBatch }
    }

    private static let noBatch = UInt32.max

    var isUnused: Bool { subscribers.isEmpty && subscribingCount == 0 }

    // MARK: Subscribers

    /// Returns the index of the new subscriber.
    mutating func add(_ subscriber: Subscriber) -> Int {
        // Invariant: what arrived before a subscriber isn't for it, so it was handed out before.
        assert(batch == nil, "a new subscriber would receive entries from before its position")
        subscribers.append(subscriber)
        return subscribers.count - 1
    }

    /// Returns the session whose subscriber is at this index now, if there is one.
    mutating func remove(at index: Int) -> SessionKey? {
        subscribers.swapRemove(at: index)
        return index < subscribers.count ? subscribers[index].session : nil
    }

    // MARK: Entries

    /// Whether deliveries continue elsewhere than behind our position: later, in another log, or in an
    /// earlier state of the log, which ends before it. A skip that comes again, because an attach had timed
    /// out, also leads to an earlier position, and changes nothing.
    func isMoved(by skip: SkipPush) -> Bool {
        guard let own = position else { return false }
        guard own.epoch == skip.position.epoch else { return true }
        return skip.wentBack ? skip.position.offset < own.offset : own.offset < skip.position.offset
    }

    /// Entries have arrived.
    ///
    /// - Returns: how many of them, at the beginning, the subscribers have seen before; nil if all.
    mutating func advance(past delivery: DeliveryPush) -> Int? {
        guard let known = entriesKnown(of: delivery), known < delivery.count else { return nil }
        position?.offset = delivery.offset + UInt64(delivery.count) - 1
        if !caughtUp.isEmpty { caughtUp.missed(delivery) }
        return known
    }

    /// How many entries at the beginning of a delivery were seen before; nil if the delivery doesn't continue
    /// here.
    ///
    /// An attach may time out although messaging has performed it, or still will. Its deliveries come all the
    /// same, and the next attach sends some of them again. So until one attach is answered only entries count
    /// that have no other entry of the channel between them and our position.
    private func entriesKnown(of delivery: DeliveryPush) -> Int? {
        guard let position else { return nil }
        let next = position.offset + 1
        guard delivery.offset > next else { return Int(clamping: next - delivery.offset) }
        let isNext = delivery.offset - next <= delivery.offsetsBetween
        return isNext || attachment == .attached ? 0 : nil
    }
}

/// The subscribes to one channel that aren't live yet and have missed nothing since they began: every entry
/// that arrived meanwhile is one that they may not see.
///
/// A user's own join is such an entry. It moves the log behind nearly every subscribe, and without this list
/// the edge would ask messaging for a page that is empty.
struct CaughtUpSubscribers {
    /// The sessions by what they want to see. So an entry costs as much as there are sets of features,
    /// however many sessions come at once. A session has one subscribe to a channel at a time.
    private var sessions: [SubscriptionFeatures: Set<SessionID>] = [:]

    var isEmpty: Bool { sessions.isEmpty }

    /// The subscribe of this session has reached the channel's position.
    mutating func add(_ subscriber: Subscriber) {
        sessions[subscriber.features, default: []].insert(subscriber.session.id)
    }

    /// Entries arrived. A subscribe that may see them has missed something now, so it has to read the log.
    mutating func missed(_ delivery: DeliveryPush) {
        let publisher = SessionID(rawValue: delivery.publisherSession)
        for features in Array(sessions.keys) where features.contains(delivery.feature) {
            let isLeftOut =
                features.leavesOutOwn(delivery.feature) && sessions[features]?.contains(publisher) == true
            sessions[features] = isLeftOut ? [publisher] : nil
        }
    }

    func contains(_ subscriber: Subscriber) -> Bool {
        sessions[subscriber.features]?.contains(subscriber.session.id) ?? false
    }

    mutating func remove(_ subscriber: Subscriber) {
        guard contains(subscriber) else { return }
        sessions[subscriber.features]?.remove(subscriber.session.id)
        if sessions[subscriber.features]?.isEmpty == true { sessions[subscriber.features] = nil }
        // An empty dictionary that had something keeps its memory, and every channel has a list.
        if sessions.isEmpty { sessions = [:] }
    }

    /// The log was lost up to a new position.
    mutating func removeAll() { sessions = [:] }
}
