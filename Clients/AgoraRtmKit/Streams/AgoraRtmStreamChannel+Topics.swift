import RTMClient
import RTMModel

extension AgoraRtmStreamChannel {
    /// Becomes a publisher of a topic. That subscribes to nothing (C-5).
    ///
    /// - Parameter completionBlock: gets `.channelInvalidTopicName` (-11008), `.channelInvalidTopicMeta`
    ///   (-11018), `.channelNotJoined` (-11001), `.duplicateOperation` (-10017) if the topic is joined
    ///   already, `.channelExceedTopicLimitation` (-11014) for more than 8 topics (L-27),
    ///   `.channelJoinTopicFailed` (-11015), `.channelNotConnected` (-11027).
    @preconcurrency
    public func joinTopic(
        _ topic: String, option: AgoraRtmJoinTopicOption?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("joinTopic", needs: .stream, completionBlock, joining(topic, option))
    }

    /// See ``joinTopic(_:option:completion:)``.
    @discardableResult
    public func joinTopic(
        _ topic: String, option: AgoraRtmJoinTopicOption?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("joinTopic", needs: .stream, joining(topic, option))
    }

    private func joining(_ topic: String, _ option: AgoraRtmJoinTopicOption?) -> AgoraRtmClientKit.Call<Void>
    {
        let meta = option?.meta ?? ""
        let priority = TopicPriority(option?.priority ?? .normal)
        return call { _, channel throws(RTMError) in
            try await channel.joinTopic(topic, meta: meta, priority: priority)
        }
    }

    /// Publishes the topic no more. Errors are `.channelInvalidTopicName` (-11008), `.channelNotJoined`
    /// (-11001) and `.channelTopicNotJoined` (-11016).
    @preconcurrency
    public func leaveTopic(_ topic: String, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        kit.begin("leaveTopic", needs: .stream, completionBlock, leavingTopic(topic))
    }

    /// See ``leaveTopic(_:completion:)``.
    @discardableResult
    public func leaveTopic(_ topic: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("leaveTopic", needs: .stream, leavingTopic(topic))
    }

    private func leavingTopic(_ topic: String) -> AgoraRtmClientKit.Call<Void> {
        call { _, channel throws(RTMError) in try await channel.leaveTopic(topic) }
    }

    // MARK: Publishing

    /// Publishes a text to a topic that was joined. Those get it who have subscribed to this user in this
    /// topic (C-7, C-8).
    ///
    /// - Parameter completionBlock: gets `.channelMessageLengthExceedLimitation` (-11010) above 1 KB (L-21),
    ///   `.channelNotJoined` (-11001), `.channelTopicNotJoined` (-11016), `.channelInvalidTopicName`
    ///   (-11008), and what a publish to a channel gets.
    @preconcurrency
    public func publishTopicMessage(
        topic: String, message: String, option: AgoraRtmTopicMessageOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "publishTopicMessage", needs: .stream, completionBlock, publishing(.text(message), topic, option))
    }

    /// See ``publishTopicMessage(topic:message:option:completion:)``.
    @discardableResult
    public func publishTopicMessage(
        topic: String, message: String, option: AgoraRtmTopicMessageOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "publishTopicMessage", needs: .stream, publishing(.text(message), topic, option))
    }

    /// Publishes bytes. See ``publishTopicMessage(topic:message:option:completion:)``.
    @preconcurrency
    public func publishTopicMessage(
        topic: String, data: Data, option: AgoraRtmTopicMessageOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "publishTopicMessage", needs: .stream, completionBlock, publishing(.data(data), topic, option))
    }

    /// See ``publishTopicMessage(topic:data:option:completion:)``.
    @discardableResult
    public func publishTopicMessage(
        topic: String, data: Data, option: AgoraRtmTopicMessageOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("publishTopicMessage", needs: .stream, publishing(.data(data), topic, option))
    }

    private func publishing(
        _ payload: MessagePayload, _ topic: String, _ option: AgoraRtmTopicMessageOptions?
    ) -> AgoraRtmClientKit.Call<Void> {
        let customType = option?.customType ?? ""
        return call { _, channel throws(RTMError) in
            try await channel.publish(payload, to: topic, customType: customType)
        }
    }

    // MARK: Subscribing

    /// Subscribes to users of a topic, in addition to those who are subscribed already (C-9). Named users
    /// stay subscribed also if they don't publish the topic yet: every message of theirs is delivered from
    /// their `joinTopic` on (C-10).
    ///
    /// - Parameters:
    ///   - option: nil, or without users: up to 64 of those who publish the topic now, chosen at random.
    ///   - completionBlock: gets `.channelTopicNotExist` (-11017) if nobody publishes the topic; users who
    ///     are named stay subscribed nevertheless. Other errors are `.channelExceedTopicUserLimitation`
    ///     (-11003) if 64 users of the topic are subscribed already (L-29), `.channelExceedTopicLimitation`
    ///     (-11014) for more than 50 topics (L-28), `.channelInvalidUserList` (-11011),
    ///     `.channelInvalidTopicName` (-11008), `.channelNotJoined` (-11001), `.channelNotConnected`
    ///     (-11027).
    @preconcurrency
    public func subscribeTopic(
        _ topic: String, option: AgoraRtmTopicOption?,
        completion completionBlock: AgoraRtmTopicSubscriptionBlock? = nil
    ) {
        kit.begin("subscribeTopic", needs: .stream, completionBlock, subscribing(topic, option))
    }

    /// See ``subscribeTopic(_:option:completion:)``.
    @discardableResult
    public func subscribeTopic(
        _ topic: String, option: AgoraRtmTopicOption?
    ) async -> (AgoraRtmTopicSubscriptionResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("subscribeTopic", needs: .stream, subscribing(topic, option))
    }

    private func subscribing(
        _ topic: String, _ option: AgoraRtmTopicOption?
    ) -> AgoraRtmClientKit.Call<AgoraRtmTopicSubscriptionResponse> {
        let users = option?.users ?? []
        return call { _, channel throws(RTMError) in
            let answer = try await channel.subscribe(to: topic, users: users)
            // The vendor's error for this is documented, so an app may wait for it. The server delivers
            // these users nevertheless as soon as they publish.
            guard answer.exists else {
                throw RTMError(.channelTopicNotExist, "nobody publishes topic '\(topic)' yet")
            }
            return AgoraRtmTopicSubscriptionResponse(answer)
        }
    }

    /// Ends the delivery of these publishers of a topic, or of the whole topic. Errors are
    /// `.channelTopicNotSubscribed` (-11013), `.channelInvalidTopicName` (-11008), `.channelNotConnected`
    /// (-11027).
    @preconcurrency
    public func unsubscribeTopic(
        _ topic: String, option: AgoraRtmTopicOption?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("unsubscribeTopic", needs: .stream, completionBlock, unsubscribing(topic, option))
    }

    /// See ``unsubscribeTopic(_:option:completion:)``.
    @discardableResult
    public func unsubscribeTopic(
        _ topic: String, option: AgoraRtmTopicOption?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("unsubscribeTopic", needs: .stream, unsubscribing(topic, option))
    }

    private func unsubscribing(
        _ topic: String, _ option: AgoraRtmTopicOption?
    ) -> AgoraRtmClientKit.Call<Void> {
        let users = option?.users ?? []
        return call { _, channel throws(RTMError) in
            try await channel.unsubscribe(from: topic, users: users)
        }
    }

    /// The users of a topic who are subscribed, whether they publish it or not. Errors are
    /// `.channelTopicNotSubscribed` (-11013), `.channelNotJoined` (-11001), `.channelInvalidTopicName`
    /// (-11008).
    @preconcurrency
    public func getSubscribedUserList(
        _ topic: String, completion completionBlock: AgoraRtmGetTopicSubscribedUsersBlock? = nil
    ) {
        kit.begin("getSubscribedUserList", needs: .stream, completionBlock, users(of: topic))
    }

    /// See ``getSubscribedUserList(_:completion:)``.
    @discardableResult
    public func getSubscribedUserList(
        _ topic: String
    ) async -> (AgoraRtmGetTopicSubscribedUsersResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getSubscribedUserList", needs: .stream, users(of: topic))
    }

    private func users(
        of topic: String
    ) -> AgoraRtmClientKit.Call<AgoraRtmGetTopicSubscribedUsersResponse> {
        call { _, channel throws(RTMError) in
            AgoraRtmGetTopicSubscribedUsersResponse(try await channel.subscribedUsers(of: topic))
        }
    }
}

extension TopicPriority {
    fileprivate init(_ priority: AgoraRtmMessagePriority) {
        self =
            switch priority {
            case .highest: .highest
            case .high: .high
            case .normal: .normal
            case .low: .low
            }
    }
}
