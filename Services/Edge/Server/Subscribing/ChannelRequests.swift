import NIOCore
import RTMAccessToken
import RTMModel
import RTMServiceLink
import RTMWire

/// Subscribing to channels and unsubscribing, as clients ask for it: what is asked is checked here, and
/// `Subscribing` does it. To join a stream channel is to subscribe to it, then to its topics and to single
/// topics (docs/decisions/0017).
final class ChannelRequests {
    private let subscribing: Subscribing
    private let memberships: Memberships
    private let locks: Locks
    private let endOfTurn: EndOfTurn
    private let eventLoop: any EventLoop
    private let wallClock: () -> UInt64

    init(
        subscribing: Subscribing, memberships: Memberships, locks: Locks, endOfTurn: EndOfTurn,
        eventLoop: any EventLoop, wallClock: @escaping () -> UInt64
    ) {
        self.subscribing = subscribing
        self.memberships = memberships
        self.locks = locks
        self.endOfTurn = endOfTurn
        self.eventLoop = eventLoop
        self.wallClock = wallClock
    }

    func subscribe(_ session: Session, _ request: ClientRequest.Subscribe, _ requestID: UInt64) {
        do throws(RTMError) {
            let rates = session.application.rates
            try session.rates.callToSubscribe(rates, now: endOfTurn.now)
            let wish = ChannelWish(request)
            let key = try check(wish, request.channel, for: session)
            if key.type == .message {
                try session.rates.subscribe(key.name, rates, now: endOfTurn.now)
            }
            enter(key, of: session, requestID, wish)
        } catch {
            session.answer(requestID, error)
        }
    }

    /// A subscription that came with the login. The rate of logins bounds these, so no other rate counts
    /// them.
    func subscribe(_ session: Session, _ channel: LoginSubscriptions.Channel) {
        do throws(RTMError) {
            let wish = ChannelWish(channel)
            let key = try channel.name.withWireText { name -> Result<ChannelKey, RTMError> in
                Result { () throws(RTMError) in try check(wish, name, for: session) }
            }.get()
            enter(key, of: session, channel.requestID, wish)
        } catch {
            session.answer(channel.requestID, error)
        }
    }

    private func check(
        _ wish: ChannelWish, _ name: WireText, for session: Session
    ) throws(RTMError) -> ChannelKey {
        var grant: JoinGrant?
        switch wish.type {
        case .message:
            try NameRule.channel.check(name.bytes)
            try session.checkMayRead(name)
        case .stream:
            try NameRule.channel.check(name.bytes)
            try session.checkMayRead(name, .streamChannels)
            grant = try session.application.checkJoin(
                name.string, wish.token, userID: session.userID, nowMilliseconds: wallClock())
        case .topics:
            try checkIsJoined(name, by: session)
        case .topic:
            try checkIsJoined(WireText(try NameRule.checkTopicName(name.bytes)), by: session)
            try Self.check(publishers: wish.publishers)
        case .user, .some(.none), nil:
            throw RTMError(.invalidChannelType, "a channel of this type can't be subscribed")
        }
        guard wish.allowed.isSuperset(of: wish.features) else {
            throw RTMError(
                .invalidParameter, "the feature set \(wish.features.rawValue) has unknown features")
        }
        let key = session.channel(name.string, wish.type ?? .none)
        try subscribing.checkIsPossible(
            key, wish.type == .stream ? .channelJoinFailed : .channelSubscribeFailed)
        try checkCapacity(for: key, of: session)
        if let grant { accept(key.name, grant, session) }
        return key
    }

    private func accept(_ channel: String, _ grant: JoinGrant, _ session: Session) {
        var tokens = session.joinTokens ?? JoinTokens()
        tokens.accepted(channel, grant)
        session.joinTokens = tokens
        // The connection looks after it in a turn of its own, behind the answer to the request.
        eventLoop.assumeIsolated().execute { session.connection?.joinTokenAccepted() }
    }

    private func checkIsJoined(_ name: WireText, by session: Session) throws(RTMError) {
        guard subscribing.isSubscribed(session.key, to: session.channel(name.string, .stream)) else {
            throw RTMError(.channelNotJoined, "stream channel \"\(name.string)\" is not joined")
        }
    }

    private static func check(publishers: [String]) throws(RTMError) {
        guard !publishers.isEmpty else {
            throw RTMError(.channelInvalidUserList, "the subscription of a topic names no publisher")
        }
        let countMax = Limits.topicPublishersMax
        guard publishers.count <= countMax else {
            throw RTMError(
                .channelExceedTopicUserLimitation,
                "the subscription of a topic names \(publishers.count) publishers, \(countMax) are allowed",
                limit: .init(name: "publishers of a subscribed topic", value: UInt64(countMax)))
        }
        for publisher in publishers where (try? NameRule.user.check(publisher.utf8)) == nil {
            throw RTMError(
                .channelInvalidUserList, "\"\(publisher.prefix(64))\" can't be the id of a publisher")
        }
    }

    private func enter(_ key: ChannelKey, of session: Session, _ requestID: UInt64, _ wish: ChannelWish) {
        subscribing.enter(
            SubscribeRequest(
                session: session.key, requestID: requestID, channel: key, purpose: .subscribe,
                features: wish.features, after: wish.after, publishers: wish.publishers))
    }

    /// A session may be subscribed to so many channels (L-24, L-25), and in a stream channel to so many
    /// topics (L-28).
    private func checkCapacity(for key: ChannelKey, of session: Session) throws(RTMError) {
        let limit = SubscriptionLimit(key.type, of: session.application)
        let count = key.type == .topic ? countOfTopics(beside: key, of: session) : nil
        switch subscribing.room(for: key, of: session, count, countMax: limit.countMax) {
        case .free: return
        case .underWay:
            throw RTMError(.duplicateOperation, "a subscribe to \"\(key.name)\" is under way")
        case .full: throw limit.error
        }
    }

    private func countOfTopics(beside key: ChannelKey, of session: Session) -> Int {
        let channel = session.channel(TopicName(key.name)?.channel ?? "", .stream)
        return subscribing.topics(of: session.key, in: channel).count
    }
}

// MARK: - Leaving

extension ChannelRequests {
    func unsubscribe(_ session: Session, _ request: ClientRequest.Unsubscribe, _ requestID: UInt64) {
        do throws(RTMError) {
            try session.rates.call(session.application.rates, now: endOfTurn.now)
            let key = try key(of: request, for: session)
            guard subscribing.isSubscribed(session.key, to: key) else { throw key.isNotSubscribed }
            if key.type == .stream { leaveTopics(of: key, session) }
            leave(key, session)
            session.answer(requestID, Unsubscribed())
        } catch {
            session.answer(requestID, error)
        }
    }

    private func key(
        of request: ClientRequest.Unsubscribe, for session: Session
    ) throws(RTMError) -> ChannelKey {
        switch request.channelType {
        case .message, .stream, .topics: try NameRule.channel.check(request.channel.bytes)
        case .topic: _ = try NameRule.checkTopicName(request.channel.bytes)
        case .user, .some(.none), nil:
            throw RTMError(.invalidChannelType, "a channel of this type can't be subscribed")
        }
        return session.channel(request.channel.string, request.channelType ?? .none)
    }

    /// Others learn that the user's topics are over before they learn that he has left (C-4).
    private func leaveTopics(of key: ChannelKey, _ session: Session) {
        for topic in subscribing.topics(of: session.key, in: key) { leave(topic, session) }
        let topics = session.channel(key.name, .topics)
        if subscribing.isSubscribed(session.key, to: topics) { leave(topics, session) }
    }

    private func leave(_ key: ChannelKey, _ session: Session) {
        _ = subscribing.leave(session, key)
        if key.type != .topic { memberships.announce(.left(session.key, key, session.caller)) }
        if key.type.hasLocks { locks.report(of: session, .left, key) }
        if key.type == .stream { session.joinTokens?.left(key.name) }
    }
}

// MARK: - The tokens of stream channels

extension ChannelRequests {
    /// Replaces the token of a stream channel. One that is refused changes nothing (S-52).
    func renew(_ session: Session, _ request: ClientRequest.RenewToken, _ requestID: UInt64) {
        do throws(RTMError) {
            try session.rates.renewal(session.application.rates, now: endOfTurn.now)
            try NameRule.channel.check(request.channel.bytes)
            try checkIsJoined(request.channel, by: session)
            let channel = request.channel.string
            let grant = try session.application.checkJoin(
                channel, request.token.string, userID: session.userID, nowMilliseconds: wallClock())
            if let grant { accept(channel, grant, session) }
            session.answer(requestID, TokenRenewed())
        } catch {
            session.answer(requestID, error)
        }
    }

    /// The membership ends with its token (S-51).
    func joinTokenExpired(_ session: Session, _ channel: String) {
        let key = session.channel(channel, .stream)
        guard subscribing.isSubscribed(session.key, to: key) else { return }
        leaveTopics(of: key, session)
        leave(key, session)
        let error = RTMError(
            .tokenExpired, "the token of the stream channel has expired; join with a new one")
        session.write { ServerFrame(ChannelEnded(key, error)).encodeFrame(into: &$0) }
    }
}

extension ChannelKey {
    fileprivate var isNotSubscribed: RTMError {
        switch type {
        case .stream: RTMError(.channelNotJoined, "stream channel \"\(name)\" is not joined")
        case .topic: RTMError(.channelTopicNotSubscribed, "topic \"\(name)\" is not subscribed")
        case .message, .topics, .user, .none:
            RTMError(.channelNotSubscribed, "channel \"\(name)\" is not subscribed")
        }
    }
}
