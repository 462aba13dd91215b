import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// The calls of clients (P-30 to P-45).
extension PresenceNode {
    func call(_ call: CallRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        let caller = call.caller
        switch try PresenceCall(call.request.bytes, in: callArena) {
        case .whoNow(let request): try whoNow(request, caller, Answer(id, link, self))
        case .whereNow(let user): try whereNow(user, caller, Answer(id, link, self))
        case .setState(let channel, let items):
            let key = try self.key(of: channel, caller)
            let states = try settings.states.checked(items)
            try checkBacklog(of: key)
            store.setStates(caller, key, states, answerDone(key, Answer(id, link, self)))
        case .removeState(let channel, let keys):
            let key = try self.key(of: channel, caller)
            try checkBacklog(of: key)
            store.removeStates(
                caller, key, keys.map(\.string), answerDone(key, Answer(id, link, self)))
        case .getState(let channel, let user):
            try getState(user, try key(of: channel, caller), caller, Answer(id, link, self))
        case .unknown: throw RTMError(.serviceNotSupport, "presence doesn't know this call")
        }
    }

    private func whoNow(_ request: PresenceCall.WhoNow, _ caller: Caller, _ answer: Answer) throws(RTMError) {
        let channel = try key(of: request.channel, caller)
        guard request.includesUserID || !request.includesState else {
            throw RTMError(.presenceInvalidArgument, "states can't be asked for without user ids (P-34)")
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

    private func whereNow(_ user: WireText, _ caller: Caller, _ answer: Answer) throws(RTMError) {
        try NameRule.user.check(user.bytes)
        let key = UserKey(appID: caller.appID, userID: user.string)
        store.channels(of: key) { outcome in
            answer.give(outcome) { channels in
                UserChannels(channels: channels.map { .init(type: $0.type, name: $0.name) })
            }
        }
    }

    private func getState(
        _ user: WireText, _ channel: ChannelKey, _ caller: Caller, _ answer: Answer
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

    private func answerDone(
        _ channel: ChannelKey, _ answer: Answer
    ) -> (Result<Bool, RTMError>) -> Void {
        { outcome in
            let done = outcome.flatMap { isThere -> Result<Done, RTMError> in
                isThere ? .success(Done()) : .failure(Self.isNotThere)
            }
            answer.give(done) { $0 }
        }
    }

    /// The user isn't in the channel (P-43). The SDK keeps states that are set before subscribing (P-41), so
    /// a call with states of a user who isn't there is an error.
    private static var isNotThere: RTMError {
        RTMError(.presenceUserNotExist, "the user is not in the channel")
    }

    private func key(of channel: PresenceChannel, _ caller: Caller) throws(RTMError) -> ChannelKey {
        try check(channel.type)
        try NameRule.channel.check(channel.name.bytes)
        return ChannelKey(
            appID: caller.appID, type: channel.type ?? .none, name: channel.name.string)
    }
}

/// The answer to one call; it is given once.
private struct Answer {
    private let id: UInt64
    private let link: AcceptedServiceLink
    private let node: PresenceNode

    init(_ id: UInt64, _ link: AcceptedServiceLink, _ node: PresenceNode) {
        self.id = id
        self.link = link
        self.node = node
    }

    func give<Value, Body: ServerFrameBody>(
        _ outcome: Result<Value, RTMError>, _ body: (Value) -> Body
    ) {
        switch outcome {
        case .success(let value):
            body(value).field.withUnsafeReadableBytes { bytes in
                link.respond(to: id, CallResponse(response: WireText(bytes)))
            }
        case .failure(let error): node.refuse(id, error, link)
        }
    }
}
