public import Foundation
public import RTMModel

/// A stream channel that this client has joined, with its topics (C-1 to C-12).
///
/// ```swift
/// let room = try await client.join("room")
/// try await room.joinTopic("chat")
/// try await room.publish("hello", to: "chat")
/// for await case .message(let message) in try await room.subscribe(to: "chat") { … }
/// try await room.leave()
/// ```
///
/// The handle holds nothing: whoever drops it has not left.
/// ``RTMClient/withStreamChannel(_:token:features:_:)`` leaves on every path. Losses of the link are
/// survived, with topics and subscriptions (S-19). A leave forgets them.
public struct StreamChannel: Sendable {
    let client: RTMClient
    /// The name of the channel.
    public let name: String
    /// What could not be had when the channel was joined: presence, on which the topics depend, metadata or
    /// locks. Each begins with a snapshot as soon as it is available. Empty for a handle that no join made.
    public internal(set) var unavailableFeatures: SubscriptionFeatures = []

    /// Leaves the channel. Others learn that this user's topics are over, then that it has left (C-4).
    ///
    /// - Throws: `.channelNotJoined` (-11001) if the channel isn't joined, `.notLogin` (-10002) if not
    ///   logged in, `.channelLeaveFailed` (-11028) without an answer in time.
    public func leave() async throws(RTMError) {
        try await client.perform(.leave, of: .channel(.stream(name))) { [name] link, completion in
            link.streams.leave(name, completion)
        }
    }

    /// Replaces the token with which the channel was joined, before it expires. A token that is refused
    /// changes nothing: the membership lives on until the old token expires (S-52).
    ///
    /// - Throws: `.invalidToken` (-10005), `.tokenExpired` (-10009) or `.loginInconsistentAppId` (-10016)
    ///   for a bad token, `.channelJoinFailed` (-11007) for one that is for something else,
    ///   `.channelNotJoined` (-11001), `.operationRateExceedLimitation` (-10021) if called more than twice a
    ///   second, `.renewTokenTimeout` (-10026) without an answer in time.
    public func renewToken(_ token: String) async throws(RTMError) {
        try client.check(.renewToken) { () throws(RTMError) in try Credential.check(token) }
        try await client.perform(.renewToken) { [name] link, completion in
            link.streams.renewToken(token, of: name, completion)
        }
    }

    /// Becomes a publisher of a topic. That subscribes to nothing (C-5).
    ///
    /// - Parameters:
    ///   - topic: 1…16 bytes, of the characters that channel names may have (L-8).
    ///   - meta: what others learn of this publisher, at most 256 bytes (L-9).
    ///   - priority: which topics go first to a subscriber who reads more slowly than messages come. The
    ///     messages of one topic keep their order, and whatever isn't a topic goes before all of them (C-14).
    /// - Throws: `.channelInvalidTopicName` (-11008) for a bad name, `.channelInvalidTopicMeta` (-11018) for
    ///   a meta that is too long, `.channelNotJoined` (-11001), `.duplicateOperation` (-10017) if the topic
    ///   is joined already, `.channelExceedTopicLimitation` (-11014) for more than 8 topics (L-27),
    ///   `.channelJoinTopicFailed` (-11015) if the server can't do it.
    public func joinTopic(
        _ topic: String, meta: String = "", priority: TopicPriority = .normal
    ) async throws(RTMError) {
        let topic = try check(topic, .joinTopic)
        try client.check(.joinTopic) { () throws(RTMError) in
            guard meta.utf8.count <= Limits.topicMetaBytesMax else {
                throw RTMError(
                    .channelInvalidTopicMeta,
                    "the meta has \(meta.utf8.count) bytes, \(Limits.topicMetaBytesMax) are allowed",
                    limit: .init(name: "topic meta bytes", value: UInt64(Limits.topicMetaBytesMax)))
            }
        }
        try await client.perform(.joinTopic) { link, completion in
            link.streams.joinTopic(topic, meta: meta, priority: priority, completion)
        }
    }

    /// Publishes the topic no more. It ends with its last publisher.
    ///
    /// - Throws: `.channelInvalidTopicName` (-11008), `.channelNotJoined` (-11001), `.channelTopicNotJoined`
    ///   (-11016).
    public func leaveTopic(_ topic: String) async throws(RTMError) {
        let topic = try check(topic, .leaveTopic)
        try await client.perform(.leaveTopic) { link, completion in
            link.streams.leaveTopic(topic, completion)
        }
    }

    /// Publishes to a topic that was joined. Those get it who have subscribed to this user in this topic, in
    /// the order in which it was published, and once (C-8, C-14). See
    /// ``RTMClient/publish(_:to:customType:storeInHistory:id:)-(String,_,_,_,_)`` for what happens when the
    /// connection is lost.
    ///
    /// - Throws: `.channelMessageLengthExceedLimitation` (-11010) above 1 KiB (L-21), `.channelNotJoined`
    ///   (-11001), `.channelTopicNotJoined` (-11016), and what a publish to a channel throws.
    @discardableResult
    public func publish(
        _ payload: MessagePayload, to topic: String, customType: String = ""
    ) async throws(RTMError) -> PublishReceipt {
        let topic = try check(topic, .publishTopicMessage)
        let message = OutgoingMessage(
            payload: payload, destination: .topic(topic.topic, in: topic.channel), customType: customType,
            storeInHistory: false)
        let size = client.configuration.contentSize
        try client.check(.publishTopicMessage) { () throws(RTMError) in try message.check(size) }
        return try await client.perform(.publishTopicMessage) { link, completion in
            link.streams.publish(message, to: topic, completion)
        }
    }

    /// Publishes a text. See ``publish(_:to:customType:)-(MessagePayload,_,_)``.
    @discardableResult
    public func publish(
        _ text: String, to topic: String, customType: String = ""
    ) async throws(RTMError) -> PublishReceipt {
        try await publish(.text(text), to: topic, customType: customType)
    }

    /// Publishes bytes. See ``publish(_:to:customType:)-(MessagePayload,_,_)``.
    @discardableResult
    public func publish(
        _ data: Data, to topic: String, customType: String = ""
    ) async throws(RTMError) -> PublishReceipt {
        try await publish(.data(data), to: topic, customType: customType)
    }

    /// Subscribes to users of a topic, in addition to those who are subscribed already (C-9).
    ///
    /// Name those whom you wait for before they publish: from their `joinTopic` on every message of theirs is
    /// delivered, also the first (C-10). The topic needn't exist for that.
    ///
    /// - Parameter users: whose messages to deliver. None stands for up to 64 of those who publish the topic
    ///   now, chosen at random; who joins the topic later isn't added by itself (C-10).
    /// - Returns: which of the users publish the topic now, and which don't yet, with the topic's messages
    ///   from now on.
    /// - Throws: `.channelInvalidTopicName` (-11008), `.channelNotJoined` (-11001), `.channelTopicNotExist`
    ///   (-11017) if no users are named and nobody publishes the topic, `.channelExceedTopicUserLimitation`
    ///   (-11003) if 64 users of the topic are subscribed already, whether they publish it or not (L-29),
    ///   `.channelExceedTopicLimitation` (-11014) for more than 50 topics (L-28).
    @discardableResult
    public func subscribe(to topic: String, users: [String] = []) async throws(RTMError) -> TopicSubscription
    {
        let topic = try check(topic, .subscribeTopic)
        try client.check(.subscribeTopic) { () throws(RTMError) in
            for user in users where (try? NameRule.user.check(user.utf8)) == nil {
                throw RTMError(.channelInvalidUserList, "'\(user)' is no user id")
            }
        }
        let messages = client.messages(of: MessageSource(topic))
        let answer = try await client.perform(.subscribeTopic) { link, completion in
            link.streams.subscribe(to: topic, users: users, completion)
        }
        return TopicSubscription(answer: answer, messages: messages)
    }

    /// Ends the delivery of these publishers of a topic.
    ///
    /// - Parameter users: none stands for all.
    /// - Throws: `.channelInvalidTopicName` (-11008), `.channelTopicNotSubscribed` (-11013).
    public func unsubscribe(from topic: String, users: [String] = []) async throws(RTMError) {
        let topic = try check(topic, .unsubscribeTopic)
        try await client.perform(.unsubscribeTopic) { link, completion in
            link.streams.unsubscribe(from: topic, users: users, completion)
        }
    }

    /// The users of a topic who are subscribed, by user id. Those are among them who don't publish the topic
    /// yet, or no more.
    ///
    /// - Throws: `.channelInvalidTopicName` (-11008), `.channelNotJoined` (-11001),
    ///   `.channelTopicNotSubscribed` (-11013).
    public func subscribedUsers(of topic: String) async throws(RTMError) -> [String] {
        let topic = try check(topic, .getSubscribedUserList)
        return try await client.perform(.getSubscribedUserList) { link, completion in
            link.streams.subscribedUsers(of: topic, completion)
        }
    }

    private func check(_ topic: String, _ operation: Operation) throws(RTMError) -> TopicName {
        try client.check(operation) { () throws(RTMError) in try NameRule.topic.check(topic.utf8) }
        return TopicName(topic, in: name)
    }
}

/// A subscription of a topic: whose messages are delivered, and the topic's messages from there on.
///
/// What ``ChannelSubscription`` says of its sequence holds here, too. Each call of
/// ``StreamChannel/subscribe(to:users:)`` makes another sequence, which has the messages of all users of the
/// topic who are subscribed.
public struct TopicSubscription: AsyncSequence, Sendable {
    public typealias Element = ReceivedMessage
    public typealias Failure = Never

    let answer: TopicAnswer
    let messages: ChannelMessages

    /// The topic.
    public var topic: String { answer.topic }
    /// Who publishes the topic and is delivered.
    public var deliveredUsers: [String] { answer.deliveredUsers }
    /// Who doesn't publish the topic yet, or who exceeds the limit. The former stay subscribed, and are
    /// delivered as soon as they publish.
    public var undeliveredUsers: [String] { answer.undeliveredUsers }
    /// Whether anybody publishes the topic.
    package var exists: Bool { answer.exists }

    public func makeAsyncIterator() -> ChannelMessages.Iterator { messages.makeAsyncIterator() }
}

/// What a subscription of a topic came to.
struct TopicAnswer: Sendable {
    var topic: String
    var deliveredUsers: [String]
    var undeliveredUsers: [String]
    var exists: Bool
}
