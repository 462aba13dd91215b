// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Somebody joined, left, was lost or changed a state; or the list of all users.
public final class AgoraRtmPresenceEvent: NSObject, @unchecked Sendable {
    /// What happened.
    public var type: AgoraRtmPresenceEventType = .none
    /// The type of the channel.
    public var channelType: AgoraRtmChannelType = .none
    /// The channel.
    public var channelName = ""
    /// The user id of the user whom the event is about; nil in snapshots and intervals.
    public var publisher: String?
    /// The states of the publisher.
    public var states: [String: String] = [:]
    /// The changes of a period, with the type `.interval`.
    public var interval: AgoraRtmPresenceIntervalInfo?
    /// All users of the channel, with the type `.snapshot`.
    public var snapshot: [AgoraRtmUserState] = []
    /// When it happened, in milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The changes of a big channel within one period.
public final class AgoraRtmPresenceIntervalInfo: NSObject, @unchecked Sendable {
    /// Who joined.
    public var joinUserList: [String] = []
    /// Who left.
    public var leaveUserList: [String] = []
    /// Who was lost.
    public var timeoutUserList: [String] = []
    /// The users whose states changed.
    public var userStateList: [AgoraRtmUserState] = []
    /// How many users are in the channel now.
    public var totalOccupancy: Int32 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A user of a channel and its states.
public final class AgoraRtmUserState: NSObject, @unchecked Sendable {
    /// Whose states these are.
    public var userId = ""
    /// The states. The versions 2.1 had a list of `AgoraRtmStateItem` here; both can't stand beside each
    /// other.
    public var states: [String: String] = [:]

    override public init() { super.init() }
}
