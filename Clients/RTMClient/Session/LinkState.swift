/// What connects a client with its servers at present (behaviour.md 2.3). The numbers are those of the
/// compatible API.
public enum LinkState: Int, Sendable, Hashable, CaseIterable {
    /// Not logged in: never, or logged out.
    case idle = 0
    /// An attempt to connect and log in is under way.
    case connecting = 1
    /// Logged in; calls work and events arrive.
    case connected = 2
    /// Lost less than two minutes ago, or not reached yet; attempts follow by themselves.
    case disconnected = 3
    /// Lost for more than two minutes; an attempt follows every 30 seconds.
    case suspended = 4
    /// Given up for a cause that repeating doesn't mend; only a new `login` leaves this state.
    case failed = 5
}

/// What brought a change of the link state about.
public enum LinkOperation: Int, Sendable, Hashable, CaseIterable {
    case login = 0
    case logout = 1
    case join = 2
    case leave = 3
    case serverReject = 4
    case autoReconnect = 5
    case reconnected = 6
    case heartbeatTimeout = 7
    case serverTimeout = 8
    case networkChange = 9
}

/// Why the link state changed (behaviour.md, appendix B).
public enum LinkStateReason: Int, Sendable, Hashable, CaseIterable {
    case unknown = 0
    case login = 1
    case loginSuccess = 2
    case loginTimeout = 3
    case loginNotAuthorized = 4
    case loginRejected = 5
    case relogin = 6
    case logout = 7
    case autoReconnect = 8
    case reconnectTimeout = 9
    case reconnectSuccess = 10
    case join = 11
    case joinSuccess = 12
    case joinFailed = 13
    case rejoin = 14
    case leave = 15
    case invalidToken = 16
    case tokenExpired = 17
    case inconsistentAppId = 18
    case invalidChannelName = 19
    case invalidUserId = 20
    case notInitialized = 21
    case rtmServiceNotConnected = 22
    case channelInstanceExceedLimitation = 23
    case operationRateExceedLimitation = 24
    case channelInErrorState = 25
    case presenceNotConnected = 26
    case sameUidLogin = 27
    case kickedOutByServer = 28
    case keepAliveTimeout = 29
    case connectionError = 30
    case presenceNotReady = 31
    case networkChange = 32
    case serviceNotSupported = 33
    case streamChannelNotAvailable = 34
    case storageNotAvailable = 35
    case lockNotAvailable = 36
    case loginTooFrequent = 37
}

/// Which link an event speaks of.
public enum LinkServiceType: Int, Sendable, Hashable, CaseIterable {
    case none = 0
    /// The link of the client itself.
    case message = 1
    /// The link of one stream channel.
    case stream = 2
}

/// One change of the link state (S-23).
public struct LinkStateEvent: Sendable, Hashable {
    public var currentState: LinkState
    public var previousState: LinkState
    public var serviceType: LinkServiceType
    public var operation: LinkOperation
    public var reasonCode: LinkStateReason
    /// The reason in words, for a person.
    public var reason: String
    /// Channels that were subscribed when the link changed (S-18). Filled when the link is lost, restored or
    /// given up.
    public var affectedChannels: [String]
    /// Channels that a reconnect didn't bring back as they were (S-18): the server refused the subscription,
    /// which has ended then, or the subscription goes on behind a ``RTMEvent/gap(_:)``. Normally empty.
    public var unrestoredChannels: [String]
    /// Users whose metadata a reconnect didn't follow again because the server refused it: that has ended.
    /// Normally empty.
    public var unrestoredUsers: [String]
    /// The link came back within two minutes of its loss (S-17), and nothing is missing: neither
    /// `unrestoredChannels` nor `unrestoredUsers` names one, and no message to this user was lost.
    public var isResumed: Bool
    /// Milliseconds since 1970 by the server's clock where it is known, else by the local one.
    public var timestampMilliseconds: UInt64

    public init(
        currentState: LinkState, previousState: LinkState, serviceType: LinkServiceType = .message,
        operation: LinkOperation, reasonCode: LinkStateReason, reason: String,
        affectedChannels: [String] = [],
        unrestoredChannels: [String] = [], unrestoredUsers: [String] = [], isResumed: Bool = false,
        timestampMilliseconds: UInt64
    ) {
        self.currentState = currentState
        self.previousState = previousState
        self.serviceType = serviceType
        self.operation = operation
        self.reasonCode = reasonCode
        self.reason = reason
        self.affectedChannels = affectedChannels
        self.unrestoredChannels = unrestoredChannels
        self.unrestoredUsers = unrestoredUsers
        self.isResumed = isResumed
        self.timestampMilliseconds = timestampMilliseconds
    }
}
