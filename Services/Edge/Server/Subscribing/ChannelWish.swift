import RTMModel
import RTMWire

/// What a client wants to subscribe to, by a request of its own or with its login.
struct ChannelWish {
    /// Nil for a number that is not a channel type.
    let type: ChannelType?
    let features: SubscriptionFeatures
    let after: StreamPosition?
    /// What lets the user join a stream channel.
    let token: String
    /// Whose messages of a topic are wanted.
    let publishers: [String]

    init(_ request: ClientRequest.Subscribe) {
        type = request.channelType
        after = request.after
        token = request.token.string
        publishers = request.publishers.map(\.string)
        features = Self.features(request.features, in: type)
    }

    init(_ channel: LoginSubscriptions.Channel) {
        type = channel.type
        after = channel.after
        token = channel.token
        publishers = channel.publishers
        features = Self.features(channel.features, in: type)
    }

    /// A topic has messages and nothing else, so nobody has to ask for them.
    private static func features(
        _ features: SubscriptionFeatures, in type: ChannelType?
    ) -> SubscriptionFeatures {
        type == .topic ? .message : features
    }

    /// The features that a channel of this type has.
    var allowed: SubscriptionFeatures {
        switch type {
        case .stream: SubscriptionFeatures.known.subtracting(.message)
        case .topics: [.presence, .quiet]
        default: .known
        }
    }
}

/// How many channels of one type a session may be subscribed to.
struct SubscriptionLimit {
    let countMax: Int
    let error: RTMError

    init(_ type: ChannelType, of application: Application) {
        let code: ErrorCode
        let noun: String
        switch type {
        case .stream:
            (countMax, code, noun) = (
                Limits.joinedStreamChannelsMax, .channelJoinFailed, Limits.joinedStreamChannelsName
            )
        case .topic:
            (countMax, code, noun) = (
                Limits.subscribedTopicsMax, .channelExceedTopicLimitation,
                "subscribed topics of a stream channel"
            )
        // One for each stream channel that is joined.
        case .topics: (countMax, code, noun) = (.max, .channelSubscribeFailed, "topics")
        case .message, .user, .none:
            (countMax, code, noun) = (
                application.subscriptionsMax, .channelSubscribeFailed, "subscribed channels"
            )
        }
        error = RTMError(
            code, "there are \(countMax) \(noun), which is the limit",
            limit: .init(name: noun, value: UInt64(countMax)))
    }
}
