/// The limits of the public API (behaviour.md 1.1 and 1.2). What an operator may change lies in the
/// configuration instead.
public enum Limits {
    /// L-1.
    public static let userIDBytesMax = 64
    /// L-4.
    public static let channelNameBytesMax = 64
    /// L-10.
    public static let customTypeBytesMax = 32
    /// L-20. Of the payload alone; the custom type is not counted.
    public static let messageBytesMax = 32 * 1024
    /// Publishes without an answer that a client keeps over a lost connection and sends again.
    public static let repeatedPublishesMax = 1_024
    /// L-24.
    public static let subscribedChannelsMax = 50
    /// L-13.
    public static let metadataKeyBytesMax = 32
    /// L-36, of one item's value.
    public static let metadataValueBytesMax = 16 * 1024
    /// L-37, of a whole set: the bytes of all keys and values together.
    public static let metadataBytesMax = 16 * 1024
    /// L-38.
    public static let userMetadataSubscriptionsMax = 100
    /// L-11.
    public static let lockNameBytesMax = 64
    /// L-39, in one channel.
    public static let locksMax = 32
    /// L-40, in seconds.
    public static let lockTTL = 10...300
    /// L-43, messages of one page.
    public static let historyPage = 1...100
    /// L-45, in seconds.
    public static let presenceTimeout = 5...300
    /// L-46, in seconds.
    public static let heartbeatInterval = 5...1800
    /// S-41, in seconds: what a session may be late with its heartbeat.
    public static let heartbeatGrace = 10
    /// What is looked at at all of a token; the longest that can be valid needs less.
    public static let tokenBytesMax = 24 * 1024
    /// S-50, in seconds: how long before its end the holder of a token is warned.
    public static let tokenWarning = 30
}

extension Limits {
    /// L-45, of what a client said: 0 means that it didn't, and gets the longest.
    package static func presenceTimeout(_ seconds: Int) -> Int {
        seconds == 0 ? presenceTimeout.upperBound : clamp(seconds, to: presenceTimeout)
    }

    /// The nearest value within a range (L-45, L-46); 0 means the range's lower bound.
    public static func clamp(_ value: Int, to range: ClosedRange<Int>) -> Int {
        min(max(value, range.lowerBound), range.upperBound)
    }
}

extension Limits {
    /// L-14, unless the presence service is configured otherwise.
    public static let presenceStateKeyBytesMax = 32
    /// L-14, unless the presence service is configured otherwise.
    public static let presenceStateValueBytesMax = 1024
    /// L-31, of one user in one channel.
    public static let presenceStatesMax = 32
    /// L-32, of one client in all channels that it hasn't subscribed to.
    public static let cachedPresenceStatesMax = 100
}
