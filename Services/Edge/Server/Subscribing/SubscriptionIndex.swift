import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Which sessions of this loop are subscribed to which channels, how far every subscribe has come, and
/// which channels messaging delivers.
///
/// A value without I/O: it answers each event with what has to be done, and the loop does it. Adding a
/// subscriber needs no buffering and no merging of old and new entries, because a link is first in, first out
/// and a log has one owner: when the answer to an attach arrives, every entry up to its position has arrived
/// too, and everything that arrives later follows it (docs/decisions/0006). So a session becomes a subscriber
/// exactly at a known position.
struct SubscriptionIndex {
    private(set) var channels = ChannelTable()
    private(set) var bySession = SessionSubscriptions()
    private var subscribes: [SubscribeID: SubscribeMachine] = [:]
    private var lastID: UInt64 = 0

    var channelCount: Int { channels.count }

    func position(of key: ChannelKey) -> StreamPosition? {
        channels.index(of: key).flatMap { channels[$0].position }
    }

    func session(of id: SubscribeID) -> SessionKey? { subscribes[id]?.request.session }

    func channel(of id: SubscribeID) -> ChannelKey? { subscribes[id]?.request.channel }

    /// The session whose inbox this is.
    func owner(of interest: UInt64) -> SessionKey? {
        channels.index(of: interest).flatMap { channels[$0].owner?.session }
    }
}

// MARK: - What a session is subscribed to

extension SubscriptionIndex {
    /// Also while the subscribe is under way.
    func isSubscribed(_ session: SessionKey, to key: ChannelKey) -> Bool {
        channels.index(of: key).map { bySession[session, $0] != nil } ?? false
    }

    /// Whether a subscribe that the client asked for has yet to make the session a subscriber.
    func isSubscribing(_ session: SessionKey, to key: ChannelKey) -> Bool {
        guard let channelIndex = channels.index(of: key),
            case .subscribing(let id) = bySession[session, channelIndex]
        else {
            return false
        }
        return subscribes[id].map { $0.request.purpose != .refresh } ?? false
    }

    /// How many channels of this type the session is subscribed to, or on its way to be.
    func count(of session: SessionKey, in type: ChannelType) -> Int {
        bySession.count(of: session, in: type)
            ?? bySession.all(of: session).count { channels[Int($0.channelIndex)].key.type == type }
    }

    /// What the session is subscribed to, or on its way to be, among the channels of this type.
    func subscriptions(
        of session: SessionKey, in type: ChannelType
    ) -> [(channel: ChannelKey, features: SubscriptionFeatures)] {
        bySession.all(of: session).compactMap { entry in
            let channelIndex = Int(entry.channelIndex)
            guard channels[channelIndex].key.type == type,
                let features = features(at: channelIndex, entry.subscription)
            else {
                return nil
            }
            return (channels[channelIndex].key, features)
        }
    }

    func features(of session: SessionKey, in key: ChannelKey) -> SubscriptionFeatures? {
        guard let channelIndex = channels.index(of: key), let subscription = bySession[session, channelIndex]
        else { return nil }
        return features(at: channelIndex, subscription)
    }

    private func features(at channelIndex: Int, _ subscription: SessionSubscriptions.Subscription)
        -> SubscriptionFeatures?
    {
        switch subscription {
        case .live(let index): channels[channelIndex].subscribers[index].features
        case .subscribing(let id): subscribes[id]?.request.delivered
        }
    }
}

// MARK: - What operators see

extension SubscriptionIndex {
    /// - Returns: what the session is subscribed to, `limit` channels at most, and how many there are.
    func overview(of session: SessionKey, limit: Int) -> (channels: [SubscriptionOverview], count: Int) {
        let all = bySession.all(of: session)
        let listed = all.prefix(limit).map { entry in
            let channel = channels[Int(entry.channelIndex)]
            let isLive = if case .live = entry.subscription { true } else { false }
            return SubscriptionOverview(channel: channel.key, position: channel.position, isLive: isLive)
        }
        return (listed.sorted { $0.channel.name < $1.channel.name }, all.count)
    }
}

extension SubscriptionIndex {
    /// A channel as a session gets it; nil if the session isn't subscribed.
    func explain(_ channel: ChannelKey, of session: SessionKey) -> (
        channel: ExplainedChannel, features: SubscriptionFeatures, isLive: Bool
    )? {
        // Inboxes aren't found by their names.
        for entry in bySession.all(of: session) where channels[Int(entry.channelIndex)].key == channel {
            let index = Int(entry.channelIndex)
            guard let features = features(at: index, entry.subscription) else { return nil }
            let isLive = if case .live = entry.subscription { true } else { false }
            return (ExplainedChannel(channels[index]), features, isLive)
        }
        return nil
    }
}

extension ExplainedChannel {
    init(_ channel: EdgeChannel) {
        self.init(
            isAttached: channel.attachment == .attached, position: channel.position,
            subscribers: UInt32(channel.subscribers.count))
    }
}

// MARK: - Subscribing

extension SubscriptionIndex {
    /// A session wants to be a subscriber of a channel. One that is already, or is coming in again, comes in
    /// again from its position, so the same steps keep the order for it (M-5, D-46).
    mutating func enter(_ request: SubscribeRequest) -> SubscribeActions {
        let channelIndex =
            if case .login(let owner) = request.purpose {
                channels.occupy(request.channel, owner: owner)
            } else {
                channels.occupy(request.channel)
            }
        lastID += 1
        let id = SubscribeID(rawValue: lastID)
        var machine = SubscribeMachine(id, request, at: channelIndex)
        channels[channelIndex].subscribingCount += 1
        let (before, after) = takeOut(request.session, at: channelIndex, for: &machine)
        bySession.set(.subscribing(id), of: request.session, at: channelIndex, in: request.channel.type)
        subscribes[id] = machine
        return before + awaitAttachment(id, at: channelIndex) + after
    }

    /// - Returns: what has to be done before the session comes in again, and what after that.
    private mutating func takeOut(
        _ session: SessionKey, at channelIndex: Int, for machine: inout SubscribeMachine
    ) -> (before: SubscribeActions, after: SubscribeActions) {
        switch bySession[session, channelIndex] {
        case .live(let index):
            guard let position = channels[channelIndex].position else { break }
            let fanOut = fanOut(at: channelIndex)
            machine.comeBack(from: position, with: channels[channelIndex].subscribers[index].features)
            return (fanOut + remove(index, at: channelIndex), .none)
        case .subscribing(let id):
            guard let other = removeSubscribe(id) else { break }
            machine.takeOver(from: other)
            return (
                .none,
                other.holdsRefresh ? .one(.refreshed(session, channelIndex: channelIndex)) : .none
            )
        case nil:
            break
        }
        return (.none, .none)
    }

    /// What was gathered goes out before anything changes who is subscribed. So a subscriber receives nothing
    /// from before its position, and one that is taken out has received everything up to there.
    private mutating func fanOut(at channelIndex: Int) -> SubscribeActions {
        SubscribeActions(channels.takeFanOut(at: channelIndex).map { .fanOut($0) })
    }

    private mutating func removeSubscribe(_ id: SubscribeID) -> SubscribeMachine? {
        guard let machine = subscribes.removeValue(forKey: id) else { return nil }
        channels[machine.channelIndex].subscribingCount -= 1
        channels[machine.channelIndex].caughtUp.remove(machine.request.subscriber)
        return machine
    }

    /// The session gets a new snapshot of presence, unless it has left or doesn't want any. Returns nil then.
    mutating func refresh(_ session: SessionKey, at channelIndex: Int) -> SubscribeActions? {
        switch bySession[session, channelIndex] {
        case .live(let index):
            let features = channels[channelIndex].subscribers[index].features
            guard features.contains(.presence) else { return nil }
            return enter(
                SubscribeRequest(
                    session: session, requestID: 0, channel: channels[channelIndex].key, purpose: .refresh,
                    features: features.subtracting(.ownMessages), after: nil,
                    ownMessages: features.contains(.ownMessages)))
        case .subscribing(let id):
            // It gets the snapshot when it is live.
            missRefresh(id)
            return nil
        case nil:
            return nil
        }
    }

    /// All subscribers that want presence are to get new snapshots. Returns the indices of the session's
    /// channels.
    mutating func subscriptionsToRefresh(of session: SessionKey) -> [Int] {
        bySession.all(of: session).compactMap { entry in
            let channelIndex = Int(entry.channelIndex)
            switch entry.subscription {
            case .live(let index):
                return channels[channelIndex].subscribers[index].features.contains(.presence)
                    ? channelIndex : nil
            case .subscribing(let id):
                missRefresh(id)
                return nil
            }
        }
    }

    private mutating func missRefresh(_ id: SubscribeID) {
        if subscribes[id]?.kind == .returning { subscribes[id]?.missedRefresh = true }
    }
}

// MARK: - The steps of a subscribe

extension SubscriptionIndex {
    /// Something happens to a subscribe. A subscribe that has ended meanwhile ignores it.
    ///
    /// - Parameter isWritable: whether the session's client has read what was sent before.
    mutating func handle(
        _ event: SubscribeEvent, of id: SubscribeID, isWritable: Bool
    ) -> SubscribeActions {
        guard let entry = subscribes.index(forKey: id) else { return .none }
        let channelIndex = subscribes.values[entry].channelIndex
        let position = channels[channelIndex].position
        if channels[channelIndex].caughtUp.contains(subscribes.values[entry].request.subscriber) {
            subscribes.values[entry].advance(to: position)
        }
        let circumstances = SubscribeMachine.Circumstances(
            position: position, isAttached: channels[channelIndex].attachment == .attached,
            isWritable: isWritable)
        let step = subscribes.values[entry].handle(event, circumstances)
        return step.actions + perform(step.transition, of: id, at: channelIndex)
    }

    private mutating func perform(
        _ transition: SubscribeMachine.Step.Transition, of id: SubscribeID, at channelIndex: Int
    ) -> SubscribeActions {
        switch transition {
        case .none:
            return .none
        case .awaitAttachment:
            return awaitAttachment(id, at: channelIndex)
        case .awaitNextAttachment:
            channels[channelIndex].waiting.append(id)
            return .none
        case .prepare(let query):
            keepCaughtUp(id, at: channelIndex)
            return .one(.ask(query))
        case .read(let query):
            if let machine = subscribes[id] {
                channels[channelIndex].caughtUp.remove(machine.request.subscriber)
            }
            return .one(.read(query))
        case .goLive(let gap):
            return goLive(id, at: channelIndex, gap: gap)
        case .giveUp(let error):
            return giveUp(id, at: channelIndex, error)
        }
    }

    private mutating func awaitAttachment(_ id: SubscribeID, at channelIndex: Int) -> SubscribeActions {
        switch channels.wait(id, at: channelIndex) {
        case .proceed: .one(.proceed(id))
        case .wait: .none
        case .attach(let request): .one(.attach(request))
        }
    }

    /// While the snapshots are awaited the log moves on, by the session's own join at least. A subscribe that
    /// may see nothing of that needs no page.
    private mutating func keepCaughtUp(_ id: SubscribeID, at channelIndex: Int) {
        guard let machine = subscribes[id], machine.given == channels[channelIndex].position else { return }
        channels[channelIndex].caughtUp.add(machine.request.subscriber)
    }

    private mutating func goLive(_ id: SubscribeID, at channelIndex: Int, gap: Bool) -> SubscribeActions {
        guard let position = channels[channelIndex].position else {
            preconditionFailure("a session can't be a subscriber of a channel that was never attached")
        }
        guard var machine = removeSubscribe(id) else { return .none }
        let fanOut = fanOut(at: channelIndex)
        let request = machine.request
        let index = channels[channelIndex].add(request.subscriber)
        channels.setPublishers(request.publishers, of: request.subscriber, at: channelIndex)
        bySession.set(.live(index), of: request.session, at: channelIndex, in: request.channel.type)
        return fanOut + machine.goLive(at: position, gap: gap)
    }

    private mutating func giveUp(
        _ id: SubscribeID, at channelIndex: Int, _ error: RTMError
    ) -> SubscribeActions {
        guard let request = subscribes[id]?.request, let kind = subscribes[id]?.kind else { return .none }
        let actions: SubscribeActions =
            request.isMembership
            ? .one(.hasNotEntered(request.session, request.channel, isContinued: kind == .continued))
            : .none
        bySession.set(nil, of: request.session, at: channelIndex, in: request.channel.type)
        return actions + end(id, at: channelIndex, error)
    }

    private mutating func end(_ id: SubscribeID, at channelIndex: Int, _ error: RTMError) -> SubscribeActions
    {
        guard var machine = removeSubscribe(id) else { return .none }
        let detach = channels.vacateIfUnused(channelIndex)
        return SubscribeActions(detach) + machine.giveUp(error)
    }
}

// MARK: - Leaving

extension SubscriptionIndex {
    /// Returns nil if the session isn't subscribed to the channel. A subscribe that is under way is refused.
    mutating func leave(_ session: SessionKey, _ key: ChannelKey) -> SubscribeActions? {
        guard let channelIndex = channels.index(of: key), let subscription = bySession[session, channelIndex]
        else { return nil }
        bySession.set(nil, of: session, at: channelIndex, in: key.type)
        return leave(subscription, at: channelIndex)
    }

    /// The session is gone.
    mutating func ended(_ session: SessionKey, isLoggedOut: Bool = false) -> SubscribeActions {
        var actions = SubscribeActions.none
        for entry in bySession.removeAll(of: session) {
            actions.append(
                contentsOf: leave(
                    entry.subscription, at: Int(entry.channelIndex), isLoggedOut: isLoggedOut))
        }
        return actions
    }

    private mutating func leave(
        _ subscription: SessionSubscriptions.Subscription, at channelIndex: Int, isLoggedOut: Bool = false
    ) -> SubscribeActions {
        switch subscription {
        case .subscribing(let id):
            return end(id, at: channelIndex, .unsubscribedMeanwhile)
        case .live(let index):
            let released = remove(index, at: channelIndex)
            return released
                + SubscribeActions(channels.vacateIfUnused(channelIndex, isLoggedOut: isLoggedOut))
        }
    }

    private mutating func remove(_ index: Int, at channelIndex: Int) -> SubscribeActions {
        let (subscriber, type) = (channels[channelIndex].subscribers[index], channels[channelIndex].key.type)
        channels.removePublishers(of: subscriber, at: channelIndex)
        if let moved = channels[channelIndex].remove(at: index) {
            bySession.set(.live(index), of: moved, at: channelIndex, in: type)
        }
        return type == .topic ? .one(.release(subscriber.session, topic: channelIndex)) : .none
    }
}

// MARK: - What messaging reports

extension SubscriptionIndex {
    mutating func attached(_ interest: UInt64, _ response: AttachResponse) -> SubscribeActions {
        guard let channelIndex = channels.index(of: interest) else { return .none }
        // Entries that were sent again because of our old position belong before what follows.
        var actions = fanOut(at: channelIndex)
        channels.attached(channelIndex, response)
        for id in channels.takeWaiting(channelIndex) { actions.append(.proceed(id)) }
        return actions
    }

    /// Messaging lost what followed our position. Every subscriber that may miss something gets a gap, and
    /// what comes next.
    mutating func skipped(_ skip: SkipPush) -> SubscribeActions {
        guard let channelIndex = channels.index(of: skip.interest),
            channels[channelIndex].isMoved(by: skip)
        else {
            return .none
        }
        let actions = fanOut(at: channelIndex)
        let isSameLog = channels[channelIndex].position?.epoch == skip.position.epoch
        channels.skip(channelIndex, to: skip.position)
        let affected = channels[channelIndex].subscribers.filter {
            !isSameLog || !$0.features.isDisjoint(with: skip.features)
        }
        guard !affected.isEmpty else { return actions }
        return actions
            + .one(
                .gapForAll(
                    ShortList(affected), channelIndex: channelIndex, channels[channelIndex].key,
                    skip.position))
    }

    /// The attach came to nothing. Subscribers stay, for the next attempt.
    ///
    /// - Returns: the subscribes that waited for it. `attachFailed` has to follow for each.
    mutating func attachFailed(_ interest: UInt64) -> [SubscribeID] {
        channels.attachFailed(interest).map { channels.takeWaiting($0) } ?? []
    }

    /// Messaging keeps channels in so many shards.
    mutating func setShardCount(_ count: Int) { channels.setShardCount(count) }

    mutating func linkLost(_ shard: Int) { channels.linkLost(shard) }

    func hasDetached(_ shard: Int) -> Bool { channels.hasDetached(shard) }

    /// The channels of a shard to attach again now that there is a link, `limit` at most.
    mutating func reattach(_ shard: Int, limit: Int) -> [AttachRequest] {
        channels.reattach(shard, limit: limit)
    }

    /// Takes entries in, which the end of the turn hands on.
    mutating func gather(_ delivery: DeliveryPush) { channels.gather(delivery) }

    /// Hands over everything that was gathered in this turn, channel by channel, with the channels' indices.
    mutating func endTurn(_ send: (DeliveryBatch, ShortList<Subscriber>, Int) -> Void) {
        channels.endTurn(send)
    }
}
