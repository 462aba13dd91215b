import NIOCore
import RTMModel
import RTMWire

/// Which sessions of this loop are subscribed to which channels, and how each channel stands with messaging.
///
/// A value without I/O: it answers each event with what has to be sent, and the loop sends it. Adding a
/// subscriber needs no buffering and no merging of old and new entries, because a link is first in, first out
/// and a log has one owner: when the answer to an attach arrives, every entry up to its position has arrived
/// too, and everything that arrives later follows it (docs/decisions/0006). So a session becomes a subscriber
/// exactly at a known position.
struct SubscriptionIndex {
    private var channels: [EdgeChannel] = []
    private var places: [ChannelKey: Int] = [:]
    private var free: [Int] = []
    private var generation: UInt64 = 0
    /// Channels that lost their attachment, unless they have got it back or are gone meanwhile.
    private var detachedInterests: [UInt64] = []
    /// Channels with entries of this turn.
    private var dirty: [Int] = []
    /// Entries handed to sessions since the start.
    private(set) var deliveries = 0

    var channelCount: Int { channels.count - free.count }

    func place(of key: ChannelKey) -> Int? { places[key] }

    func key(at place: Int) -> ChannelKey { channels[place].key }

    func position(at place: Int) -> StreamPosition? { channels[place].position }

    /// The place of an interest, unless it belongs to a channel that is gone. 0 is the interest of free
    /// places.
    private func place(of interest: UInt64) -> Int? {
        let place = Int(interest & 0xFFFF_FFFF)
        return interest != 0 && place < channels.count && channels[place].interest == interest ? place : nil
    }
}

// MARK: - Entering

extension SubscriptionIndex {
    enum EnterAction: Equatable {
        /// Send this; the session goes on with the answer.
        case attach(AttachRequest)
        /// An attach is under way; the session goes on with its answer.
        case wait
        /// The channel is attached; the session goes on now.
        case proceed(place: Int)
    }

    /// A session begins to enter a channel. From here on, exactly one of `admit` and `abandon` must follow.
    mutating func enter(_ pending: PendingSubscribe, _ key: ChannelKey) -> EnterAction {
        let place =
            pending.purpose == .login
            ? occupy(key, owner: pending.session) : places[key] ?? occupy(key)
        let lacksSnapshot = pending.isReturn && pending.session.subscriptions[place]?.lacksSnapshot == true
        pending.session.subscriptions[place] = .init(
            requestID: pending.requestID, pausedAt: pending.isReturn ? pending.after : nil,
            isQuiet: pending.features.contains(.quiet), lacksSnapshot: lacksSnapshot)
        channels[place].enteringCount += 1
        switch channels[place].attachment {
        case .attached:
            return .proceed(place: place)
        case .attaching:
            channels[place].waiting.append(pending)
            return .wait
        case .detached:
            channels[place].waiting.append(pending)
            return .attach(attachRequest(place))
        }
    }

    /// A session that has to read what it missed can do so only while the channel is attached: otherwise the
    /// page would reach beyond the channel's position, and what lies between would come twice. Nil: it is.
    mutating func waitUntilAttached(_ pending: PendingSubscribe, at place: Int) -> EnterAction? {
        switch channels[place].attachment {
        case .attached:
            return nil
        case .attaching:
            channels[place].waiting.append(pending)
            return .wait
        case .detached:
            channels[place].waiting.append(pending)
            return .attach(attachRequest(place))
        }
    }

    /// The session waits on after an attach that failed; whatever attaches the channel next lets it go on.
    mutating func waitForNextAttach(_ pending: PendingSubscribe, at place: Int) {
        channels[place].waiting.append(pending)
    }

    /// Whether this is still what the session wants: it may have unsubscribed or gone meanwhile.
    func isCurrent(_ pending: PendingSubscribe, at place: Int) -> Bool {
        !pending.session.isEnded && pending.session.subscriptions[place]?.requestID == pending.requestID
    }

    /// The session is a subscriber from the channel's present position on, which is returned.
    mutating func admit(_ pending: PendingSubscribe, at place: Int) -> StreamPosition? {
        flush(place)
        channels[place].enteringCount -= 1
        let seat = channels[place].add(pending.session, features: pending.features)
        pending.session.subscriptions[place]?.place = seat
        pending.session.subscriptions[place]?.pausedAt = nil
        count(pending.session, at: place, by: 1)
        return channels[place].position
    }

    /// The session doesn't become a subscriber.
    mutating func abandon(_ pending: PendingSubscribe, at place: Int) -> DetachPush? {
        channels[place].enteringCount -= 1
        if pending.session.subscriptions[place]?.requestID == pending.requestID {
            pending.session.subscriptions[place] = nil
        }
        return vacateIfUnused(place)
    }

    /// Takes a subscriber out of the list, to come in again behind a snapshot (M-5, S-21): what follows the
    /// position that is returned has not been sent to it. `enter` has to follow.
    mutating func pause(
        _ session: Session, at place: Int
    ) -> (position: StreamPosition, features: SubscriptionFeatures)? {
        guard let seat = session.subscriptions[place]?.place, let position = channels[place].position else {
            return nil
        }
        flush(place)
        let features = channels[place].subscribers[seat].features
        if let moved = channels[place].remove(at: seat) { moved.subscriptions[place]?.place = seat }
        session.subscriptions[place]?.place = nil
        session.subscriptions[place]?.pausedAt = position
        count(session, at: place, by: -1)
        return (position, features)
    }

    func features(of session: Session, at place: Int) -> SubscriptionFeatures? {
        session.subscriptions[place]?.place.map { channels[place].subscribers[$0].features }
    }

    /// Who is subscribed there with all of these features.
    func sessions(at place: Int, with features: SubscriptionFeatures) -> [Session] {
        channels[place].subscribers.filter { $0.features.isSuperset(of: features) }.map(\.session)
    }

    private func count(_ session: Session, at place: Int, by change: Int) {
        if channels[place].key.type == .none {
            session.liveMetadata += change
        } else {
            session.liveSubscriptions += change
        }
    }
}

// MARK: - Leaving

extension SubscriptionIndex {
    mutating func remove(_ session: Session, at place: Int) -> DetachPush? {
        guard let subscription = session.subscriptions.removeValue(forKey: place),
            let seat = subscription.place
        else { return nil }
        count(session, at: place, by: -1)
        if let moved = channels[place].remove(at: seat) { moved.subscriptions[place]?.place = seat }
        return vacateIfUnused(place)
    }

    /// The session is gone. What it was still entering ends when the answers arrive.
    mutating func removeAll(_ session: Session) -> [DetachPush] {
        session.subscriptions.keys.compactMap { remove(session, at: $0) }
    }
}

// MARK: - What messaging says

extension SubscriptionIndex {
    struct Attached {
        let place: Int
        /// Sessions that go on now.
        let waiting: [PendingSubscribe]
        /// Subscribers missed entries: what lay before this position is lost.
        let gap: StreamPosition?
    }

    mutating func attached(_ interest: UInt64, _ response: AttachResponse) -> Attached? {
        guard let place = place(of: interest) else { return nil }
        // The entries that were sent again because of our old position belong before what follows.
        flush(place)
        channels[place].attachment = .attached
        channels[place].position = response.position
        channels[place].claim = response.claim
        return Attached(
            place: place, waiting: takeWaiting(place), gap: response.gap ? response.position : nil)
    }

    /// The attach came to nothing. Subscribers stay, for the next attempt; who waits is to be refused.
    mutating func attachFailed(_ interest: UInt64) -> (place: Int, refused: [PendingSubscribe])? {
        guard let place = place(of: interest) else { return nil }
        detached(place)
        return (place, takeWaiting(place))
    }

    /// Whose inbox has got another owner.
    func owner(of interest: UInt64) -> Session? { place(of: interest).flatMap { channels[$0].owner } }

    mutating func linkLost() {
        for place in channels.indices where channels[place].attachment == .attached { detached(place) }
    }

    private mutating func detached(_ place: Int) {
        channels[place].attachment = .detached
        detachedInterests.append(channels[place].interest)
    }

    var hasDetached: Bool { !detachedInterests.isEmpty }

    /// What to ask for again, now that there is a link; at most `limit` at once.
    mutating func reattach(limit: Int) -> [AttachRequest] {
        var requests: [AttachRequest] = []
        while requests.count < limit, let interest = detachedInterests.popLast() {
            guard let place = place(of: interest), channels[place].attachment == .detached,
                !channels[place].isUnused
            else { continue }
            requests.append(attachRequest(place))
        }
        return requests
    }

    private mutating func attachRequest(_ place: Int) -> AttachRequest {
        channels[place].attachment = .attaching
        let channel = channels[place]
        return AttachRequest(
            channel: channel.key, interest: channel.interest, after: channel.position,
            claim: channel.owner == nil ? nil : channel.claim, holder: channel.owner?.instance ?? 0,
            returns: channel.owner?.isReturn ?? false, attempt: channel.owner?.attempt ?? 0)
    }

    private mutating func takeWaiting(_ place: Int) -> [PendingSubscribe] {
        defer { channels[place].waiting = [] }
        return channels[place].waiting
    }
}

// MARK: - Entries

extension SubscriptionIndex {
    /// Takes an entry in, to be handed on by `flush`.
    mutating func gather(_ delivery: DeliveryPush) {
        guard let place = place(of: delivery.interest) else { return }
        let hadBatch = channels[place].hasBatch
        channels[place].gather(delivery)
        if !hadBatch, channels[place].hasBatch { dirty.append(place) }
    }

    /// Hands the entries of this turn to their subscribers.
    mutating func flush() {
        for place in dirty { flush(place) }
        dirty.removeAll(keepingCapacity: true)
    }

    private mutating func flush(_ place: Int) {
        deliveries += channels[place].flush()
    }

    func sendToAll(_ frame: ByteBuffer, at place: Int) {
        channels[place].sendToAll(frame)
    }
}

// MARK: - Places

extension SubscriptionIndex {
    private mutating func occupy(_ key: ChannelKey) -> Int {
        let place = occupy(key, owner: nil)
        places[key] = place
        return place
    }

    /// With an owner it is found by its number only: for a while there may be two inboxes of one user, until
    /// messaging has said which one is superseded.
    private mutating func occupy(_ key: ChannelKey, owner: Session?) -> Int {
        generation += 1
        let place = free.popLast() ?? channels.count
        let channel = EdgeChannel(key: key, interest: generation << 32 | UInt64(place), owner: owner)
        if place < channels.count { channels[place] = channel } else { channels.append(channel) }
        return place
    }

    private mutating func vacateIfUnused(_ place: Int) -> DetachPush? {
        guard channels[place].isUnused else { return nil }
        let interest = channels[place].interest
        if channels[place].owner == nil { places[channels[place].key] = nil }
        channels[place] = EdgeChannel(key: ChannelKey(appID: "", type: .none, name: ""), interest: 0)
        free.append(place)
        return DetachPush(interest: interest)
    }
}
