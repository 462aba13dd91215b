/// What a subscriber of a message channel wants to receive, and whether it wants to be visible (M-1).
public struct AgoraRtmSubscribeChannelFeature: OptionSet, Sendable, Hashable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The empty set. A real import of the vendor's header has only `[]`.
    public static let none: AgoraRtmSubscribeChannelFeature = []
    /// Presence events and snapshots.
    public static let presence = AgoraRtmSubscribeChannelFeature(rawValue: 1)
    /// Storage events and a snapshot of the metadata.
    public static let metadata = AgoraRtmSubscribeChannelFeature(rawValue: 1 << 1)
    /// Messages.
    public static let message = AgoraRtmSubscribeChannelFeature(rawValue: 1 << 2)
    /// Lock events and a snapshot of the locks.
    public static let lock = AgoraRtmSubscribeChannelFeature(rawValue: 1 << 3)
    /// The user's own joins, leaves and states are not shown to others (M-7).
    public static let beQuiet = AgoraRtmSubscribeChannelFeature(rawValue: 1 << 4)
}

/// What a member of a stream channel wants to receive. The values differ from those of a subscription.
public struct AgoraRtmJoinChannelFeature: OptionSet, Sendable, Hashable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The empty set. A real import of the vendor's header has only `[]`.
    public static let none: AgoraRtmJoinChannelFeature = []
    /// Has no effect: messages of a stream channel belong to topics. Some samples name it.
    public static let message: AgoraRtmJoinChannelFeature = []
    /// Presence events and snapshots.
    public static let presence = AgoraRtmJoinChannelFeature(rawValue: 1)
    /// Storage events and a snapshot of the metadata.
    public static let metadata = AgoraRtmJoinChannelFeature(rawValue: 1 << 1)
    /// Lock events and a snapshot of the locks.
    public static let lock = AgoraRtmJoinChannelFeature(rawValue: 1 << 2)
    /// The user's own joins, leaves and states are not shown to others (M-7).
    public static let beQuiet = AgoraRtmJoinChannelFeature(rawValue: 1 << 3)
}

/// Whether messages of a topic keep their order.
public enum AgoraRtmMessageQos: Int, Sendable {
    /// In order here, too (C-14).
    case unordered = 0
    /// In order and once.
    case ordered = 1
}

/// Which topics go first to a subscriber who reads slowly (C-14).
public enum AgoraRtmMessagePriority: Int, Sendable {
    /// Without effect at present (C-14).
    case highest = 0
    /// Without effect at present (C-14).
    case high = 1
    /// Without effect at present (C-14).
    case normal = 4
    /// Without effect at present (C-14).
    case low = 8
}

/// What a subscription delivers. The call copies the object.
public final class AgoraRtmSubscribeOptions: NSObject {
    /// What is delivered; `[.message, .presence]` by default, and also without options (M-1).
    public var features: AgoraRtmSubscribeChannelFeature = [.message, .presence]

    override public init() { super.init() }
}

/// Where and how a message is published. The call copies the object.
public final class AgoraRtmPublishOptions: NSObject {
    /// `.message`, or `.user` for a message to one user; the channel name is then the receiver's user id.
    public var channelType: AgoraRtmChannelType = .message
    /// A mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    public var customType = ""
    /// Whether the message is stored for later queries (M-27).
    public var storeInHistory = false

    /// The time of the media that a message belongs to, from earlier versions. It never had an effect outside
    /// of topics, and those have options of their own.
    @available(*, deprecated, message: "topics have it: AgoraRtmTopicMessageOptions.sendTs")
    public var sendTs: UInt64 = 0

    override public init() { super.init() }
}
