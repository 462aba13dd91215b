// The names of earlier versions. Each link event is also delivered in these words (S-24).

import RTMClient

/// The connection state of earlier versions. See ``AgoraRtmLinkState``.
public enum AgoraRtmClientConnectionState: Int, Sendable {
    case disconnected = 1
    case connecting = 2
    case connected = 3
    case reconnecting = 4
    case failed = 5
}

/// The reasons of earlier versions. See ``AgoraRtmLinkStateChangeReason``.
public enum AgoraRtmClientConnectionChangeReason: Int, Sendable {
    case changedConnecting = 0
    case changedJoinSuccess = 1
    case changedInterrupted = 2
    case changedBannedByServer = 3
    case changedJoinFailed = 4
    case changedLeaveChannel = 5
    case changedInvalidAppId = 6
    case changedInvalidChannelName = 7
    case changedInvalidToken = 8
    case changedTokenExpired = 9
    case changedRejectedByServer = 10
    case changedSettingProxyServer = 11
    case changedRenewToken = 12
    case changedClientIpAddressChanged = 13
    case changedKeepAliveTimeout = 14
    case changedRejoinSuccess = 15
    case changedChangedLost = 16
    case changedEchoTest = 17
    case changedClientIpAddressChangedByUser = 18
    case changedSameUidLogin = 19
    case changedTooManyBroadcasters = 20
    case changedLicenseValidationFailure = 21
    case changedCertificationVerifyFailure = 22
    case changedStreamChannelNotAvailable = 23
    case changedInconsistentAppId = 24
    case changedLoginSuccess = 10001
    case changedLogout = 10002
    case changedPresenceNotReady = 10003
}

/// The presence changes of earlier versions, which no call and no event has. See
/// ``AgoraRtmPresenceEventType``.
public enum AgoraRtmPresenceType: Int, Sendable {
    case remoteJoinChannel = 0
    case remoteLeaveChannel = 1
    case remoteConnectionTimeout = 2
    case remoteJoinTopic = 3
    case remoteLeaveTopic = 4
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
