public import RTMModel

/// Where a message goes.
public enum MessageDestination: Sendable, Hashable {
    /// Everybody who subscribed to this message channel; the publisher need not have (M-20).
    case channel(String)
    /// One user, who must be online (M-31).
    case user(String)
}

/// The server's acknowledgement of one published message.
public struct PublishReceipt: Sendable, Hashable {
    /// What receivers see: milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64
    /// Place in the channel's log.
    public var offset: UInt64

    public init(timestampMilliseconds: UInt64, offset: UInt64) {
        self.timestampMilliseconds = timestampMilliseconds
        self.offset = offset
    }
}

/// The server's acknowledgement of one subscription.
public struct Subscription: Sendable, Hashable {
    public var channelName: String
    /// Every message after this position is delivered.
    public var position: StreamPosition
    /// The features asked for.
    public var features: SubscriptionFeatures
    /// Of these, what the server can't give at present.
    public var unavailableFeatures: SubscriptionFeatures

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

/// A server's answer to a ping.
public struct PingReply: Sendable, Hashable {
    /// From the sending of one heartbeat to its answer, without the time for connecting.
    public var roundTrip: Duration
    /// Name and version of the server software.
    public var server: String
    /// The protocol version both speak.
    public var protocolVersion: UInt32
    /// The server's clock: milliseconds since 1970.
    public var serverTimeMilliseconds: UInt64

    public init(
        roundTrip: Duration, server: String, protocolVersion: UInt32, serverTimeMilliseconds: UInt64
    ) {
        self.roundTrip = roundTrip
        self.server = server
        self.protocolVersion = protocolVersion
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }
}
