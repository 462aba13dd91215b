import NIOCore
import RTMMessagingClient
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMWire

/// Subscribing, step by step: the channel is attached, then presence lets the user in and storage gives its
/// snapshot, both at once, then what came meanwhile (or what the client missed) is read, and at last the
/// session is live (docs/decisions/0010). Each step carries the pending subscribe along; exactly one answer
/// goes out.
extension EdgeLoop {
    func subscribe(_ session: Session, _ request: ClientRequest.Subscribe, _ requestID: UInt64) {
        sendRun()
        do throws(RTMError) {
            let rates = session.application.rates
            try session.rates.call(rates, now: endOfTurn.now)
            try NameRule.channel.check(request.channel.bytes)
            guard SubscriptionFeatures.all.isSuperset(of: request.features) else {
                throw RTMError(
                    .invalidParameter, "the feature set \(request.features.rawValue) has unknown features")
            }
            try session.checkMayRead(request.channel)
            guard messaging.isUp else { throw .messagingUnreachable(.channelSubscribeFailed) }
            let key = session.channel(request.channel.string)
            try checkRoom(for: key, of: session)
            try session.rates.subscribe(key.name, rates, now: endOfTurn.now)
            session.entering.insert(key.name)
            enter(
                PendingSubscribe(
                    session: session, requestID: requestID, features: request.features, after: request.after,
                    purpose: .subscribe), key)
        } catch {
            session.answer(requestID, error)
        }
    }

    /// L-24 and M-8.
    private func checkRoom(for key: ChannelKey, of session: Session) throws(RTMError) {
        guard !session.entering.contains(key.name) else {
            throw RTMError(.duplicateOperation, "a subscribe to \"\(key.name)\" is under way")
        }
        if let place = index.place(of: key), session.subscriptions[place] != nil { return }
        // The inbox is among the live ones, but it isn't one of the user's.
        let limit = session.application.subscriptionsMax
        guard session.liveSubscriptions - 1 + session.entering.count < limit else {
            throw RTMError(
                .channelSubscribeFailed, "\(limit) channels are subscribed, which is the limit",
                limit: .init(name: "subscribed channels", value: UInt64(limit)))
        }
    }

    /// Into the index: attach the channel if nobody here is subscribed to it yet.
    func enter(_ pending: PendingSubscribe, _ key: ChannelKey) {
        var pending = pending
        if pending.purpose != .login { takeOut(&pending, key) }
        switch index.enter(pending, key) {
        case .attach(let request): messaging.attach(request)
        case .wait: break
        case .proceed(let place): proceed(pending, at: place)
        }
        reportChannels()
    }

    /// A subscriber that gets other features, or a new snapshot, comes in again from where it stands: so the
    /// same steps keep the order for it (M-5, D-46).
    private func takeOut(_ pending: inout PendingSubscribe, _ key: ChannelKey) {
        guard let place = index.place(of: key), let subscription = pending.session.subscriptions[place]
        else { return }
        if let paused = index.pause(pending.session, at: place) {
            pending.after = paused.position
            pending.added = pending.features.subtracting(paused.features).union(pending.renewed)
            pending.isReturn = true
        } else if let position = subscription.pausedAt {
            pending.after = position
            pending.isReturn = true
        }
    }

    /// The channel is attached.
    func proceed(_ pending: PendingSubscribe, at place: Int) {
        guard index.isCurrent(pending, at: place) else {
            return giveUp(pending, at: place, .unsubscribedMeanwhile)
        }
        guard pending.purpose != .login, !pending.isPrepared else { return begin(pending, at: place) }
        var pending = pending
        // What the snapshots don't contain follows this position.
        pending.after = pending.after ?? index.position(at: place)
        prepare(pending, at: place)
    }

    /// The snapshots are there: either the session is live at once, or it first reads what it missed.
    func begin(_ pending: PendingSubscribe, at place: Int) {
        guard index.isCurrent(pending, at: place) else {
            return giveUp(pending, at: place, .unsubscribedMeanwhile)
        }
        guard pending.session.hasRoom else { return waitForRoom(pending, at: place) }
        guard let after = pending.after, after != index.position(at: place) else {
            return goLive(pending, at: place, gap: false)
        }
        switch index.waitUntilAttached(pending, at: place) {
        case .attach(let request): messaging.attach(request)
        case .wait: break
        case .proceed, nil: read(pending, at: place, after: after)
        }
    }

    /// What a client asks for itself never makes it a slow consumer: while it hasn't read what was sent
    /// before, its next snapshot or page waits, and nothing else of this channel is added to what waits.
    ///
    /// - Parameter give: done first, as soon as there is room.
    func waitForRoom(
        _ pending: PendingSubscribe, at place: Int,
        _ give: @escaping (inout PendingSubscribe) -> Void = { _ in }
    ) {
        var pending = pending
        pending.hasWaited = true
        if pending.isRefresh {
            // The next ones don't wait for this client.
            pending.renewed = []
            refreshed()
        }
        answerEarly(&pending, at: place)
        pending.session.connection?.whenRoom { [self, pending] in
            var pending = pending
            // The first of those who waited may have taken the room.
            guard pending.session.hasRoom else { return waitForRoom(pending, at: place, give) }
            if index.isCurrent(pending, at: place) { give(&pending) }
            begin(pending, at: place)
        }
    }

    /// The client may not have the patience to wait for what was sent before, too.
    func answerEarly(_ pending: inout PendingSubscribe, at place: Int) {
        guard !pending.isAnswered, pending.purpose != .login, let after = pending.after else { return }
        answerAlone(pending, index.key(at: place), after, gap: false)
        pending.isAnswered = true
        pending.owesSnapshots = true
    }

    /// The session receives from here on. The request is answered, unless the first page of a catch-up did
    /// that; then only a gap is news.
    func goLive(_ pending: PendingSubscribe, at place: Int, gap: Bool) {
        let key = index.key(at: place)
        pending.session.entered(key)
        guard let position = index.admit(pending, at: place) else { return }
        if !pending.isAnswered {
            answer(pending, key, position, gap: gap)
        } else if gap {
            pending.session.send(ServerFrame(Gap(key, position)).frame)
        }
        if pending.owesSnapshots { giveSnapshots(pending) }
        if pending.purpose == .subscribe, !pending.isReturn { tellLocks(of: pending.session, .entered, key) }
        // Only who is live gets the snapshot when it can be had.
        let wasPassedOver = pending.session.subscriptions[place]?.lacksSnapshot == true
        let isWithout =
            pending.unavailable.contains(.presence) || wasPassedOver
            || (gap && (pending.isReturn || pending.hasWaited))
        if isWithout, pending.features.contains(.presence) { lease.lacksSnapshot(pending.session, at: place) }
        pending.session.subscriptions[place]?.lacksSnapshot = false
        if pending.isRefresh { refreshed() }
    }

    /// What follows `position` is sent from here on, behind the snapshots: presence, storage (M-4).
    func answer(_ pending: PendingSubscribe, _ key: ChannelKey, _ position: StreamPosition, gap: Bool) {
        answerAlone(pending, key, position, gap: gap)
        giveSnapshots(pending)
    }

    private func answerAlone(
        _ pending: PendingSubscribe, _ key: ChannelKey, _ position: StreamPosition, gap: Bool
    ) {
        let session = pending.session
        switch pending.purpose {
        case .login:
            session.connection?.loginSucceeded(session, inbox: position, gap: gap, pending.requestID)
        case _ where pending.isSilent:
            if gap { session.send(ServerFrame(Gap(key, position)).frame) }
        case .subscribe:
            let answer = Subscribed(position: position, unavailable: pending.unavailable, gap: gap)
            session.answer(pending.requestID, answer)
        case .userMetadata:
            session.answer(pending.requestID, UserMetadataSubscribed(position: position, gap: gap))
        }
    }

    func giveSnapshots(_ pending: PendingSubscribe) {
        let session = pending.session
        if pending.presenceFrames.readableBytes > 0 { session.send(pending.presenceFrames) }
        if pending.storageFrames.readableBytes > 0 { session.send(pending.storageFrames) }
    }

    func giveUp(_ pending: PendingSubscribe, at place: Int, _ error: RTMError) {
        let key = index.key(at: place)
        if index.isCurrent(pending, at: place) {
            pending.session.entered(key)
            if key.type == .message, pending.session.isMember { hasNotCome(pending, key) }
        }
        if let detach = index.abandon(pending, at: place) { messaging.detach(detach) }
        reportChannels()
        if pending.isRefresh { refreshed() }
        if pending.isAnswered || pending.isSilent { return }
        if pending.purpose == .login {
            let refusal = RTMError(.loginNoServerResources, error.reason, retryAfter: .seconds(1))
            pending.session.connection?.refuseLogin(refusal, pending.requestID)
        } else {
            pending.session.answer(pending.requestID, error)
        }
    }
}

extension EdgeLoop {
    /// Presence may have it as a member already.
    private func hasNotCome(_ pending: PendingSubscribe, _ key: ChannelKey) {
        guard pending.isContinued, !pending.session.isEnded else {
            return tellPresence(.left(key, pending.session.caller))
        }
        // Who wanted to go on has not left (P-4): he tries again, or the sync finds that he is lost.
        lease.missed()
    }
}

// MARK: - Unsubscribing

extension EdgeLoop {
    func unsubscribe(_ session: Session, _ channel: WireText, _ requestID: UInt64) {
        sendRun()
        do throws(RTMError) {
            try session.rates.call(session.application.rates, now: endOfTurn.now)
            try NameRule.channel.check(channel.bytes)
            let key = session.channel(channel.string)
            guard let place = index.place(of: key), session.subscriptions[place] != nil else {
                throw RTMError(.channelNotSubscribed, "channel \"\(key.name)\" is not subscribed")
            }
            if let detach = index.remove(session, at: place) { messaging.detach(detach) }
            session.entering.remove(key.name)
            reportChannels()
            tellPresence(.left(key, session.caller))
            tellLocks(of: session, .left, key)
            session.answer(requestID, Unsubscribed())
        } catch {
            session.answer(requestID, error)
        }
    }
}

extension Session {
    /// The subscribe is done with, in one way or another.
    fileprivate func entered(_ key: ChannelKey) {
        if key.type == .none { enteringMetadata.remove(key.name) } else { entering.remove(key.name) }
    }
}

extension RTMError {
    static let unsubscribedMeanwhile = RTMError(
        .channelSubscribeFailed, "the channel was unsubscribed before the subscribe was done")

    static func messagingUnreachable(_ code: ErrorCode) -> RTMError {
        RTMError(code, "the messaging service can't be reached at present", retryAfter: .seconds(1))
    }
}
