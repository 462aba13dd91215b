public import RTMModel

extension RTMClient {
    /// Starts the delivery of a message channel, or replaces the features of a running subscription (M-5).
    ///
    /// The subscription survives losses of the link. It is re-established with everything that was missed
    /// (S-19).
    ///
    /// The subscription also begins if the server can't give a feature at present, which
    /// `unavailableFeatures` of the answer then names. Presence, metadata and locks begin with a snapshot as
    /// soon as they are there (M-4, D-41, K-13).
    ///
    /// - Throws: `.invalidChannelName` (-10008) for a bad name, `.notLogin` (-10002) if not logged in,
    ///   `.notConnected` (-10025) if not connected, `.duplicateOperation` (-10017) if a `subscribe` of this
    ///   channel is under way (M-8), `.channelSubscribeFailed` (-11021) if there are too many channels (L-24)
    ///   or the server refuses, `.channelSubscribeTimeout` (-11019) without an answer in time,
    ///   `.channelSubscribeTooFrequent` (-11020) if called too often.
    @discardableResult
    public func subscribe(
        to channel: String, features: SubscriptionFeatures = .default
    ) async throws(RTMError) -> RTMSubscription {
        try check(.subscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        return try await perform(.subscribe, of: .channel(.message(channel))) { link, completion in
            link.subscriptions.subscribe(to: .message(channel), features: features, completion)
        }
    }

    /// Ends the delivery of a channel. This works without a connection too: then the subscription isn't
    /// restored (S-16).
    ///
    /// - Throws: `.invalidChannelName` (-10008) for a bad name, `.notLogin` (-10002) if not logged in,
    ///   `.channelNotSubscribed` (-11002) if not subscribed, `.channelUnsubscribeFailed` (-11022) without an
    ///   answer in time.
    public func unsubscribe(from channel: String) async throws(RTMError) {
        try check(.unsubscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        try await perform(.unsubscribe, of: .channel(.message(channel))) { link, completion in
            link.subscriptions.unsubscribe(from: .message(channel), completion)
        }
    }
}

/// The server's acknowledgement of one subscription.
public struct RTMSubscription: Sendable, Hashable {
    /// The channel that is subscribed.
    public var channelName: String
    /// Every message after this position is delivered.
    public var position: StreamPosition
    /// The features that the app asked for.
    public var features: SubscriptionFeatures
    /// The features that the server can't give at present.
    public var unavailableFeatures: SubscriptionFeatures

    /// Makes the value, as tests of apps do.
    public init(
        channelName: String, position: StreamPosition, features: SubscriptionFeatures,
        unavailableFeatures: SubscriptionFeatures = []
    ) {
        self.channelName = channelName
        self.position = position
        self.features = features
        self.unavailableFeatures = unavailableFeatures
    }
}
