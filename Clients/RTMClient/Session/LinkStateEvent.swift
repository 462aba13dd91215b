/// One change of the link state (S-23).
public struct LinkStateEvent: Sendable, Hashable {
    /// The state from now on.
    public var currentState: LinkState
    /// The state before.
    public var previousState: LinkState
    /// Which kind of channels the link serves.
    package var serviceType = LinkServiceType.message
    /// What led to the change.
    public var operation: LinkOperation
    /// Why the state changed, by number.
    public var reasonCode: LinkStateReason
    /// The reason in words, for a person.
    public var reason: String
    /// Channels that were subscribed when the link changed (S-18). They are named when the link is lost,
    /// restored or given up.
    public var affectedChannels: [String]
    /// Channels that a reconnect didn't bring back as they were (S-18). Either the server refused the
    /// subscription, which has ended then, or the subscription continues after a ``RTMEvent/gap(_:)``.
    /// Normally there are none.
    public var unrestoredChannels: [String]
    /// Those of `unrestoredChannels` that the token, which is another one since, doesn't allow to subscribe
    /// to.
    public var forbiddenChannels: [String] = []
    /// Users whose metadata are not followed any more, because the server refused that at a reconnect.
    /// Normally there are none.
    public var unrestoredUsers: [String]
    /// Whether the link came back within two minutes of its loss and nothing is missing (S-17): both
    /// `unrestoredChannels` and `unrestoredUsers` are empty, and no message to this user was lost.
    public var isResumed: Bool
    /// Why no connection could be opened, where the cause has a name. `nil` for every other change.
    public var connectionFailure: ConnectionFailure?
    /// Milliseconds since 1970 by the server's clock where it is known, otherwise by the local one.
    public var timestampMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        currentState: LinkState, previousState: LinkState, operation: LinkOperation,
        reasonCode: LinkStateReason, reason: String, affectedChannels: [String] = [],
        unrestoredChannels: [String] = [], unrestoredUsers: [String] = [], isResumed: Bool = false,
        timestampMilliseconds: UInt64
    ) {
        self.currentState = currentState
        self.previousState = previousState
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

/// The state of a client's link to its servers (behaviour.md 2.3). The numbers are those of the compatible
/// API.
public enum LinkState: Int, Sendable, Hashable, CaseIterable {
    /// The client has never logged in, or has logged out.
    case idle = 0
    /// An attempt to connect and log in is under way.
    case connecting = 1
    /// The client is logged in. Calls work and events arrive.
    case connected = 2
    /// The connection was lost less than two minutes ago, or no server has been reached yet. Attempts follow
    /// by themselves.
    case disconnected = 3
    /// The connection has been lost for more than two minutes. An attempt follows every 30 seconds.
    case suspended = 4
    /// The client has given up, because another attempt would end the same way. Only a new `login` leaves
    /// this state.
    case failed = 5
}

/// What changed the link state.
public enum LinkOperation: Int, Sendable, Hashable, CaseIterable {
    /// A call of `login`.
    case login = 0
    /// A call of `logout`.
    case logout = 1
    /// A join of a stream channel.
    case join = 2
    /// A leave of a stream channel.
    case leave = 3
    /// The server has refused or ended the session.
    case serverReject = 4
    /// The client connects again by itself.
    case autoReconnect = 5
    /// The client has connected again.
    case reconnected = 6
    /// A heartbeat had no answer in time.
    case heartbeatTimeout = 7
    /// The server didn't answer in time.
    case serverTimeout = 8
    /// The network of the device changed.
    case networkChange = 9
}

/// Why the link state changed. The numbers are those of the compatible API (behaviour.md, appendix B).
///
/// Some belong to stream channels, whose links only the compatible API shows. Some no event carries, because
/// nothing here can be in that state.
public enum LinkStateReason: Int, Sendable, Hashable, CaseIterable {
    /// 0: no cause is known. No event carries it.
    case unknown = 0
    /// 1: the app called `login`. Reported when the link goes from ``LinkState/idle`` to
    /// ``LinkState/connecting``.
    case login = 1
    /// 2: the server accepted the first login. Reported with ``LinkState/connected``.
    case loginSuccess = 2
    /// 3: the first login did not succeed within the configured `reconnectTimeout`. Reported with
    /// ``LinkState/failed``.
    case loginTimeout = 3
    /// 4: the app doesn't exist, or the token lacks the privilege to log in. Reported with
    /// ``LinkState/failed``.
    case loginNotAuthorized = 4
    /// 5: the server doesn't let this user in, for example because the user is banned. Reported with
    /// ``LinkState/failed``.
    case loginRejected = 5
    /// 6: the app called `login` again, after the link had failed or while it waited for its next attempt.
    /// Reported with ``LinkState/connecting``.
    case relogin = 6
    /// 7: the app called `logout` or `close`. Reported with ``LinkState/idle``.
    case logout = 7
    /// 8: the client begins an attempt by itself. Reported when the link goes from
    /// ``LinkState/disconnected`` or ``LinkState/suspended`` to ``LinkState/connecting``.
    case autoReconnect = 8
    /// 9: the link has been down for two minutes, reported with ``LinkState/suspended``; or for the
    /// configured `reconnectTimeout`, reported with ``LinkState/failed``.
    case reconnectTimeout = 9
    /// 10: the client has logged in again and restored its subscriptions. Reported with
    /// ``LinkState/connected``.
    case reconnectSuccess = 10
    /// 11: the app joins a stream channel. Reported with ``LinkState/connecting``.
    case join = 11
    /// 12: the app has joined a stream channel. Reported with ``LinkState/connected``.
    case joinSuccess = 12
    /// 13: joining a stream channel failed for a reason without a name. Reported with
    /// ``LinkState/failed``.
    case joinFailed = 13
    /// 14: a stream channel was joined again after a loss beyond the resume window. Reported with
    /// ``LinkState/connected``.
    case rejoin = 14
    /// 15: the app left a stream channel. Reported with ``LinkState/idle``.
    case leave = 15
    /// 16: the token is malformed, forged, or made for another user. Reported with ``LinkState/failed``.
    case invalidToken = 16
    /// 17: the token, or its privilege to log in, has expired: at a login, or in the middle of a session.
    /// Reported with ``LinkState/failed``.
    case tokenExpired = 17
    /// 18: the token belongs to another app than the one that logs in. Reported with ``LinkState/failed``.
    case inconsistentAppId = 18
    /// 19: the name of a stream channel is not allowed. Reported with ``LinkState/failed``.
    case invalidChannelName = 19
    /// 20: the server does not allow the user id. Reported with ``LinkState/failed``.
    case invalidUserId = 20
    /// 21: the client is not initialized. No event carries it: clients are checked when they are created.
    case notInitialized = 21
    /// 22: a stream channel was joined without a link to the servers. Reported with ``LinkState/failed``.
    case rtmServiceNotConnected = 22
    /// 23: the app has joined too many stream channels. Reported with ``LinkState/failed``.
    case channelInstanceExceedLimitation = 23
    /// 24: the server refused the login because of a rate that no waiting is announced for. Reported with
    /// ``LinkState/failed``.
    case operationRateExceedLimitation = 24
    /// 25: a stream channel is in an error state. No event carries it: a channel is joined, or it isn't.
    case channelInErrorState = 25
    /// 26: a stream channel has no connection to presence. No event carries it: the servers connect to
    /// presence, and `presenceNotReady` says that they can't.
    case presenceNotConnected = 26
    /// 27: the same user logged in elsewhere, and the newer login wins. Reported with
    /// ``LinkState/failed``.
    case sameUidLogin = 27
    /// 28: the server ended the session for good, for example on behalf of an administrator. Reported with
    /// ``LinkState/failed``.
    case kickedOutByServer = 28
    /// 29: the server did not answer a heartbeat in time. Reported with ``LinkState/disconnected``.
    case keepAliveTimeout = 29
    /// 30: a connection could not be opened, was closed, or carried something that is no frame. Reported with
    /// ``LinkState/disconnected``, and with ``LinkState/suspended`` when a later attempt fails.
    case connectionError = 30
    /// 31: a stream channel is joined, and presence isn't available yet. Reported with
    /// ``LinkState/connected``.
    case presenceNotReady = 31
    /// 32: the device's network changed, or the app said so. Reported with ``LinkState/disconnected``.
    case networkChange = 32
    /// 33: the server does not speak this client's version of the protocol, or the service is switched off.
    /// Reported with ``LinkState/failed``.
    case serviceNotSupported = 33
    /// 34: the app has no stream channels. Reported with ``LinkState/failed``.
    case streamChannelNotAvailable = 34
    /// 35: a stream channel is joined, and metadata aren't available yet. Reported with
    /// ``LinkState/connected``.
    case storageNotAvailable = 35
    /// 36: a stream channel is joined, and locks aren't available yet. Reported with
    /// ``LinkState/connected``.
    case lockNotAvailable = 36
    /// 37: this user logs in too often. Reported with ``LinkState/failed`` if the app called `login`; a
    /// session that comes back by itself waits instead.
    case loginTooFrequent = 37
}

/// Which link an event is about. Only the compatible API shows links of stream channels.
package enum LinkServiceType: Int, Sendable, Hashable, CaseIterable {
    /// The link of the client itself.
    case message = 1
    /// The link of one stream channel.
    case stream = 2
}
