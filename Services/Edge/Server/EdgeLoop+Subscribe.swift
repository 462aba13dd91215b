import NIOCore
import RTMMessagingClient
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMWire

/// Subscribing, step by step: presence is asked first (when wanted), then the channel is attached, then what
/// the client missed is read, and at last the session is live. Each step carries the pending subscribe along;
/// exactly one answer goes out at its end.
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
            var pending = PendingSubscribe(
                session: session, requestID: requestID, features: request.features, after: request.after,
                purpose: .subscribe)
            // Storage has no snapshots to offer yet, so its events are not promised either.
            pending.unavailable = request.features.intersection([.metadata, .lock])
            try checkRoom(for: key, of: session)
            try session.rates.subscribe(key.name, rates, now: endOfTurn.now)
            session.entering.insert(key.name)
            if request.features.contains(.presence) {
                joinPresence(pending, key)
            } else {
                enter(pending, key)
            }
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

    private func joinPresence(_ pending: PendingSubscribe, _ key: ChannelKey) {
        presence.join(
            JoinRequest(
                channel: key,
                caller: Caller(
                    appID: key.appID, userID: pending.session.userID, session: pending.session.id, instance: 0
                ),
                lease: 0, quiet: pending.features.contains(.quiet), presenceTimeout: .zero,
                wantsSnapshot: false),
            context: PresenceJoin(pending: pending, key: key))
    }

    func presenceJoined(_ join: PresenceJoin, _ outcome: Result<Void, LinkRequestFailure>) {
        guard !join.pending.session.isEnded else { return }
        var pending = join.pending
        if case .failure = outcome { pending.unavailable.insert(.presence) }
        enter(pending, join.key)
    }

    struct PresenceJoin {
        var pending: PendingSubscribe
        let key: ChannelKey
    }

    /// Into the index: attach the channel if nobody here is subscribed to it yet.
    func enter(_ pending: PendingSubscribe, _ key: ChannelKey) {
        if let place = index.place(of: key), pending.session.subscriptions[place]?.place != nil {
            replaceFeatures(pending, at: place)
            return
        }
        switch index.enter(pending, key) {
        case .attach(let request): messaging.attach(request)
        case .wait: break
        case .proceed(let place): proceed(pending, at: place)
        }
        reportChannels()
    }

    private func replaceFeatures(_ pending: PendingSubscribe, at place: Int) {
        pending.session.entering.remove(index.key(at: place).name)
        index.setFeatures(pending.features, of: pending.session, at: place)
        guard let position = index.position(at: place) else { return }
        let answer = Subscribed(position: position, unavailable: pending.unavailable, gap: false)
        pending.session.answer(pending.requestID, answer)
    }

    /// The channel is attached: either the session is live at once, or it first reads what it missed.
    func proceed(_ pending: PendingSubscribe, at place: Int) {
        guard index.isCurrent(pending, at: place) else {
            return giveUp(pending, at: place, .unsubscribedMeanwhile)
        }
        if let after = pending.after, after != index.position(at: place) {
            read(pending, at: place, after: after)
        } else {
            goLive(pending, at: place, gap: false)
        }
    }

    /// The session receives from here on. The request is answered, unless the first page of a catch-up did
    /// that; then only a gap is news.
    func goLive(_ pending: PendingSubscribe, at place: Int, gap: Bool) {
        let key = index.key(at: place)
        pending.session.entering.remove(key.name)
        guard let position = index.admit(pending, at: place) else { return }
        if !pending.isAnswered {
            answer(pending, position, gap: gap)
        } else if gap {
            pending.session.send(ServerFrame(Gap(key, position)).frame)
        }
    }

    /// What follows `position` is sent from here on.
    func answer(_ pending: PendingSubscribe, _ position: StreamPosition, gap: Bool) {
        switch pending.purpose {
        case .login:
            pending.session.connection?.loginSucceeded(
                pending.session, inbox: position, gap: gap, pending.requestID)
        case .subscribe:
            let answer = Subscribed(position: position, unavailable: pending.unavailable, gap: gap)
            pending.session.answer(pending.requestID, answer)
        }
    }

    func giveUp(_ pending: PendingSubscribe, at place: Int, _ error: RTMError) {
        pending.session.entering.remove(index.key(at: place).name)
        if let detach = index.abandon(pending, at: place) { messaging.detach(detach) }
        reportChannels()
        if pending.isAnswered { return }
        if pending.purpose == .login {
            let refusal = RTMError(.loginNoServerResources, error.reason, retryAfter: .seconds(1))
            pending.session.connection?.refuseLogin(refusal, pending.requestID)
        } else {
            pending.session.answer(pending.requestID, error)
        }
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
            reportChannels()
            session.answer(requestID, Unsubscribed())
        } catch {
            session.answer(requestID, error)
        }
    }
}

extension RTMError {
    static let unsubscribedMeanwhile = RTMError(
        .channelSubscribeFailed, "the channel was unsubscribed before the subscribe was done")

    static func messagingUnreachable(_ code: ErrorCode) -> RTMError {
        RTMError(code, "the messaging service can't be reached at present", retryAfter: .seconds(1))
    }
}
