import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMWire

/// The channels of one loop: the slot of each of them, whether messaging delivers it, and which of them have
/// entries of this turn.
///
/// A value without I/O. It returns what has to be sent to messaging and to subscribers.
struct ChannelTable {
    private var channels = ContiguousArray<EdgeChannel>()
    private var indices: [ChannelKey: Int] = [:]
    private var free: [Int] = []
    private var generation: UInt64 = 0
    /// By the shard of messaging: the interests of channels that lost their attachment. Some of them may have
    /// got it back, or may be gone.
    private var detachedInterests: [[UInt64]] = [[]]
    private var pending = PendingDeliveries()
    /// By the indices of topics: who wants whose messages. Other channels have none.
    private var audiences: [Int: TopicAudience] = [:]

    var count: Int { channels.count - free.count }

    func index(of key: ChannelKey) -> Int? { indices[key] }

    subscript(index: Int) -> EdgeChannel {
        get { channels[index] }
        _modify { yield &channels[index] }
    }

    /// The index of an interest, unless its channel is gone. 0 is the interest of free slots.
    func index(of interest: UInt64) -> Int? {
        let index = Int(interest & 0xFFFF_FFFF)
        return interest != 0 && index < channels.count && channels[index].interest == interest ? index : nil
    }
}

extension ChannelTable {
    /// Up to where the subscribers have been given the channel; nil if entries of this turn wait.
    func positionHandedOut(of key: ChannelKey) -> StreamPosition? {
        index(of: key).flatMap { channels[$0].batch == nil ? channels[$0].position : nil }
    }
}

// MARK: - Slots

extension ChannelTable {
    /// The index of the channel's slot. A channel that is new here gets a slot.
    mutating func occupy(_ key: ChannelKey) -> Int {
        if let index = indices[key] { return index }
        let index = occupy(key, owner: nil)
        indices[key] = index
        return index
    }

    /// An inbox has a slot of its own for each owner, which only its interest names. For a while there may be
    /// two inboxes of one user, until messaging has reported which one is superseded.
    mutating func occupy(_ key: ChannelKey, owner: InboxOwner?) -> Int {
        generation += 1
        let index = free.popLast() ?? channels.count
        let channel = EdgeChannel(key: key, interest: generation << 32 | UInt64(index), owner: owner)
        if index < channels.count { channels[index] = channel } else { channels.appendSparingly(channel) }
        return index
    }

    /// - Parameter isLoggedOut: the session that left has logged out, which matters to an inbox.
    mutating func vacateIfUnused(_ index: Int, isLoggedOut: Bool = false) -> SubscribeAction? {
        guard channels[index].isUnused else { return nil }
        let (key, interest) = (channels[index].key, channels[index].interest)
        let isOwnerLoggedOut = isLoggedOut && channels[index].owner != nil
        // No subscriber is left to get the entries, and the next channel in this slot must not get them.
        if let number = channels[index].batch { pending[number] = DeliveryBatch() }
        if channels[index].owner == nil { indices[key] = nil }
        if key.type == .topic { audiences[index] = nil }
        channels[index] = EdgeChannel(key: ChannelKey(appID: "", type: .none, name: ""), interest: 0)
        free.append(index)
        return .detach(DetachPush(interest: interest, isLoggedOut: isOwnerLoggedOut), of: key)
    }
}

// MARK: - Attachments

extension ChannelTable {
    enum WaitAction: Equatable {
        /// The channel is attached, so there is nothing to wait for.
        case proceed
        /// An attach is under way. The subscribe continues with its answer.
        case wait
        /// Send this. The subscribe continues with the answer.
        case attach(AttachRequest)
    }

    /// A subscribe needs the channel to be attached.
    mutating func wait(_ id: SubscribeID, at index: Int) -> WaitAction {
        switch channels[index].attachment {
        case .attached:
            return .proceed
        case .attaching:
            channels[index].waiting.append(id)
            return .wait
        case .detached:
            channels[index].waiting.append(id)
            return .attach(attachRequest(index))
        }
    }

    /// Messaging has answered an attach.
    mutating func attached(_ index: Int, _ response: AttachResponse) {
        assert(channels[index].batch == nil, "entries from before the answer belong before what follows it")
        channels[index].attachment = .attached
        channels[index].position = response.position
        channels[index].ownership = response.ownership
    }

    /// The log continues at this position, and what lay before it is lost.
    mutating func skip(_ index: Int, to position: StreamPosition) {
        assert(channels[index].batch == nil, "entries from before a gap belong before it")
        channels[index].caughtUp.removeAll()
        channels[index].position = position
    }

    /// The attach came to nothing. Returns nil if the channel is gone.
    mutating func attachFailed(_ interest: UInt64) -> Int? {
        guard let index = index(of: interest) else { return nil }
        detached(index)
        return index
    }

    mutating func takeWaiting(_ index: Int) -> [SubscribeID] {
        defer { channels[index].waiting = [] }
        return channels[index].waiting
    }

    /// Messaging keeps channels in so many shards.
    mutating func setShardCount(_ count: Int) {
        guard count != detachedInterests.count else { return }
        let detached = detachedInterests.joined()
        detachedInterests = Array(repeating: [], count: count)
        for interest in detached {
            if let index = index(of: interest) { detachedInterests[shard(of: index)].append(interest) }
        }
    }

    private func shard(of index: Int) -> Int { channels[index].key.shard(among: detachedInterests.count) }

    mutating func linkLost(_ shard: Int) {
        for index in channels.indices where channels[index].attachment == .attached {
            if self.shard(of: index) == shard { detached(index) }
        }
    }

    private mutating func detached(_ index: Int) {
        channels[index].attachment = .detached
        detachedInterests[shard(of: index)].append(channels[index].interest)
    }

    func hasDetached(_ shard: Int) -> Bool { !detachedInterests[shard].isEmpty }

    /// The channels of a shard to attach again now that there is a link, `limit` at most.
    mutating func reattach(_ shard: Int, limit: Int) -> [AttachRequest] {
        var requests: [AttachRequest] = []
        while requests.count < limit, let interest = detachedInterests[shard].popLast() {
            guard let index = index(of: interest), channels[index].attachment == .detached,
                !channels[index].isUnused
            else { continue }
            requests.append(attachRequest(index))
        }
        return requests
    }

    private mutating func attachRequest(_ index: Int) -> AttachRequest {
        channels[index].attachment = .attaching
        let channel = channels[index]
        return AttachRequest(
            channel: channel.key, interest: channel.interest, after: channel.position,
            ownership: channel.owner == nil ? nil : channel.ownership, owner: channel.owner?.instance ?? 0,
            returns: channel.owner?.isReturn ?? false, attempt: channel.owner?.attempt ?? 0)
    }
}

// MARK: - Topics

extension ChannelTable {
    /// What was gathered before has gone out.
    mutating func setPublishers(_ publishers: [String], of subscriber: Subscriber, at index: Int) {
        guard channels[index].key.type == .topic else { return }
        audiences[index, default: TopicAudience()].set(publishers, of: subscriber.session.id)
    }

    mutating func removePublishers(of subscriber: Subscriber, at index: Int) {
        guard channels[index].key.type == .topic else { return }
        audiences[index]?.remove(subscriber.session.id)
    }
}

// MARK: - Entries

extension ChannelTable {
    /// Takes entries in, which the end of the turn hands on.
    mutating func gather(_ delivery: DeliveryPush) {
        guard let index = index(of: delivery.interest),
            let known = channels[index].advance(past: delivery)
        else { return }
        guard channels[index].key.type != .topic else {
            return gatherOfTopic(delivery, without: known, at: index)
        }
        pending[beginBatch(at: index)].append(delivery, without: known)
    }

    private mutating func beginBatch(at index: Int) -> Int {
        let number = channels[index].batch ?? pending.begin(for: index)
        channels[index].batch = number
        return number
    }

    /// What no subscriber here wants is dropped.
    private mutating func gatherOfTopic(_ delivery: DeliveryPush, without known: Int, at index: Int) {
        guard let audience = audiences[index],
            let publisher = PublicationPublisher.first(in: delivery.frames.bytes),
            let number = audience.number(of: publisher.string)
        else { return }
        let rank = TopicRank(
            index: index, priority: PublicationPriority.first(in: delivery.frames.bytes))
        pending[beginBatch(at: index)].append(delivery, without: known, of: number, to: audience, as: rank)
    }

    /// What a channel has gathered so far, for those who are subscribed now. The next entry begins a new
    /// batch.
    mutating func takeFanOut(at index: Int) -> FanOut? {
        guard let number = channels[index].batch else { return nil }
        channels[index].batch = nil
        return FanOut(
            channelIndex: index, batch: pending.take(number), subscribers: channels[index].subscribers)
    }

    /// Hands over everything that was gathered in this turn, channel by channel, with the channels' indices.
    mutating func endTurn(_ send: (DeliveryBatch, ShortList<Subscriber>, Int) -> Void) {
        for number in pending.numbers where !pending[number].isEmpty {
            let index = pending.index(of: number)
            channels[index].batch = nil
            pending[number].handOut(to: channels[index].subscribers) { send($0, $1, index) }
        }
        pending.end()
    }
}
