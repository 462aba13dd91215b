import RTMModel
import RTMWire

/// What a login brings with it to be subscribed, kept until the login is accepted. A client that comes back
/// needs one request for all that it had, and no rate of requests delays it (S-19).
///
/// As many are taken as a session may have. The client learns the number and sends the others itself, so
/// that each of those gets the refusal that names the limit.
struct LoginSubscriptions {
    struct Channel {
        let requestID: UInt64
        /// Nil for a number that is not a channel type.
        let type: ChannelType?
        let name: String
        let features: SubscriptionFeatures
        let after: StreamPosition?
        let token: String
        let publishers: [String]
    }

    struct User {
        let requestID: UInt64
        let id: String
        let after: StreamPosition?
    }

    let channels: [Channel]
    let users: [User]

    /// - Parameter channelsMax: how many channels a session of the app may have (L-24).
    /// - Returns: nil if the login brings nothing.
    init?(_ login: ClientRequest.Login, channelsMax: Int) {
        guard !login.subscriptions.isEmpty || !login.followedUsers.isEmpty else { return nil }
        channels = Self.taken(of: login.subscriptions, channelsMax: channelsMax).map {
            Channel(
                requestID: $0.requestID, type: $0.channelType, name: $0.channel.string,
                features: $0.features, after: $0.after, token: $0.token.string,
                publishers: $0.publishers.map(\.string))
        }
        users = login.followedUsers.prefix(Limits.userMetadataSubscriptionsMax)
            .map { User(requestID: $0.requestID, id: $0.userID.string, after: $0.after) }
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
