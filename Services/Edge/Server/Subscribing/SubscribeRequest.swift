import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// The number of one subscribe in its loop. No other subscribe of the loop ever has it, so an answer that
/// comes too late finds nothing.
struct SubscribeID: Hashable {
    let rawValue: UInt64
}

/// What a session wants to be subscribed to: a channel that it asked for, a user's metadata, or its own inbox
/// at login.
struct SubscribeRequest {
    enum Purpose: Hashable {
        /// The inbox of a session whose login is answered once messages reach the user.
        case login(InboxOwner)
        /// A channel that the client has asked for.
        case subscribe
        /// A channel whose subscriber needs a new snapshot of presence (P-1). Nobody asked, so
        /// nothing is answered.
        case refresh
        /// The metadata of a user (D-44).
        case userMetadata
    }

    let session: SessionKey
    let requestID: UInt64
    let channel: ChannelKey
    let purpose: Purpose
    let features: SubscriptionFeatures
    /// Where the client wants to continue; nil if it begins where the channel stands.
    let after: StreamPosition?
    /// Of a topic: whose messages are delivered.
    var publishers: [String] = []

    var subscriber: Subscriber { Subscriber(session: session, features: features) }

    var isLogin: Bool { if case .login = purpose { true } else { false } }

    /// Whether the subscriber begins with what presence or storage knows. An inbox and a topic have nothing
    /// but messages.
    var hasSnapshots: Bool { !isLogin && channel.type != .topic }

    /// Whether the subscriber is a member of the channel (M-3).
    var isMembership: Bool {
        switch channel.type {
        case .message, .stream, .topics: true
        case .none, .user, .topic: false
        }
    }

    /// Features of which a subscriber that comes in again gets a snapshot although it had them before.
    var renewed: SubscriptionFeatures {
        switch purpose {
        case .login, .subscribe: []
        case .refresh: .presence
        // Whoever subscribes again gets the metadata again (D-46).
        case .userMetadata: .metadata
        }
    }

    /// The error that the client gets if messaging didn't do its part.
    func error(_ failure: ServiceLinkRequestFailure) -> RTMError {
        var error =
            switch channel.type {
            case .none: RTMError(failure, .storageOperationFailed, timeout: .storageOperationTimeout)
            case .stream: RTMError(failure, .channelJoinFailed, timeout: .channelJoinFailed)
            case .message, .user, .topics, .topic:
                RTMError(failure, .channelSubscribeFailed, timeout: .channelSubscribeTimeout)
            }
        if failure.isOfLink { error.retryAfter = MessagingOutage.shortestPause }
        return error
    }
}

/// A page of what a subscriber missed.
struct SubscribePage {
    let frames: ByteBuffer
    /// Where the page ends. The end of the last page is the log's head, and every entry up to there has
    /// arrived before the page (docs/decisions/0006).
    let position: StreamPosition
    /// The log doesn't have what the subscriber missed any more, so it goes on after the position.
    var gap = false
    /// The log has more entries behind the position.
    var more = false
}
