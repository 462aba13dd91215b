/// How a stream channel is joined. The call copies the object.
public final class AgoraRtmJoinChannelOption: NSObject {
    /// A token with an RTC service for the channel and the user; nil for apps without a certificate (C-2).
    public var token: String?
    /// What is delivered; `[.presence]` by default, as the vendor's C++ code has it. The English documents
    /// say `[.message, .presence]`, which means the same.
    public var features: AgoraRtmJoinChannelFeature = [.presence]

    override public init() { super.init() }
}

/// How a topic is joined. The call copies the object.
public final class AgoraRtmJoinTopicOption: NSObject {
    /// Messages of a publisher in a topic arrive in order and once, whatever is chosen here (C-14).
    public var qos: AgoraRtmMessageQos = .unordered
    /// Which topics go first to a subscriber who reads more slowly than messages come. The messages of one
    /// topic keep their order, and whatever isn't a topic goes before all of them (C-14).
    public var priority: AgoraRtmMessagePriority = .normal
    /// What others learn of this publisher, at most 256 bytes (L-9).
    public var meta: String?
    /// There is no media clock, so messages are never held back for it (C-15).
    public var syncWithMedia = false

    override public init() { super.init() }
}

/// How a message is published to a topic. The call copies the object.
public final class AgoraRtmTopicMessageOptions: NSObject {
    /// A mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    public var customType = ""
    /// The time of the media that the message belongs to. Without a media clock it has no effect (C-15).
    public var sendTs: UInt64 = 0

    override public init() { super.init() }
}

/// Whose messages of a topic a call is about. The call copies the object.
public final class AgoraRtmTopicOption: NSObject {
    /// Nil or empty: when subscribing, up to 64 of those who publish the topic, chosen at random; when
    /// unsubscribing, all (C-9, C-11).
    public var users: [String]?

    override public init() { super.init() }
}
