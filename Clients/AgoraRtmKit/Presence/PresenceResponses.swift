// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.

/// The users of a channel, one page of them.
public final class AgoraRtmWhoNowResponse: NSObject, @unchecked Sendable {
    /// The length of `userStateList`, or the number of users in the channel if no users were asked for (P-32,
    /// P-33).
    public var totalOccupancy: Int32 = 0
    /// The users in the order of their ids; at most 100.
    public var userStateList: [AgoraRtmUserState] = []
    /// The `page` for the options of the next call; nil after the last page.
    public var nextPage: String?

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The users of a channel, one page of them.
public final class AgoraRtmGetOnlineUsersResponse: NSObject, @unchecked Sendable {
    /// The length of `userStateList`, or the number of users in the channel if no users were asked for (P-32,
    /// P-33).
    public var totalOccupancy: Int32 = 0
    /// The users in the order of their ids; at most 100.
    public var userStateList: [AgoraRtmUserState] = []
    /// The `page` for the options of the next call; nil after the last page.
    public var nextPage: String?

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The channels that a user is in.
public final class AgoraRtmWhereNowResponse: NSObject, @unchecked Sendable {
    /// How many channels there are.
    public var totalChannel: Int32 = 0
    /// The channels by type and name. The list is empty for a user who is offline or unknown (P-36).
    public var channels: [AgoraRtmChannelInfo] = []

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The channels that a user is in.
public final class AgoraRtmGetUserChannelsResponse: NSObject, @unchecked Sendable {
    /// How many channels there are.
    public var totalChannel: Int32 = 0
    /// The channels by type and name. The list is empty for a user who is offline or unknown (P-36).
    public var channels: [AgoraRtmChannelInfo] = []

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A channel by its full name.
public final class AgoraRtmChannelInfo: NSObject, @unchecked Sendable {
    /// The name.
    public var channelName = ""
    /// The type.
    public var channelType: AgoraRtmChannelType = .none

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The states that a user shows in a channel.
public final class AgoraRtmPresenceGetStateResponse: NSObject, @unchecked Sendable {
    /// The user and its states.
    public var state = AgoraRtmUserState()

    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmWhoNowBlock =
    @Sendable (_ response: AgoraRtmWhoNowResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetOnlineUsersBlock =
    @Sendable (_ response: AgoraRtmGetOnlineUsersResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmWhereNowBlock =
    @Sendable (_ response: AgoraRtmWhereNowResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetUserChannelsBlock =
    @Sendable (_ response: AgoraRtmGetUserChannelsResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmPresenceGetStateBlock =
    @Sendable (_ response: AgoraRtmPresenceGetStateResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void

/// What `whoNow` lists. The call copies the object.
public final class AgoraRtmPresenceOptions: NSObject {
    /// Whether users are listed. With both flags off the answer holds only the number of users (P-32).
    public var includeUserId = true
    /// Whether users are listed with their temporary states. This needs `includeUserId` (P-34).
    public var includeState = false
    /// `nextPage` of the page before; empty for the first page.
    public var page = ""

    override public init() { super.init() }
}

/// What `getOnlineUsers` lists. The call copies the object.
public final class AgoraRtmGetOnlineUsersOptions: NSObject {
    /// Whether users are listed. With both flags off the answer holds only the number of users (P-32).
    public var includeUserId = true
    /// Whether users are listed with their temporary states. This needs `includeUserId` (P-34).
    public var includeState = false
    /// `nextPage` of the page before; empty for the first page.
    public var page = ""

    override public init() { super.init() }
}
