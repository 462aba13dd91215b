import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// The calls of clients (P-30 to P-45), answered out of the store.
struct PresenceCalls {
    let store: any PresenceStore
    let states: StateLimits

    /// - Parameter checkBacklog: refuses a change while too many events of its channel wait for messaging.
    func perform(
        _ call: PresenceCall, of caller: Caller, over link: EdgeLink, _ answer: PresenceCallAnswer,
        checkBacklog: (ChannelKey) throws(RTMError) -> Void
    ) throws(RTMError) {
        switch call {
        case .whoNow(let request): try whoNow(request, caller, answer)
        case .whereNow(let user): try whereNow(user, caller, answer)
        case .setState(let channel, let items):
            let key = try self.key(of: channel, caller)
            let states = try limits(in: key.type).checked(items)
            try checkBacklog(key)
            store.setStates(caller, key, states, over: link, done(answer, in: key.type))
        case .removeState(let channel, let keys):
            let key = try self.key(of: channel, caller)
            try checkBacklog(key)
            store.removeStates(caller, key, keys.map(\.string), over: link, done(answer, in: key.type))
        case .getState(let channel, let user):
            try getState(user, try key(of: channel, caller), caller, answer)
        case .unknown: throw RTMError(.serviceNotSupport, "presence doesn't know this call")
        }
    }

    private func whoNow(_ request: PresenceCall.WhoNow, _ caller: Caller, _ answer: PresenceCallAnswer)
        throws(RTMError)
    {
        let channel = try key(of: request.channel, caller)
        guard request.includesUserID || !request.includesState else {
            throw RTMError(.presenceInvalidArgument, "states can't be asked for without user ids")
        }
        let after = try PresencePage.user(of: request.page)
        guard request.includesUserID else {
            return store.onlineCount(channel) { outcome in
                answer.give(outcome) { OnlineUsers(users: [], nextPage: "", total: UInt64($0)) }
            }
        }
        let hasStates = request.includesState
        store.users(channel, after: after, countMax: PresencePage.usersMax + 1) { outcome in
            answer.give(outcome) { Self.page($0, hasStates: hasStates) }
        }
    }

    private static func page(_ found: [UserState], hasStates: Bool) -> OnlineUsers {
        let users = hasStates ? found : found.map { UserState(userID: $0.userID) }
        let count = min(PresencePage.usersMax, PresencePage.count(of: users, from: 0))
        let page = Array(users.prefix(count))
        let isLast = count == users.count
        return OnlineUsers(
            users: page,
            nextPage: isLast ? "" : page.last.map { PresencePage.bookmark(after: $0.userID) } ?? "",
            total: UInt64(count))
    }

    private func whereNow(_ user: WireText, _ caller: Caller, _ answer: PresenceCallAnswer) throws(RTMError) {
        try NameRule.user.check(user.bytes)
        let key = UserKey(appID: caller.appID, userID: user.string)
        store.channels(of: key) { outcome in
            answer.give(outcome) { channels in
                // Who publishes in a stream channel is a member of the channel itself, too, and the roster of
                // the user's sessions is no channel.
                UserChannels(
                    channels: channels.filter { $0.type != .topics && $0.type != .none }
                        .map { .init(type: $0.type, name: $0.name) })
            }
        }
    }

    private func getState(
        _ user: WireText, _ channel: ChannelKey, _ caller: Caller, _ answer: PresenceCallAnswer
    ) throws(RTMError) {
        try NameRule.user.check(user.bytes)
        let userID = user.string
        store.states(of: userID, askedBy: caller.userID, channel) { outcome in
            let found = outcome.flatMap { states -> Result<UserState, RTMError> in
                guard let states else { return .failure(Self.isNotThere) }
                return .success(UserState(userID: userID, items: states))
            }
            answer.give(found) { $0 }
        }
    }

    private func limits(in type: ChannelType) -> StateLimits { type == .topics ? .topics : states }

    private func done(_ answer: PresenceCallAnswer, in type: ChannelType) -> (Result<Int?, RTMError>) -> Void
    {
        { outcome in
            let done = outcome.flatMap { cost -> Result<Int, RTMError> in
                if let cost { return .success(cost) }
                return .failure(type == .topics ? Self.doesNotPublish : Self.isNotThere)
            }
            answer.give(done, cost: (try? done.get()) ?? 0) { _ in Done() }
        }
    }

    /// The user isn't in the channel (P-43). The SDK keeps states that are set before subscribing (P-41), so
    /// a call with states of a user who isn't there is an error.
    private static var isNotThere: RTMError {
        RTMError(.presenceUserNotExist, "the user is not in the channel")
    }

    private static var doesNotPublish: RTMError {
        RTMError(.channelNotJoined, "the user is not among the publishers of the stream channel")
    }

    private func key(of channel: PresenceChannel, _ caller: Caller) throws(RTMError) -> ChannelKey {
        try Self.check(channel.type)
        try NameRule.channel.check(channel.name.bytes)
        return ChannelKey(
            appID: caller.appID, type: channel.type ?? .none, name: channel.name.string)
    }

    static func check(_ type: ChannelType?) throws(RTMError) {
        guard type == .message || type == .stream || type == .topics else {
            throw RTMError(.invalidChannelType, "only message and stream channels have presence")
        }
    }
}

/// The answer to one call; it is given once.
struct PresenceCallAnswer {
    let request: UInt64
    let link: AcceptedServiceLink
    let metrics: PresenceMetrics
    /// The answer is in the link's queue, or won't be.
    let ended: () -> Void

    /// - Parameter cost: the bytes that the call sends to other users.
    func give<Value, Body: ServerFrameBody>(
        _ outcome: Result<Value, RTMError>, cost: Int = 0, _ body: (Value) -> Body
    ) {
        defer { ended() }
        switch outcome {
        case .success(let value):
            body(value).field.withUnsafeReadableBytes { bytes in
                link.respond(
                    to: request, CallResponse(response: WireText(bytes), cost: UInt64(clamping: cost)))
            }
        case .failure(let error):
            metrics.refused.increment()
            link.fail(request, error)
        }
    }
}
