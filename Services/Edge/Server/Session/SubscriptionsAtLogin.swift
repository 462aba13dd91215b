import RTMModel
import RTMWire

/// What a login brings with it to be subscribed, kept until the login is accepted. A client that comes back
/// needs one request for all that it had, and no rate of requests delays it (S-19).
///
/// As many are taken as a session may have. The client learns the number and sends the others itself, so
/// that each of those gets the refusal that names the limit.
struct SubscriptionsAtLogin {
    struct Channel {
        let requestID: UInt64
        let name: String
        let features: SubscriptionFeatures
        let after: StreamPosition?
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
        channels = login.subscriptions.prefix(channelsMax).map {
            Channel(
                requestID: $0.requestID, name: $0.channel.string, features: $0.features, after: $0.after)
        }
        users = login.followedUsers.prefix(Limits.userMetadataSubscriptionsMax)
            .map { User(requestID: $0.requestID, id: $0.userID.string, after: $0.after) }
    }
}
