import RTMClient

/// Why the link state changed.
///
/// Some belong to stream channels, whose links only the compatible API shows. Some no event carries, because
/// nothing here can be in that state.
public enum AgoraRtmLinkStateChangeReason: Int, Sendable, Hashable, CaseIterable {
    /// 0: no cause is known. No event carries it.
    case unknown = 0
    /// 1: the app called `login`. Reported when the link goes from ``AgoraRtmLinkState/idle`` to
    /// ``AgoraRtmLinkState/connecting``.
    case login = 1
    /// 2: the server accepted the first login. Reported with ``AgoraRtmLinkState/connected``.
    case loginSuccess = 2
    /// 3: the first login did not succeed within the configured `reconnectTimeout`. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case loginTimeout = 3
    /// 4: the app doesn't exist, or the token lacks the privilege to log in. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case loginNotAuthorized = 4
    /// 5: the server doesn't let this user in, for example because the user is banned. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case loginRejected = 5
    /// 6: the app called `login` again, after the link had failed or while it waited for its next attempt.
    /// Reported with ``AgoraRtmLinkState/connecting``.
    case relogin = 6
    /// 7: the app called `logout` or `close`. Reported with ``AgoraRtmLinkState/idle``.
    case logout = 7
    /// 8: the client begins an attempt by itself. Reported when the link goes from
    /// ``AgoraRtmLinkState/disconnected`` or ``AgoraRtmLinkState/suspended`` to
    /// ``AgoraRtmLinkState/connecting``.
    case autoReconnect = 8
    /// 9: the link has been down for two minutes, reported with ``AgoraRtmLinkState/suspended``; or for the
    /// configured `reconnectTimeout`, reported with ``AgoraRtmLinkState/failed``.
    case reconnectTimeout = 9
    /// 10: the client has logged in again and restored its subscriptions. Reported with
    /// ``AgoraRtmLinkState/connected``.
    case reconnectSuccess = 10
    /// 11: the app joins a stream channel. Reported with ``AgoraRtmLinkState/connecting``.
    case join = 11
    /// 12: the app has joined a stream channel. Reported with ``AgoraRtmLinkState/connected``.
    case joinSuccess = 12
    /// 13: joining a stream channel failed for a reason without a name. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case joinFailed = 13
    /// 14: a stream channel was joined again after a loss beyond the resume window. Reported with
    /// ``AgoraRtmLinkState/connected``.
    case rejoin = 14
    /// 15: the app left a stream channel. Reported with ``AgoraRtmLinkState/idle``.
    case leave = 15
    /// 16: the token is malformed, forged, or made for another user. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case invalidToken = 16
    /// 17: the token, or its privilege to log in, has expired: at a login, or in the middle of a session.
    /// Reported with ``AgoraRtmLinkState/failed``.
    case tokenExpired = 17
    /// 18: the token belongs to another app than the one that logs in. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case inconsistentAppId = 18
    /// 19: the name of a stream channel is not allowed. Reported with ``AgoraRtmLinkState/failed``.
    case invalidChannelName = 19
    /// 20: the server does not allow the user id. Reported with ``AgoraRtmLinkState/failed``.
    case invalidUserId = 20
    /// 21: the client is not initialized. No event carries it: clients are checked when they are created.
    case notInitialized = 21
    /// 22: a stream channel was joined without a link to the servers. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case rtmServiceNotConnected = 22
    /// 23: the app has joined too many stream channels. Reported with ``AgoraRtmLinkState/failed``.
    case channelInstanceExceedLimitation = 23
    /// 24: the server refused the login because of a rate that no waiting is announced for. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case operationRateExceedLimitation = 24
    /// 25: a stream channel is in an error state. No event carries it: a channel is joined, or it isn't.
    case channelInErrorState = 25
    /// 26: a stream channel has no connection to presence. No event carries it: the servers connect to
    /// presence, and `presenceNotReady` says that they can't.
    case presenceNotConnected = 26
    /// 27: the same user logged in elsewhere, and the newer login wins. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case sameUidLogin = 27
    /// 28: the server ended the session for good, for example on behalf of an administrator. Reported with
    /// ``AgoraRtmLinkState/failed``.
    case kickedOutByServer = 28
    /// 29: the server did not answer a heartbeat in time. Reported with ``AgoraRtmLinkState/disconnected``.
    case keepAliveTimeout = 29
    /// 30: a connection could not be opened, was closed, or carried something that is no frame. Reported with
    /// ``AgoraRtmLinkState/disconnected``, and with ``AgoraRtmLinkState/suspended`` when a later attempt
    /// fails.
    case connectionError = 30
    /// 31: a stream channel is joined, and presence isn't available yet. Reported with
    /// ``AgoraRtmLinkState/connected``.
    case presenceNotReady = 31
    /// 32: the device's network changed, or the app said so. Reported with
    /// ``AgoraRtmLinkState/disconnected``.
    case networkChange = 32
    /// 33: the server does not speak this client's version of the protocol, or the service is switched off.
    /// Reported with ``AgoraRtmLinkState/failed``.
    case serviceNotSupported = 33
    /// 34: the app has no stream channels. Reported with ``AgoraRtmLinkState/failed``.
    case streamChannelNotAvailable = 34
    /// 35: a stream channel is joined, and metadata aren't available yet. Reported with
    /// ``AgoraRtmLinkState/connected``.
    case storageNotAvailable = 35
    /// 36: a stream channel is joined, and locks aren't available yet. Reported with
    /// ``AgoraRtmLinkState/connected``.
    case lockNotAvailable = 36
    /// 37: this user logs in too often. Reported with ``AgoraRtmLinkState/failed`` if the app called `login`;
    /// a session that comes back by itself waits instead.
    case loginTooFrequent = 37
}

extension AgoraRtmLinkStateChangeReason {
    init(_ reason: LinkStateReason) {
        self = AgoraRtmLinkStateChangeReason(rawValue: reason.rawValue) ?? .unknown
    }
}
