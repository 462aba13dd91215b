import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// Which sessions of this loop are subscribed to which channels, how far every subscribe has come, and how
/// each channel stands with messaging.
///
/// A value without I/O: it answers each event with what has to be done, and the loop does it. Adding a
/// subscriber needs no buffering and no merging of old and new entries, because a link is first in, first out
/// and a log has one owner: when the answer to an attach arrives, every entry up to its position has arrived
/// too, and everything that arrives later follows it (docs/decisions/0006). So a session becomes a subscriber
/// exactly at a known position.
struct SubscriptionIndex {
    private(set) var channels = ChannelTable()
    private(set) var seats = SessionSeats()
    private var subscribes: [SubscribeID: SubscribeMachine] = [:]
    private var lastID: UInt64 = 0

    var channelCount: Int { channels.count }

    func position(of key: ChannelKey) -> StreamPosition? {
        channels.place(of: key).flatMap { channels[$0].position }
    }

    func session(of id: SubscribeID) -> SessionKey? { subscribes[id]?.request.session }

    func channel(of id: SubscribeID) -> ChannelKey? { subscribes[id]?.request.channel }

    /// The session whose inbox this is.
    func owner(of interest: UInt64) -> SessionKey? {
        channels.place(of: interest).flatMap { channels[$0].owner?.session }
    }
}

// MARK: - What a session is subscribed to

extension SubscriptionIndex {
    /// Also while the subscribe is under way.
    func isSubscribed(_ session: SessionKey, to key: ChannelKey) -> Bool {
        channels.place(of: key).map { seats[session, $0] != nil } ?? false
    }

    /// Whether a subscribe that the client asked for has yet to make the session a subscriber.
    func isSubscribing(_ session: SessionKey, to key: ChannelKey) -> Bool {
        guard let place = channels.place(of: key), case .entering(let id) = seats[session, place] else {
            return false
        }
        return subscribes[id].map { $0.request.purpose != .refresh } ?? false
    }

    /// How many channels of this type the session is subscribed to, or on its way to be.
    func count(of session: SessionKey, in type: ChannelType) -> Int {
        seats.count(of: session, in: type)
            ?? seats.all(of: session).keys.count { channels[$0].key.type == type }
    }

    /// What the session is subscribed to, or on its way to be, among the channels of this type.
    func subscriptions(
        of session: SessionKey, in type: ChannelType
    ) -> [(channel: ChannelKey, features: SubscriptionFeatures)] {
        seats.all(of: session).compactMap { place, seat in
            guard channels[place].key.type == type, let features = features(at: place, seat) else {
                return nil
            }
            return (channels[place].key, features)
        }
    }

    func features(of session: SessionKey, in key: ChannelKey) -> SubscriptionFeatures? {
        guard let place = channels.place(of: key), let seat = seats[session, place] else { return nil }
        return features(at: place, seat)
    }

    private func features(at place: Int, _ seat: SessionSeats.Seat) -> SubscriptionFeatures? {
        switch seat {
        case .live(let seat): channels[place].subscribers[seat].features
        case .entering(let id): subscribes[id]?.request.features
        }
    }
}

// MARK: - Subscribing

extension SubscriptionIndex {
    /// A session wants to be a subscriber of a channel. One that is already, or is coming in again, comes in
    /// again from where it stands, so the same steps keep the order for it (M-5, D-46).
    mutating func enter(_ request: SubscribeRequest) -> [SubscribeAction] {
        let place =
            if case .login(let owner) = request.purpose {
                channels.occupy(request.channel, owner: owner)
            } else {
                channels.occupy(request.channel)
            }
        lastID += 1
        let id = SubscribeID(rawValue: lastID)
        var machine = SubscribeMachine(request, at: place)
        channels[place].enteringCount += 1
        let (before, after) = takeOut(request.session, at: place, for: &machine)
        seats.set(.entering(id), of: request.session, at: place, in: request.channel.type)
        subscribes[id] = machine
        return before + awaitAttachment(id, at: place) + after
    }

    /// - Returns: what has to be done before the session comes in again, and what after that.
    private mutating func takeOut(
        _ session: SessionKey, at place: Int, for machine: inout SubscribeMachine
    ) -> (before: [SubscribeAction], after: [SubscribeAction]) {
        switch seats[session, place] {
        case .live(let seat):
            guard let position = channels[place].position else { break }
            let fanOut = fanOut(at: place)
            machine.comeBack(from: position, with: channels[place].subscribers[seat].features)
            return (fanOut + unseat(seat, at: place), [])
        case .entering(let id):
            guard let other = removeSubscribe(id) else { break }
            machine.takeOver(from: other)
            return ([], other.holdsRefresh ? [.refreshed] : [])
        case nil:
            break
        }
        return ([], [])
    }

    /// What was gathered goes out before anything changes who is subscribed. So a subscriber receives nothing
    /// from before its position, and one that is taken out has received everything up to there.
    private mutating func fanOut(at place: Int) -> [SubscribeAction] {
        channels.takeFanOut(at: place).map { [.fanOut($0)] } ?? []
    }

    private mutating func removeSubscribe(_ id: SubscribeID) -> SubscribeMachine? {
        guard let machine = subscribes.removeValue(forKey: id) else { return nil }
        channels[machine.place].enteringCount -= 1
        channels[machine.place].entrants.remove(machine.request.subscriber)
        return machine
    }

    /// The session gets a new snapshot of presence, unless it has left or doesn't want any. Returns nil then.
    mutating func refresh(_ session: SessionKey, at place: Int) -> [SubscribeAction]? {
        switch seats[session, place] {
        case .live(let seat):
            let features = channels[place].subscribers[seat].features
            guard features.contains(.presence) else { return nil }
            return enter(
                SubscribeRequest(
                    session: session, requestID: 0, channel: channels[place].key, purpose: .refresh,
                    features: features, after: nil))
        case .entering(let id):
            // It gets the snapshot when it is live.
            missRefresh(id)
            return nil
        case nil:
            return nil
        }
    }

    /// Everybody who is a subscriber and wants presence is to get a new snapshot; these are the session's
    /// places.
    mutating func placesToRefresh(of session: SessionKey) -> [Int] {
        seats.all(of: session).compactMap { place, seat in
            switch seat {
            case .live(let seat):
                return channels[place].subscribers[seat].features.contains(.presence) ? place : nil
            case .entering(let id):
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
    /// The subscribe goes as far as it can.
    ///
    /// - Parameter hasRoom: here and below, whether the session's client has read what was sent before.
    mutating func goOn(_ id: SubscribeID, hasRoom: Bool) -> [SubscribeAction] {
        step(id, hasRoom) { $0.goOn($1) }
    }

    mutating func presenceAnswered(
        _ id: SubscribeID, _ answer: PresenceAnswer, hasRoom: Bool
    ) -> [SubscribeAction] {
        step(id, hasRoom) { $0.presenceAnswered(answer, $1) }
    }

    mutating func presenceRefused(
        _ id: SubscribeID, _ refusal: RTMError, hasRoom: Bool
    ) -> [SubscribeAction] {
        step(id, hasRoom) { $0.presenceRefused(refusal, $1) }
    }

    mutating func storageAnswered(
        _ id: SubscribeID, _ outcome: Result<ByteBuffer, ServiceLinkRequestFailure>, hasRoom: Bool
    ) -> [SubscribeAction] {
        step(id, hasRoom) { $0.storageAnswered(outcome, $1) }
    }

    mutating func pageRead(_ id: SubscribeID, _ page: SubscribePage, hasRoom: Bool) -> [SubscribeAction] {
        step(id, hasRoom) { $0.pageRead(page, $1) }
    }

    mutating func readFailed(
        _ id: SubscribeID, _ failure: ServiceLinkRequestFailure, hasRoom: Bool
    ) -> [SubscribeAction] {
        step(id, hasRoom) { $0.readFailed(failure, $1) }
    }

    mutating func attachFailed(
        _ id: SubscribeID, _ failure: ServiceLinkRequestFailure, hasRoom: Bool
    ) -> [SubscribeAction] {
        step(id, hasRoom) { $0.attachFailed(failure, $1) }
    }

    private mutating func step(
        _ id: SubscribeID, _ hasRoom: Bool,
        _ event: (inout SubscribeMachine, SubscribeMachine.ChannelView) -> SubscribeMachine.Step
    ) -> [SubscribeAction] {
        guard let index = subscribes.index(forKey: id) else { return [] }
        let place = subscribes.values[index].place
        let position = channels[place].position
        if channels[place].entrants.contains(subscribes.values[index].request.subscriber) {
            subscribes.values[index].advance(to: position)
        }
        let view = SubscribeMachine.ChannelView(
            position: position, isAttached: channels[place].attachment == .attached, hasRoom: hasRoom)
        let step = event(&subscribes.values[index], view)
        return step.actions + perform(step.next, of: id, at: place)
    }

    private mutating func perform(
        _ next: SubscribeMachine.Step.Next, of id: SubscribeID, at place: Int
    ) -> [SubscribeAction] {
        switch next {
        case .nothing:
            return []
        case .awaitAttachment:
            return awaitAttachment(id, at: place)
        case .awaitNextAttachment:
            channels[place].waiting.append(id)
            return []
        case .ask(let questions):
            keepUpToDate(id, at: place)
            return [.ask(id, questions)]
        case .collect(let questions):
            return [.collect(id, questions)]
        case .awaitRoom:
            return session(of: id).map { [.awaitRoom(id, $0)] } ?? []
        case .read(let question):
            if let machine = subscribes[id] { channels[place].entrants.remove(machine.request.subscriber) }
            return [.read(id, question)]
        case .goOn:
            return [.goOn(id)]
        case .retry:
            return [.retry(id, after: SubscribeMachine.retryDelay)]
        case .goLive(let gap):
            return goLive(id, at: place, gap: gap)
        case .giveUp(let error):
            return giveUp(id, at: place, error)
        }
    }

    private mutating func awaitAttachment(_ id: SubscribeID, at place: Int) -> [SubscribeAction] {
        switch channels.wait(id, at: place) {
        case .goOn: [.goOn(id)]
        case .wait: []
        case .attach(let request): [.attach(request)]
        }
    }

    /// While the snapshots are awaited the log moves on, by the session's own join at least. Whoever may see
    /// nothing of that needs no page.
    private mutating func keepUpToDate(_ id: SubscribeID, at place: Int) {
        guard let machine = subscribes[id], machine.given == channels[place].position else { return }
        channels[place].entrants.add(machine.request.subscriber)
    }

    private mutating func goLive(_ id: SubscribeID, at place: Int, gap: Bool) -> [SubscribeAction] {
        guard let position = channels[place].position else {
            preconditionFailure("a session can't be a subscriber of a channel that was never attached")
        }
        guard var machine = removeSubscribe(id) else { return [] }
        let fanOut = fanOut(at: place)
        let request = machine.request
        let seat = channels[place].add(request.subscriber)
        channels.hear(request.publishers, by: request.subscriber, at: place)
        seats.set(.live(seat), of: request.session, at: place, in: request.channel.type)
        return fanOut + machine.goLive(at: position, gap: gap)
    }

    private mutating func giveUp(
        _ id: SubscribeID, at place: Int, _ error: RTMError
    ) -> [SubscribeAction] {
        guard let request = subscribes[id]?.request, let kind = subscribes[id]?.kind else { return [] }
        var actions: [SubscribeAction] = []
        if request.isMembership {
            actions = [
                .hasNotEntered(request.session, request.channel, isContinued: kind == .continued)
            ]
        }
        seats.set(nil, of: request.session, at: place, in: request.channel.type)
        return actions + end(id, at: place, error)
    }

    private mutating func end(_ id: SubscribeID, at place: Int, _ error: RTMError) -> [SubscribeAction] {
        guard var machine = removeSubscribe(id) else { return [] }
        let detach = channels.vacateIfUnused(place)
        return (detach.map { [$0] } ?? []) + machine.giveUp(error)
    }
}

// MARK: - Leaving

extension SubscriptionIndex {
    /// Returns nil if the session isn't subscribed to the channel. A subscribe that is under way is refused.
    mutating func leave(_ session: SessionKey, _ key: ChannelKey) -> [SubscribeAction]? {
        guard let place = channels.place(of: key), let seat = seats[session, place] else { return nil }
        seats.set(nil, of: session, at: place, in: key.type)
        return leave(seat, at: place)
    }

    /// The session is gone.
    mutating func ended(_ session: SessionKey, isLoggedOut: Bool = false) -> [SubscribeAction] {
        seats.removeAll(of: session)
            .flatMap { place, seat in leave(seat, at: place, isLoggedOut: isLoggedOut) }
    }

    private mutating func leave(
        _ seat: SessionSeats.Seat, at place: Int, isLoggedOut: Bool = false
    ) -> [SubscribeAction] {
        switch seat {
        case .entering(let id):
            return end(id, at: place, .unsubscribedMeanwhile)
        case .live(let seat):
            let released = unseat(seat, at: place)
            return released + (channels.vacateIfUnused(place, isLoggedOut: isLoggedOut).map { [$0] } ?? [])
        }
    }

    private mutating func unseat(_ seat: Int, at place: Int) -> [SubscribeAction] {
        let (subscriber, type) = (channels[place].subscribers[seat], channels[place].key.type)
        channels.hearNobody(by: subscriber, at: place)
        if let moved = channels[place].remove(at: seat) {
            seats.set(.live(seat), of: moved, at: place, in: type)
        }
        return type == .topic ? [.release(subscriber.session, topic: place)] : []
    }
}

// MARK: - What messaging says

extension SubscriptionIndex {
    mutating func attached(_ interest: UInt64, _ response: AttachResponse) -> [SubscribeAction] {
        guard let place = channels.place(of: interest) else { return [] }
        // Entries that were sent again because of our old position belong before what follows.
        let actions = fanOut(at: place)
        channels.attached(place, response)
        return actions + channels.takeWaiting(place).map { .goOn($0) }
    }

    /// Messaging lost what followed our position. Every subscriber that may miss something is told, and gets
    /// what comes next.
    mutating func skipped(_ skip: SkipPush) -> [SubscribeAction] {
        guard let place = channels.place(of: skip.interest), channels[place].isBefore(skip.position) else {
            return []
        }
        let actions = fanOut(at: place)
        let isSameLog = channels[place].position?.epoch == skip.position.epoch
        channels.skip(place, to: skip.position)
        let told = channels[place].subscribers.filter {
            !isSameLog || !$0.features.isDisjoint(with: skip.features)
        }
        guard !told.isEmpty else { return actions }
        return actions + [
            .gapForAll(ContiguousArray(told), place: place, channels[place].key, skip.position)
        ]
    }

    /// The attach came to nothing. Subscribers stay, for the next attempt.
    ///
    /// - Returns: the subscribes that waited for it. `attachFailed` has to follow for each.
    mutating func attachFailed(_ interest: UInt64) -> [SubscribeID] {
        channels.attachFailed(interest).map { channels.takeWaiting($0) } ?? []
    }

    /// Messaging keeps channels in so many shards.
    mutating func learnShards(_ count: Int) { channels.learnShards(count) }

    mutating func linkLost(_ shard: Int) { channels.linkLost(shard) }

    func hasDetached(_ shard: Int) -> Bool { channels.hasDetached(shard) }

    /// The channels of a shard to attach again now that there is a link, `limit` at most.
    mutating func reattach(_ shard: Int, limit: Int) -> [AttachRequest] {
        channels.reattach(shard, limit: limit)
    }

    /// Takes entries in, which the end of the turn hands on.
    mutating func gather(_ delivery: DeliveryPush) { channels.gather(delivery) }

    /// Hands over everything that was gathered in this turn, channel by channel.
    mutating func endTurn(_ send: (DeliveryBatch, ContiguousArray<Subscriber>) -> Void) {
        channels.endTurn(send)
    }
}
