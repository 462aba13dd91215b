// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Somebody came, left, was lost or changed a state; or who is there at all.
public final class AgoraRtmPresenceEvent: NSObject, @unchecked Sendable {
    public var type: AgoraRtmPresenceEventType = .none
    public var channelType: AgoraRtmChannelType = .none
    public var channelName = ""
    /// User id of whom the event tells; nil in snapshots and intervals.
    public var publisher: String?
    /// Of the publisher.
    public var states: [String: String] = [:]
    /// Filled with type `.interval`.
    public var interval: AgoraRtmPresenceIntervalInfo?
    /// Filled with type `.snapshot`.
    public var snapshot: [AgoraRtmUserState] = []
    /// Milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// What changed in a big channel within one period.
public final class AgoraRtmPresenceIntervalInfo: NSObject, @unchecked Sendable {
    public var joinUserList: [String] = []
    public var leaveUserList: [String] = []
    public var timeoutUserList: [String] = []
    /// Users whose states changed.
    public var userStateList: [AgoraRtmUserState] = []
    /// How many are there now.
    public var totalOccupancy: Int32 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A user of a channel and what it tells of itself.
public final class AgoraRtmUserState: NSObject, @unchecked Sendable {
    public var userId = ""
    public var states: [String: String] = [:]

    override public init() { super.init() }
}
