import RTMClient
import RTMModel

extension AgoraRtmPresenceEvent {
    /// What an event becomes here. Apps look for states in an event of their own, so a user who comes with
    /// states makes two (P-46).
    static func events(of event: PresenceEvent) -> [AgoraRtmPresenceEvent] {
        var states = event
        guard case .joined(let userID, let shown) = event.change, !shown.isEmpty else {
            return [AgoraRtmPresenceEvent(event)]
        }
        states.change = .statesChanged(UserState(userID: userID, states: shown))
        return [AgoraRtmPresenceEvent(event), AgoraRtmPresenceEvent(states)]
    }

    convenience init(_ event: PresenceEvent) {
        self.init()
        channelType = AgoraRtmChannelType(event.channelType)
        channelName = event.channelName
        publisher = event.userID
        timestamp = event.timestampMilliseconds
        switch event.change {
        case .snapshot(let users):
            type = .snapshot
            snapshot = users.map(AgoraRtmUserState.init)
        case .interval(let changes):
            type = .interval
            interval = AgoraRtmPresenceIntervalInfo(changes)
        case .joined(_, let states):
            type = .remoteJoinChannel
            self.states = states
        case .left: type = .remoteLeaveChannel
        case .timedOut: type = .remoteConnectionTimeout
        case .statesChanged(let user):
            type = .remoteStateChanged
            states = user.states
        case .outage: type = .errorOutOfService
        }
    }
}

extension AgoraRtmPresenceIntervalInfo {
    convenience init(_ interval: PresenceInterval) {
        self.init()
        joinUserList = interval.joined
        leaveUserList = interval.left
        timeoutUserList = interval.timedOut
        userStateList = interval.states.map(AgoraRtmUserState.init)
        totalOccupancy = Int32(clamping: interval.occupancy ?? 0)
    }
}

extension AgoraRtmUserState {
    convenience init(_ user: UserState) {
        self.init()
        userId = user.userID
        states = user.states
    }
}

/// What `whoNow` and `getOnlineUsers` ask for, read while the app's object can't change.
struct OnlineUsersQuestion: Sendable {
    private let includeUserID: Bool
    private let includeState: Bool
    private let page: String

    /// Without options users without states, from the first page (P-37).
    init(_ options: AgoraRtmPresenceOptions?) {
        let options = options ?? AgoraRtmPresenceOptions()
        (includeUserID, includeState, page) = (options.includeUserId, options.includeState, options.page)
    }

    init(_ options: AgoraRtmGetOnlineUsersOptions?) {
        let options = options ?? AgoraRtmGetOnlineUsersOptions()
        (includeUserID, includeState, page) = (options.includeUserId, options.includeState, options.page)
    }

    func ask(
        _ client: RTMClient, _ channelName: String, _ channelType: AgoraRtmChannelType
    ) async throws(RTMError) -> OnlineUsersPage {
        try await client.whoNow(
            in: channelName, type: channelType.kind, includingUsers: includeUserID,
            includingStates: includeState, page: page)
    }
}

extension AgoraRtmWhoNowResponse {
    convenience init(_ page: OnlineUsersPage) {
        self.init()
        totalOccupancy = Int32(clamping: page.total)
        userStateList = page.users.map(AgoraRtmUserState.init)
        nextPage = page.nextPage
    }
}

extension AgoraRtmGetOnlineUsersResponse {
    convenience init(_ page: OnlineUsersPage) {
        self.init()
        totalOccupancy = Int32(clamping: page.total)
        userStateList = page.users.map(AgoraRtmUserState.init)
        nextPage = page.nextPage
    }
}

extension AgoraRtmWhereNowResponse {
    convenience init(_ channels: [UserChannel]) {
        self.init()
        totalChannel = Int32(clamping: channels.count)
        self.channels = channels.map(AgoraRtmChannelInfo.init)
    }
}

extension AgoraRtmGetUserChannelsResponse {
    convenience init(_ channels: [UserChannel]) {
        self.init()
        totalChannel = Int32(clamping: channels.count)
        self.channels = channels.map(AgoraRtmChannelInfo.init)
    }
}

extension AgoraRtmChannelInfo {
    fileprivate convenience init(_ channel: UserChannel) {
        self.init()
        channelName = channel.name
        channelType = AgoraRtmChannelType(channel.type)
    }
}

extension AgoraRtmPresenceGetStateResponse {
    convenience init(userId: String, _ states: [String: String]) {
        self.init()
        state = AgoraRtmUserState(UserState(userID: userId, states: states))
    }
}
