// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Locks of a channel were created, removed, acquired or released.
public final class AgoraRtmLockEvent: NSObject, @unchecked Sendable {
    /// The type of the channel.
    public var channelType: AgoraRtmChannelType = .none
    /// What happened.
    public var eventType: AgoraRtmLockEventType = .none
    /// The channel.
    public var channelName = ""
    /// The locks that it is about (K-14).
    public var lockDetailList: [AgoraRtmLockDetail] = []
    /// When it happened, in milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A lock and its owner.
public final class AgoraRtmLockDetail: NSObject, @unchecked Sendable {
    /// The name of the lock.
    public var lockName = ""
    /// The user id of the owner; empty if the lock is free.
    public var owner = ""
    /// For how many seconds the owner keeps the lock after it went offline: 10…300 (L-40).
    public var ttl: Int32 = 0
    /// When this was so, in milliseconds since 1970: the time of the event, or of the answer of `getLocks`.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}
