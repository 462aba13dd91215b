public import RTMModel

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
