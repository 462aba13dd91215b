// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A token is about to expire, or a new one allows less than the one before.
public final class AgoraRtmTokenEvent: NSObject, @unchecked Sendable {
    /// What happened.
    public var eventType: AgoraRtmTokenEventTokenType = .willExpire
    /// What happened, for a person. The wording may change, so don't parse it.
    public var reason = ""
    /// With `.readPermissionRevoked` the channels that aren't delivered any more.
    public var affectedResources = AgoraRtmAffectedResources()
    /// When it happened, in milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// What an event about a token concerns.
public final class AgoraRtmAffectedResources: NSObject, @unchecked Sendable {
    /// The names of message channels.
    public var messageChannels: [String] = []

    override public init() { super.init() }
}
