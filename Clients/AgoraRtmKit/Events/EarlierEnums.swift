// The names of earlier versions. Each link event is also delivered in these words (S-24).

import RTMClient

/// The connection state of earlier versions. See ``AgoraRtmLinkState``.
public enum AgoraRtmClientConnectionState: Int, Sendable {
    /// Logged out, or never logged in.
    case disconnected = 1
    /// The first attempt is under way.
    case connecting = 2
    /// Logged in.
    case connected = 3
    /// The connection is lost, and the client tries again.
    case reconnecting = 4
    /// The client has given up.
    case failed = 5
}

/// The reasons of earlier versions. See ``AgoraRtmLinkStateChangeReason``.
public enum AgoraRtmClientConnectionChangeReason: Int, Sendable {
    /// An attempt begins: login, relogin, autoReconnect, join.
    case changedConnecting = 0
    /// A stream channel was joined.
    case changedJoinSuccess = 1
    /// The connection was lost (`connectionError`).
    case changedInterrupted = 2
    /// The server ended the session (`kickedOutByServer`).
    case changedBannedByServer = 3
    /// The login timed out, or a join failed.
    case changedJoinFailed = 4
    /// A stream channel was left.
    case changedLeaveChannel = 5
    /// The app is unknown, or the token has no right to log in (`loginNotAuthorized`).
    case changedInvalidAppId = 6
    /// The name of a stream channel is not allowed.
    case changedInvalidChannelName = 7
    /// The token is not valid.
    case changedInvalidToken = 8
    /// The token has expired.
    case changedTokenExpired = 9
    /// The server refused the login for another reason.
    case changedRejectedByServer = 10
    /// No callback has it: it comes from the vendor's product for calls.
    case changedSettingProxyServer = 11
    /// No callback has it: it comes from the vendor's product for calls.
    case changedRenewToken = 12
    /// The network changed.
    case changedClientIpAddressChanged = 13
    /// A heartbeat had no answer.
    case changedKeepAliveTimeout = 14
    /// The client is back.
    case changedRejoinSuccess = 15
    /// The link has been down for two minutes, or for the `reconnectTimeout`.
    case changedChangedLost = 16
    /// No callback has it: it comes from the vendor's product for calls.
    case changedEchoTest = 17
    /// No callback has it: it comes from the vendor's product for calls.
    case changedClientIpAddressChangedByUser = 18
    /// The same user logged in elsewhere.
    case changedSameUidLogin = 19
    /// No callback has it: it comes from the vendor's product for calls.
    case changedTooManyBroadcasters = 20
    /// No callback has it: it comes from the vendor's product for calls.
    case changedLicenseValidationFailure = 21
    /// No callback has it: it comes from the vendor's product for calls.
    case changedCertificationVerifyFailure = 22
    /// There are no stream channels.
    case changedStreamChannelNotAvailable = 23
    /// The token belongs to another app.
    case changedInconsistentAppId = 24
    /// The login succeeded.
    case changedLoginSuccess = 10001
    /// The app logged out.
    case changedLogout = 10002
    /// Presence of a stream channel isn't ready.
    case changedPresenceNotReady = 10003
}

/// The presence changes of earlier versions, which no call and no event has. See
/// ``AgoraRtmPresenceEventType``.
public enum AgoraRtmPresenceType: Int, Sendable {
    /// No call and no event has this type, at the vendor's either.
    case remoteJoinChannel = 0
    /// No call and no event has this type, at the vendor's either.
    case remoteLeaveChannel = 1
    /// No call and no event has this type, at the vendor's either.
    case remoteConnectionTimeout = 2
    /// No call and no event has this type, at the vendor's either.
    case remoteJoinTopic = 3
    /// No call and no event has this type, at the vendor's either.
    case remoteLeaveTopic = 4
    /// No call and no event has this type, at the vendor's either.
    case selfJoinChannel = 5
}

extension AgoraRtmClientConnectionState {
    /// A link that is lost is reconnecting until it is back or has failed; these words have no difference
    /// between the wait and the attempt.
    init(_ change: LinkStateEvent) {
        self =
            switch change.currentState {
            case .idle: .disconnected
            case .connecting: change.operation == .autoReconnect ? .reconnecting : .connecting
            case .connected: .connected
            case .disconnected, .suspended: .reconnecting
            case .failed: .failed
            }
    }
}

extension AgoraRtmClientConnectionChangeReason {
    /// The nearest of the earlier reasons; the later ones are finer.
    init(_ reason: LinkStateReason) {
        self =
            switch reason {
            case .unknown, .login, .relogin, .join, .autoReconnect: .changedConnecting
            case .loginSuccess: .changedLoginSuccess
            case .logout: .changedLogout
            case .joinSuccess: .changedJoinSuccess
            case .rejoin, .reconnectSuccess: .changedRejoinSuccess
            case .leave: .changedLeaveChannel
            case .connectionError: .changedInterrupted
            case .keepAliveTimeout: .changedKeepAliveTimeout
            case .networkChange: .changedClientIpAddressChanged
            case .reconnectTimeout: .changedChangedLost
            case .kickedOutByServer: .changedBannedByServer
            case .sameUidLogin: .changedSameUidLogin
            case .invalidToken: .changedInvalidToken
            case .tokenExpired: .changedTokenExpired
            case .inconsistentAppId: .changedInconsistentAppId
            case .invalidChannelName: .changedInvalidChannelName
            case .loginNotAuthorized: .changedInvalidAppId
            case .presenceNotReady, .presenceNotConnected: .changedPresenceNotReady
            case .streamChannelNotAvailable: .changedStreamChannelNotAvailable
            case .loginTimeout, .joinFailed, .channelInstanceExceedLimitation, .channelInErrorState,
                .rtmServiceNotConnected:
                .changedJoinFailed
            case .loginRejected, .loginTooFrequent, .invalidUserId, .notInitialized,
                .operationRateExceedLimitation, .serviceNotSupported, .storageNotAvailable,
                .lockNotAvailable:
                .changedRejectedByServer
            }
    }
}
