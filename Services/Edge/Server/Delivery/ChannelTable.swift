import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMWire

/// The channels of one loop: where each of them lies, how each stands with messaging, and which of them have
/// entries of this turn.
///
/// A value without I/O. It returns what has to be sent to messaging and to subscribers.
struct ChannelTable {
    private var channels = ContiguousArray<EdgeChannel>()
    private var places: [ChannelKey: Int] = [:]
    private var free: [Int] = []
    private var generation: UInt64 = 0
    /// By the shard of messaging: the interests of channels that lost their attachment. Some of them may have
    /// got it back, or may be gone.
    private var detachedInterests: [[UInt64]] = [[]]
    private var turn = TurnBatches()
    /// By the places of topics: who hears whom. Other channels have none.
    private var audiences: [Int: TopicAudience] = [:]

    var count: Int { channels.count - free.count }

    func place(of key: ChannelKey) -> Int? { places[key] }

    subscript(place: Int) -> EdgeChannel {
        get { channels[place] }
        _modify { yield &channels[place] }
    }

    /// The place of an interest, unless its channel is gone. 0 is the interest of free places.
    func place(of interest: UInt64) -> Int? {
        let place = Int(interest & 0xFFFF_FFFF)
        return interest != 0 && place < channels.count && channels[place].interest == interest ? place : nil
    }
}

// MARK: - Places

extension ChannelTable {
    /// The place of the channel, which is taken if the channel is new here.
    mutating func occupy(_ key: ChannelKey) -> Int {
        if let place = places[key] { return place }
        let place = occupy(key, owner: nil)
        places[key] = place
        return place
    }

    /// An inbox has a place of its own for each owner, which only its interest names. For a while there may
    /// be two inboxes of one user, until messaging has said which one is superseded.
    mutating func occupy(_ key: ChannelKey, owner: InboxOwner?) -> Int {
        generation += 1
        let place = free.popLast() ?? channels.count
        let channel = EdgeChannel(key: key, interest: generation << 32 | UInt64(place), owner: owner)
        if place < channels.count { channels[place] = channel } else { channels.appendSparingly(channel) }
        return place
    }

    /// - Parameter isLoggedOut: the session that left has logged out, which matters to an inbox.
    mutating func vacateIfUnused(_ place: Int, isLoggedOut: Bool = false) -> SubscribeAction? {
        guard channels[place].isUnused else { return nil }
        let (key, interest) = (channels[place].key, channels[place].interest)
        let isOwnerLoggedOut = isLoggedOut && channels[place].owner != nil
        // Nobody is there to get the entries, and the next channel in this place must not get them.
        if let number = channels[place].batch { turn[number] = DeliveryBatch() }
        if channels[place].owner == nil { places[key] = nil }
        if key.type == .topic { audiences[place] = nil }
        channels[place] = EdgeChannel(key: ChannelKey(appID: "", type: .none, name: ""), interest: 0)
        free.append(place)
        return .detach(DetachPush(interest: interest, isLoggedOut: isOwnerLoggedOut), of: key)
    }
}

// MARK: - Attachments

extension ChannelTable {
    enum WaitAction: Equatable {
        /// The channel is attached, so there is nothing to wait for.
        case goOn
        /// An attach is under way. The subscribe goes on with its answer.
        case wait
        /// Send this. The subscribe goes on with the answer.
        case attach(AttachRequest)
    }

    /// A subscribe needs the channel to be attached.
    mutating func wait(_ id: SubscribeID, at place: Int) -> WaitAction {
        switch channels[place].attachment {
        case .attached:
            return .goOn
        case .attaching:
            channels[place].waiting.append(id)
            return .wait
        case .detached:
            channels[place].waiting.append(id)
            return .attach(attachRequest(place))
        }
    }

    /// Messaging has answered an attach.
    mutating func attached(_ place: Int, _ response: AttachResponse) {
        assert(channels[place].batch == nil, "entries from before the answer belong before what follows it")
        channels[place].attachment = .attached
        channels[place].position = response.position
        channels[place].claim = response.claim
    }

    /// The log goes on at this position, and what lay before it is lost.
    mutating func skip(_ place: Int, to position: StreamPosition) {
        assert(channels[place].batch == nil, "entries from before a gap belong before it")
        channels[place].entrants.removeAll()
        channels[place].position = position
    }

    /// The attach came to nothing. Returns nil if the channel is gone.
    mutating func attachFailed(_ interest: UInt64) -> Int? {
        guard let place = place(of: interest) else { return nil }
        detached(place)
        return place
    }

    mutating func takeWaiting(_ place: Int) -> [SubscribeID] {
        defer { channels[place].waiting = [] }
        return channels[place].waiting
    }

    /// Messaging keeps channels in so many shards.
    mutating func learnShards(_ count: Int) {
        guard count != detachedInterests.count else { return }
        let detached = detachedInterests.joined()
        detachedInterests = Array(repeating: [], count: count)
        for interest in detached {
            if let place = place(of: interest) { detachedInterests[shard(of: place)].append(interest) }
        }
    }

    private func shard(of place: Int) -> Int { channels[place].key.shard(among: detachedInterests.count) }

    mutating func linkLost(_ shard: Int) {
        for place in channels.indices where channels[place].attachment == .attached {
            if self.shard(of: place) == shard { detached(place) }
        }
    }

    private mutating func detached(_ place: Int) {
        channels[place].attachment = .detached
        detachedInterests[shard(of: place)].append(channels[place].interest)
    }

    func hasDetached(_ shard: Int) -> Bool { !detachedInterests[shard].isEmpty }

    /// The channels of a shard to attach again now that there is a link, `limit` at most.
    mutating func reattach(_ shard: Int, limit: Int) -> [AttachRequest] {
        var requests: [AttachRequest] = []
        while requests.count < limit, let interest = detachedInterests[shard].popLast() {
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
}

// MARK: - Topics

extension ChannelTable {
    /// What was gathered before has gone out.
    mutating func hear(_ publishers: [String], by subscriber: Subscriber, at place: Int) {
        guard channels[place].key.type == .topic else { return }
        audiences[place, default: TopicAudience()].set(publishers, of: subscriber.session.id)
    }

    mutating func hearNobody(by subscriber: Subscriber, at place: Int) {
        guard channels[place].key.type == .topic else { return }
        audiences[place]?.remove(subscriber.session.id)
    }
}

// MARK: - Entries

extension ChannelTable {
    /// Takes entries in, which the end of the turn hands on.
    mutating func gather(_ delivery: DeliveryPush) {
        guard let place = place(of: delivery.interest),
            let known = channels[place].advance(past: delivery)
        else { return }
        guard channels[place].key.type != .topic else {
            return gatherOfTopic(delivery, without: known, at: place)
        }
        turn[beginBatch(at: place)].append(delivery, without: known)
    }

    private mutating func beginBatch(at place: Int) -> Int {
        let number = channels[place].batch ?? turn.begin(for: place)
        channels[place].batch = number
        return number
    }

    /// What nobody here wants to hear goes to nobody.
    private mutating func gatherOfTopic(_ delivery: DeliveryPush, without known: Int, at place: Int) {
        guard let audience = audiences[place],
            let publisher = PublicationPublisher.first(in: delivery.frames.bytes),
            let number = audience.number(of: publisher.string)
        else { return }
        let rank = TopicRank(
            place: place, priority: PublicationPriority.first(in: delivery.frames.bytes))
        turn[beginBatch(at: place)].append(delivery, without: known, of: number, to: audience, as: rank)
    }

    /// What a channel has gathered so far, for those who are subscribed now. The next entry begins a new
    /// batch.
    mutating func takeFanOut(at place: Int) -> FanOut? {
        guard let number = channels[place].batch else { return nil }
        channels[place].batch = nil
        return FanOut(batch: turn.take(number), subscribers: channels[place].subscribers)
    }

    /// Hands over everything that was gathered in this turn, channel by channel.
    mutating func endTurn(_ send: (DeliveryBatch, ContiguousArray<Subscriber>) -> Void) {
        for number in turn.numbers where !turn[number].isEmpty {
            let place = turn.place(of: number)
            channels[place].batch = nil
            turn[number].handOut(to: channels[place].subscribers, send)
        }
        turn.end()
    }
}
