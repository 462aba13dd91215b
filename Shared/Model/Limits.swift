/// The limits of the public API (behaviour.md 1.1 and 1.2). Limits that an operator may change are in the
/// configuration instead.
public enum Limits {
    /// Bytes of a user id (L-1).
    public static let userIDBytesMax = 64
    /// Bytes of a channel name (L-4).
    public static let channelNameBytesMax = 64
    /// Bytes of a custom type (L-10).
    public static let customTypeBytesMax = 32
    /// Bytes of a message's payload; the custom type is not counted (L-20).
    public static let messageBytesMax = 32 * 1024
    /// Shards of messaging.
    package static let shardsMax = 64
    /// How many publishes without an answer a client keeps over a lost connection and sends again.
    public static let repeatedPublishesMax = 1_024
    /// Message channels that one client may be subscribed to (L-24).
    public static let subscribedChannelsMax = 50
    /// Bytes of a topic's name (L-8).
    public static let topicNameBytesMax = 16
    /// Bytes of the meta that a publisher gives a topic (L-9).
    public static let topicMetaBytesMax = 256
    /// Bytes of the payload of a topic message (L-21).
    public static let topicMessageBytesMax = 1024
    /// Stream channels that one client may have joined (L-25).
    public static let joinedStreamChannelsMax = 100
    /// How an error names that limit.
    package static let joinedStreamChannelsName = "joined stream channels"
    /// Topics that one client may publish in one stream channel (L-27).
    public static let joinedTopicsMax = 8
    /// Topics of one stream channel that one client may be subscribed to (L-28).
    public static let subscribedTopicsMax = 50
    /// Publishers of one topic that one client may be subscribed to (L-29).
    public static let topicPublishersMax = 64
    /// Bytes of the key of a metadata item (L-13).
    public static let metadataKeyBytesMax = 32
    /// Bytes of the value of one metadata item (L-36).
    public static let metadataValueBytesMax = 16 * 1024
    /// Bytes of all keys and values of a metadata set together (L-37).
    public static let metadataBytesMax = 16 * 1024
    /// Users whose metadata one client may be subscribed to (L-38).
    public static let userMetadataSubscriptionsMax = 100
    /// Bytes of a lock's name (L-11).
    public static let lockNameBytesMax = 64
    /// Locks of one channel (L-39).
    public static let locksMax = 32
    /// The ttl of a lock in seconds (L-40).
    public static let lockTTL = 10...300
    /// Messages of one page of history (L-43).
    public static let historyPage = 1...100
    /// The presence timeout of a client in seconds (L-45).
    public static let presenceTimeout = 5...300
    /// The interval between two heartbeats of a client in seconds (L-46).
    public static let heartbeatInterval = 5...1800
    /// How late a heartbeat may be before the client counts as offline, in seconds (S-41).
    public static let heartbeatGrace = 10
    /// How long after a lost connection a session can be resumed without missing a message (S-17).
    public static let resumeWindow = Duration.seconds(120)
    /// Bytes of a token's text. A longer text is refused unread; the longest token that can be valid needs
    /// less.
    public static let tokenBytesMax = 24 * 1024
    /// How long before its end the holder of a token is warned, in seconds (S-50).
    public static let tokenWarning = 30
}

extension Limits {
    /// The presence timeout for a client's setting: the nearest allowed value, or the longest if the client
    /// sent 0, which means that it set none (L-45).
    package static func presenceTimeout(_ seconds: Int) -> Int {
        seconds == 0 ? presenceTimeout.upperBound : clamp(seconds, to: presenceTimeout)
    }

    /// The nearest value within a range (L-45, L-46), so 0 becomes the range's lower bound.
    public static func clamp(_ value: Int, to range: ClosedRange<Int>) -> Int {
        min(max(value, range.lowerBound), range.upperBound)
    }
}

extension Limits {
    /// Bytes of the key of a presence state, unless the presence service is configured otherwise (L-14).
    public static let presenceStateKeyBytesMax = 32
    /// Bytes of the value of a presence state, unless the presence service is configured otherwise (L-14).
    public static let presenceStateValueBytesMax = 1024
    /// Presence states of one user in one channel (L-31).
    public static let presenceStatesMax = 32
    /// Presence states that a client keeps for channels to which it isn't subscribed yet, over all of them
    /// (L-32).
    public static let cachedPresenceStatesMax = 100
}
