import NIOCore
import RTMAccessToken
import RTMAppConfiguration
import RTMModel
import RTMServiceLink
import RTMWire

/// Subscribing to channels and unsubscribing, as clients ask for it: what is asked is checked here, and
/// `Subscribing` does it. To join a stream channel is to subscribe to it, then to its topics and to single
/// topics (docs/decisions/0017).
final class ChannelRequests {
    private let subscribing: Subscribing
    private let memberships: Memberships
    private let locks: LockRequests
    private let refusals: RefusalLog
    private let sharedRates: SharedRates
    /// For the states that subscribers bring along, until presence has them. Who finds none sets them with a
    /// call of its own.
    private let statesMemory = SharedMemory("states of subscribes under way", bytesMax: 8 << 20)
    private let endOfTurn: EndOfTurn
    private let eventLoop: any EventLoop
    private let wallClock: () -> UInt64

    init(
        subscribing: Subscribing, memberships: Memberships, locks: LockRequests, refusals: RefusalLog,
        sharedRates: SharedRates, endOfTurn: EndOfTurn, eventLoop: any EventLoop,
        wallClock: @escaping () -> UInt64
    ) {
        self.subscribing = subscribing
        self.memberships = memberships
        self.locks = locks
        self.refusals = refusals
        self.sharedRates = sharedRates
        self.endOfTurn = endOfTurn
        self.eventLoop = eventLoop
        self.wallClock = wallClock
    }

    func subscribe(_ session: Session, _ frame: ClientRequest.Subscribe, _ requestID: UInt64) {
        do throws(RTMError) {
            let rates = session.application.rates
            try session.rates.callToSubscribe(rates, now: endOfTurn.now)
            let request = SubscribeRequest(frame, requestID, of: session.key, in: session.appID)
            try check(request, frame.channel, for: session)
            if request.channel.type == .message {
                try session.rates.subscribe(request.channel.name, rates, now: endOfTurn.now)
            }
            begin(request, for: session)
        } catch {
            refusals.refused(
                .subscribe, of: session, frame.channelType, frame.channel.string, error, now: endOfTurn.now)
            session.answer(requestID, error)
        }
    }

    /// A subscription that came with the login. The rate of logins bounds these, so no other rate counts
    /// them.
    func subscribe(_ session: Session, _ request: SubscribeRequest) {
        do throws(RTMError) {
            try request.channel.name.withWireText { name -> Result<Void, RTMError> in
                Result { () throws(RTMError) in try check(request, name, for: session) }
            }.get()
            begin(request, for: session)
        } catch {
            refusals.refused(
                .subscribe, of: session, request.channel.type, request.channel.name, error, now: endOfTurn.now
            )
            session.answer(request.requestID, error)
        }
    }

    /// - Parameter name: the name of the channel, as the client has sent it.
    private func check(
        _ request: SubscribeRequest, _ name: WireText, for session: Session
    ) throws(RTMError) {
        let key = request.channel
        var grant: JoinGrant?
        switch key.type {
        case .message:
            try NameRule.channel.check(name.bytes)
            try session.checkMayRead(name)
        case .stream:
            try NameRule.channel.check(name.bytes)
            try session.checkMayRead(name, .streamChannels)
            grant = try session.application.checkJoin(
                name.string, request.token, userID: session.userID, nowMilliseconds: wallClock())
        case .topics:
            try checkIsJoined(name, by: session)
        case .topic:
            try checkIsJoined(WireText(try NameRule.checkTopicName(name.bytes)), by: session)
            try Self.check(publishers: request.publishers)
        case .user, .none:
            throw RTMError(.invalidChannelType, "a channel of this type can't be subscribed")
        }
        guard request.featuresAllowed.isSuperset(of: request.features) else {
            throw RTMError(
                .invalidParameter, "the feature set \(request.features.rawValue) has unknown features")
        }
        try subscribing.checkIsPossible(
            key, key.type == .stream ? .channelJoinFailed : .channelSubscribeFailed)
        try checkCapacity(for: key, of: session)
        if let grant { accept(key.name, grant, session) }
    }

    /// The token is checked by now, and isn't kept while the subscribe is under way.
    private func begin(_ request: SubscribeRequest, for session: Session) {
        var request = request
        request.token = ""
        request.states = admitted(request.states, in: request.channel, of: session)
        subscribing.begin(request)
    }

    /// The states that the user may show from the join on: those that a call might set now (P-46). A
    /// subscribe isn't refused for its states: the client learns that they aren't set, and the call that
    /// follows is refused with the reason.
    private func admitted(
        _ states: JoinStates?, in channel: ChannelKey, of session: Session
    ) -> JoinStates? {
        guard var states, let resource = channel.type.resourceOfStates else { return nil }
        do throws(RTMError) {
            try channel.name.withWireText { name -> Result<Void, RTMError> in
                Result { () throws(RTMError) in
                    try session.checkMay(.write, resource, name, else: .presenceNotWritable)
                }
            }.get()
            try sharedRates.checkStates(of: session, now: endOfTurn.now)
        } catch {
            return nil
        }
        let (appID, userID) = (session.appID, session.userID)
        states.share = statesMemory.share(of: appID, by: userID, bytes: states.byteCount)
        return states.share == nil ? nil : states
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

    /// A session may be subscribed to so many channels (L-24, L-25), and in a stream channel to so many
    /// topics (L-28).
    private func checkCapacity(for key: ChannelKey, of session: Session) throws(RTMError) {
        let limit = SubscriptionLimit(key.type, of: session.application)
        let count = key.type == .topic ? countOfTopics(beside: key, of: session) : nil
        switch subscribing.capacity(for: key, of: session, count, countMax: limit.countMax) {
        case .free: return
        case .isSubscribing:
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

extension ChannelType {
    /// What a token has to let a user change who sets states there; nil where a subscriber brings none along.
    fileprivate var resourceOfStates: TokenPermissions.Resource? {
        switch self {
        case .message: .messageChannels
        case .stream: .streamChannels
        case .user, .topics, .topic, .none: nil
        }
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

/// How many channels of one type a session may be subscribed to.
struct SubscriptionLimit {
    let countMax: Int
    private let code: ErrorCode
    private let noun: String

    init(_ type: ChannelType, of application: Application) {
        switch type {
        case .stream:
            (countMax, code, noun) = (
                Limits.joinedStreamChannelsMax, .channelJoinFailed, Limits.joinedStreamChannelsName
            )
        case .topic:
            (countMax, code, noun) = (
                Limits.subscribedTopicsMax, .channelExceedTopicLimitation,
                "subscribed topics of a stream channel"
            )
        // One for each stream channel that is joined.
        case .topics: (countMax, code, noun) = (.max, .channelSubscribeFailed, "topics")
        case .message, .user, .none:
            (countMax, code, noun) = (
                application.subscriptionsMax, .channelSubscribeFailed, "subscribed channels"
            )
        }
    }

    var error: RTMError {
        RTMError(
            code, "the session has \(countMax) \(noun), which is the limit",
            limit: .init(name: noun, value: UInt64(countMax)))
    }
}
