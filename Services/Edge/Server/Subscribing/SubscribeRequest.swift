import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// The number of one subscribe in its loop. No other subscribe of the loop ever has it, so an answer that
/// comes too late finds nothing.
struct SubscribeID: Hashable {
    let rawValue: UInt64
}

/// The states that a user shows from its join on, on their way to presence (P-46).
struct JoinStates {
    var items: [StateItem]
    /// The memory for them, which the end of this gives back.
    var share: SharedMemory.Share?

    /// About how much memory they take.
    var byteCount: Int { items.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 96 } }
}

/// What a session wants to be subscribed to, from the client's frame to the machine: a channel that it asked
/// for, a user's metadata, or its own inbox at login.
struct SubscribeRequest {
    enum Purpose: Hashable {
        /// The inbox of a session whose login is answered once messages reach the user.
        case login(InboxOwner)
        /// A channel that the client has asked for.
        case subscribe
        /// A channel whose subscriber needs a new snapshot of presence (P-1). No client asked, so
        /// nothing is answered.
        case refresh
        /// The metadata of a user (D-44).
        case userMetadata
    }

    let session: SessionKey
    let requestID: UInt64
    let channel: ChannelKey
    let purpose: Purpose
    /// What the client has asked for by its bits.
    let features: SubscriptionFeatures
    /// Where the client wants to continue; nil if it begins at the channel's position.
    let after: StreamPosition?
    /// In a topic, the publishers whose messages are delivered.
    var publishers: [String] = []
    /// In a message channel, whether the session's own messages are delivered (M-43).
    var ownMessages = false
    /// What lets the user join a stream channel; empty where there is none.
    var token = ""
    /// What the user shows from the join on; nil if the client has named nothing, or nothing that may be set.
    var states: JoinStates?

    var subscriber: Subscriber { Subscriber(session: session, features: delivered) }

    /// The features by which entries are selected.
    var delivered: SubscriptionFeatures { ownMessages ? features.union(.ownMessages) : features }

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

    /// The features that a channel of this type has.
    var featuresAllowed: SubscriptionFeatures {
        switch channel.type {
        case .stream: SubscriptionFeatures.known.subtracting(.message)
        case .topics: [.presence, .quiet]
        case .message, .user, .topic, .none: .known
        }
    }

    /// Features of which a subscriber that comes in again gets a snapshot although it had them before.
    var renewed: SubscriptionFeatures {
        switch purpose {
        case .login, .subscribe: []
        case .refresh: .presence
        // A second subscribe gets the metadata again (D-46).
        case .userMetadata: .metadata
        }
    }

    /// The error that the client gets if messaging doesn't attach or read the channel.
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

extension ClientRequest.Subscribe {
    /// Nil where a call that sets them would be refused: the client makes that call, and learns the reason.
    fileprivate var joinStates: JoinStates? {
        let items = states.compactMap(StateItem.init)
        return items.isEmpty || items.count < states.count ? nil : JoinStates(items: items)
    }
}

// MARK: - What clients send

extension SubscribeRequest {
    /// A channel. The number of a type that doesn't exist becomes the type `none`, which `ChannelRequests`
    /// refuses. A topic has messages and nothing else, so a client doesn't have to ask for them.
    init(
        _ request: ClientRequest.Subscribe, _ requestID: UInt64, of session: SessionKey, in appID: String
    ) {
        let type = request.channelType ?? .none
        self.init(
            session: session, requestID: requestID,
            channel: ChannelKey(appID: appID, type: type, name: request.channel.string), purpose: .subscribe,
            features: type == .topic ? .message : request.features, after: request.after,
            publishers: request.publishers.map(\.string),
            ownMessages: type == .message && request.ownMessages, token: request.token.string,
            states: request.joinStates)
    }

    /// The metadata of a user. The empty id is the session's own user.
    init(
        _ request: ClientRequest.SubscribeUserMetadata, _ requestID: UInt64, of session: SessionKey,
        in appID: String, userID: String
    ) {
        self.init(
            session: session, requestID: requestID,
            channel: ChannelKey(
                appID: appID, type: .none,
                name: request.userID.isEmpty ? userID : request.userID.string), purpose: .userMetadata,
            features: .metadata, after: request.after)
    }
}

/// What a login brings with it to be subscribed, kept until the login is accepted. A client that comes back
/// needs one request for all that it had, and no rate of requests delays it (S-19).
///
/// As many are taken as a session may have. The client learns the number and sends the others itself, so
/// that each of those gets the refusal that names the limit.
struct LoginSubscriptions {
    let channels: [SubscribeRequest]
    let users: [SubscribeRequest]

    /// - Parameter channelsMax: how many channels a session of the app may have (L-24).
    /// - Returns: nil if the login brings nothing.
    init?(_ login: ClientRequest.Login, of session: SessionKey, channelsMax: Int) {
        guard !login.subscriptions.isEmpty || !login.followedUsers.isEmpty else { return nil }
        let (appID, userID) = (login.appID.string, login.userID.string)
        channels = Self.taken(of: login.subscriptions, channelsMax: channelsMax)
            .map { SubscribeRequest($0, $0.requestID, of: session, in: appID) }
        users = login.followedUsers.prefix(Limits.userMetadataSubscriptionsMax)
            .map { SubscribeRequest($0, $0.requestID, of: session, in: appID, userID: userID) }
    }

    /// Limit: stream channels and topics that come with one login.
    private static let streamsMax = 500

    private static func taken(
        of subscriptions: WireList<ClientRequest.Subscribe>, channelsMax: Int
    ) -> some Sequence<ClientRequest.Subscribe> {
        var channels = 0
        var streams = 0
        return subscriptions.prefix { subscription in
            if subscription.channelType == .message { channels += 1 } else { streams += 1 }
            return channels <= channelsMax && streams <= streamsMax
        }
    }
}
