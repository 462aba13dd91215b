import RTMClient

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// What a subscription of a topic came to (C-9).
public final class AgoraRtmTopicSubscriptionResponse: NSObject, @unchecked Sendable {
    /// Who publishes the topic and is delivered from now on.
    public var succeedUsers: [String] = []
    /// Who doesn't publish the topic yet, or for whom there was no room. The former stay subscribed, and are
    /// delivered as soon as they publish.
    public var failedUsers: [String] = []

    override public init() { super.init() }

    convenience init(_ subscription: TopicSubscription) {
        self.init()
        succeedUsers = subscription.deliveredUsers
        failedUsers = subscription.undeliveredUsers
    }
}

// Safety: as above.
/// Whose messages of a topic are delivered.
public final class AgoraRtmGetTopicSubscribedUsersResponse: NSObject, @unchecked Sendable {
    /// The user ids.
    public var users: [String] = []

    override public init() { super.init() }

    convenience init(_ users: [String]) {
        self.init()
        self.users = users
    }
}

/// Called exactly once when `subscribeTopic` is over.
public typealias AgoraRtmTopicSubscriptionBlock =
    @Sendable (_ response: AgoraRtmTopicSubscriptionResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void

/// Called exactly once when `getSubscribedUserList` is over.
public typealias AgoraRtmGetTopicSubscribedUsersBlock =
    @Sendable (_ response: AgoraRtmGetTopicSubscribedUsersResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void

extension AgoraRtmTopicEvent {
    convenience init(_ event: TopicEvent) {
        self.init()
        channelName = event.channelName
        publisher = event.publisher ?? ""
        timestamp = event.timestampMilliseconds
        switch event.change {
        case .snapshot(let topics):
            type = .snapshot
            topicInfos = topics.map { AgoraRtmTopicInfo($0.name, $0.publishers) }
        case .joined(let topic, let publisher):
            type = .remoteJoinTopic
            topicInfos = [AgoraRtmTopicInfo(topic, [publisher])]
        case .left(let topic, let publisher):
            type = .remoteLeaveTopic
            topicInfos = [AgoraRtmTopicInfo(topic, [publisher])]
        }
    }
}

extension AgoraRtmTopicInfo {
    convenience init(_ topic: String, _ publishers: [TopicPublisher]) {
        self.init()
        self.topic = topic
        self.publishers = publishers.map { publisher in
            let info = AgoraRtmPublisherInfo()
            info.publisherUserId = publisher.userID
            info.publisherMeta = publisher.meta.isEmpty ? nil : publisher.meta
            return info
        }
    }
}
