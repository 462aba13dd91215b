/// Where a message goes.
public enum MessageDestination: Sendable, Hashable {
    /// Everybody who subscribed to this message channel. The publisher need not have subscribed (M-20).
    case channel(String)
    /// One user, who must be online (M-31).
    case user(String)
    /// Those who have subscribed to this user in a topic of a stream channel that is joined. The topic has
    /// to be joined, too (C-7).
    case topic(String, in: String)
}

/// The server's acknowledgement of one published message.
public struct PublishReceipt: Sendable, Hashable {
    /// The timestamp that receivers see, in milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64
    /// The message's place in the channel's log.
    public var offset: UInt64

    /// Makes the value, as tests of apps do.
    public init(timestampMilliseconds: UInt64, offset: UInt64) {
        self.timestampMilliseconds = timestampMilliseconds
        self.offset = offset
    }
}
