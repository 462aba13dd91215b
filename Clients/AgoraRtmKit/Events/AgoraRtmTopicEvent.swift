// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Somebody began or ended to publish to a topic of a stream channel.
public final class AgoraRtmTopicEvent: NSObject, @unchecked Sendable {
    public var type: AgoraRtmTopicEventType = .none
    public var channelName = ""
    /// User id of whom the event tells.
    public var publisher = ""
    public var topicInfos: [AgoraRtmTopicInfo] = []
    /// Milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A topic and who publishes to it.
public final class AgoraRtmTopicInfo: NSObject, @unchecked Sendable {
    public var topic = ""
    public var publishers: [AgoraRtmPublisherInfo] = []

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// One publisher of a topic.
public final class AgoraRtmPublisherInfo: NSObject, @unchecked Sendable {
    public var publisherUserId = ""
    /// What it said of itself when it joined the topic.
    public var publisherMeta: String?

    override public init() { super.init() }
}
