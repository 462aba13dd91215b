import RTMClient
import RTMModel

extension AgoraRtmPresenceEvent {
    convenience init(_ event: PresenceEvent) {
        self.init()
        channelType = AgoraRtmChannelType(event.channelType)
        channelName = event.channelName
        publisher = event.publisher
        timestamp = event.timestampMilliseconds
        switch event.change {
        case .snapshot(let users):
            type = .snapshot
            snapshot = users.map(AgoraRtmUserState.init)
        case .interval(let changes):
            type = .interval
            interval = AgoraRtmPresenceIntervalInfo(changes)
        case .remoteJoin: type = .remoteJoinChannel
        case .remoteLeave: type = .remoteLeaveChannel
        case .remoteTimeout: type = .remoteConnectionTimeout
        case .remoteStateChanged(let user):
            type = .remoteStateChanged
            states = user.states
        case .errorOutOfService: type = .errorOutOfService
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

extension AgoraRtmWhoNowResponse {
    func fill(_ page: OnlineUsersPage) {
        totalOccupancy = Int32(clamping: page.total)
        userStateList = page.users.map(AgoraRtmUserState.init)
        nextPage = page.nextPage
    }
}

extension AgoraRtmWhereNowResponse {
    func fill(_ channels: [UserChannel]) {
        totalChannel = Int32(clamping: channels.count)
        self.channels = channels.map { channel in
            let info = AgoraRtmChannelInfo()
            info.channelName = channel.name
            info.channelType = AgoraRtmChannelType(channel.type)
            return info
        }
    }
}

extension AgoraRtmPresenceGetStateResponse {
    convenience init(userId: String, _ states: [String: String]) {
        self.init()
        state = AgoraRtmUserState(UserState(userID: userId, states: states))
    }
}
