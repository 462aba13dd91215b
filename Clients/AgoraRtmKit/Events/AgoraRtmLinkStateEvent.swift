// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.

/// The link between the client and its servers has changed (S-23).
public final class AgoraRtmLinkStateEvent: NSObject, @unchecked Sendable {
    /// The state now.
    public var currentState: AgoraRtmLinkState = .idle
    /// The state before.
    public var previousState: AgoraRtmLinkState = .idle
    /// `.message` for the link of the client, `.stream` for that of a stream channel.
    public var serviceType: AgoraRtmServiceType = .message
    /// What the client or the server was doing.
    public var operation: AgoraRtmLinkOperation = .login
    /// Why the state changed.
    public var reasonCode: AgoraRtmLinkStateChangeReason = .unknown
    /// `reasonCode` in words, for a person.
    public var reason: String?
    /// The channels that were subscribed when the link changed (S-18).
    public var affectedChannels: [String] = []
    /// The channels whose subscription could not be restored after a reconnect, and those whose events are
    /// missing. Normally there are none.
    public var unrestoredChannels: [String] = []
    /// Whether the link came back within two minutes of its loss (S-17).
    public var isResumed = false
    /// When it happened, in milliseconds since 1970, by the server's clock where it is known.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

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
