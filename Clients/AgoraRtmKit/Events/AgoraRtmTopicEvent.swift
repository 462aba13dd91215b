// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Somebody began or stopped to publish to a topic of a stream channel.
public final class AgoraRtmTopicEvent: NSObject, @unchecked Sendable {
    /// What happened.
    public var type: AgoraRtmTopicEventType = .none
    /// The stream channel.
    public var channelName = ""
    /// The user id of the publisher whom the event is about.
    public var publisher = ""
    /// The topics with their publishers: all in a snapshot, otherwise the one that it is about.
    public var topicInfos: [AgoraRtmTopicInfo] = []
    /// When it happened, in milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A topic and its publishers.
public final class AgoraRtmTopicInfo: NSObject, @unchecked Sendable {
    /// The name of the topic.
    public var topic = ""
    /// Who publishes it.
    public var publishers: [AgoraRtmPublisherInfo] = []

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// One publisher of a topic.
public final class AgoraRtmPublisherInfo: NSObject, @unchecked Sendable {
    /// The user id.
    public var publisherUserId = ""
    /// What the publisher said about itself when it joined the topic.
    public var publisherMeta: String?

    override public init() { super.init() }
}
