// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Locks of a channel were made, removed, taken or freed.
public final class AgoraRtmLockEvent: NSObject, @unchecked Sendable {
    public var channelType: AgoraRtmChannelType = .none
    public var eventType: AgoraRtmLockEventType = .none
    public var channelName = ""
    public var lockDetailList: [AgoraRtmLockDetail] = []
    /// Milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A lock and who holds it.
public final class AgoraRtmLockDetail: NSObject, @unchecked Sendable {
    public var lockName = ""
    /// User id of the holder; empty if it is free.
    public var owner = ""
    /// How many seconds the holder keeps it after it went offline: 10…300 (L-40).
    public var ttl: Int32 = 0
    /// Milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}
