import RTMModel

/// The calls of the public API, by the names that `RTMError.operation` shows.
enum Operation: String, Sendable {
    case login, logout, renewToken, ping
    case subscribe, unsubscribe, publish, outbox
    case join, leave, joinTopic, leaveTopic, publishTopicMessage
    case subscribeTopic, unsubscribeTopic, getSubscribedUserList
    case whoNow, whereNow, setState, getState, removeState
    case setChannelMetadata, updateChannelMetadata, removeChannelMetadata, getChannelMetadata
    case setUserMetadata, updateUserMetadata, removeUserMetadata, getUserMetadata
    case subscribeUserMetadata, unsubscribeUserMetadata
    case setLock, removeLock, acquireLock, releaseLock, revokeLock, getLocks
    case getMessages

    /// Whether the call changes nothing, so that it may be made again in any case.
    var isReading: Bool {
        switch self {
        case .ping, .whoNow, .whereNow, .getState, .getChannelMetadata, .getUserMetadata, .getLocks,
            .getMessages, .getSubscribedUserList:
            true
        default: false
        }
    }

    /// The codes that a call of this kind throws where the cause brings no code of its own.
    var codes: Codes {
        switch self {
        case .login: Codes(failed: .loginCanceled, timedOut: .loginTimeout, refused: .invalidToken)
        case .logout, .ping: Codes(failed: .notConnected, timedOut: .notConnected)
        case .renewToken:
            Codes(failed: .renewTokenTimeout, timedOut: .renewTokenTimeout, refused: .invalidToken)
        case .subscribe: Codes(failed: .channelSubscribeFailed, timedOut: .channelSubscribeTimeout)
        case .unsubscribe: Codes(failed: .channelUnsubscribeFailed, timedOut: .channelUnsubscribeFailed)
        case .publish, .publishTopicMessage, .outbox: .publish
        case .join: Codes(failed: .channelJoinFailed, timedOut: .channelJoinFailed)
        case .leave: Codes(failed: .channelLeaveFailed, timedOut: .channelLeaveFailed)
        case .joinTopic, .leaveTopic:
            Codes(
                failed: .channelJoinTopicFailed, timedOut: .channelJoinTopicFailed,
                notConnected: .channelNotConnected)
        case .subscribeTopic, .getSubscribedUserList:
            Codes(
                failed: .channelSubscribeFailed, timedOut: .channelSubscribeTimeout,
                notConnected: .channelNotConnected)
        case .unsubscribeTopic:
            Codes(
                failed: .channelUnsubscribeFailed, timedOut: .channelUnsubscribeFailed,
                notConnected: .channelNotConnected)
        case .whoNow, .whereNow, .setState, .getState, .removeState: .presence
        case .setChannelMetadata, .updateChannelMetadata, .removeChannelMetadata, .getChannelMetadata,
            .setUserMetadata, .updateUserMetadata, .removeUserMetadata, .getUserMetadata,
            .subscribeUserMetadata, .unsubscribeUserMetadata:
            Codes(failed: .storageOperationFailed, timedOut: .storageOperationTimeout)
        case .setLock, .removeLock, .acquireLock, .releaseLock, .revokeLock, .getLocks:
            Codes(failed: .lockOperationFailed, timedOut: .lockOperationTimeout)
        case .getMessages: Codes(failed: .historyOperationFailed, timedOut: .historyOperationTimeout)
        }
    }
}

extension Operation {
    struct Codes {
        /// The server's answer can't be understood.
        let failed: ErrorCode
        /// The server doesn't answer in time (M-26, S-52).
        let timedOut: ErrorCode
        /// The client is logged in, but there is no connection (S-8).
        let notConnected: ErrorCode
        /// The connection was lost after the request was sent.
        let lost: ErrorCode
        /// The server refuses with a code that this version doesn't know.
        let refused: ErrorCode

        init(
            failed: ErrorCode, timedOut: ErrorCode, notConnected: ErrorCode = .notConnected,
            lost: ErrorCode? = nil, refused: ErrorCode? = nil
        ) {
            self.failed = failed
            self.timedOut = timedOut
            self.notConnected = notConnected
            self.lost = lost ?? notConnected
            self.refused = refused ?? failed
        }

        static let publish = Codes(
            failed: .channelPublishMessageFailed, timedOut: .channelPublishMessageTimeout,
            notConnected: .channelNotConnected, lost: .channelPublishMessageFailed)
        static let presence = Codes(
            failed: .presenceOperationFailed, timedOut: .presenceOperationTimeout,
            notConnected: .presenceNotConnected)
    }
}
