import RTMClient
import RTMModel

extension AgoraRtmClientKit {
    /// Starts the delivery of a message channel, or replaces the features of a running subscription (M-5).
    ///
    /// - Parameters:
    ///   - subscribeOption: nil means messages and presence.
    ///   - completionBlock: gets `.invalidChannelName` (-10008), `.notLogin` (-10002), `.notConnected`
    ///     (-10025), `.duplicateOperation` (-10017) if a `subscribe` of this channel is under way,
    ///     `.channelSubscribeFailed` (-11021) for too many channels or a refusal, `.channelSubscribeTimeout`
    ///     (-11019), `.channelSubscribeTooFrequent` (-11020), or `.channelPresenceNotReady` (-11032) if
    ///     presence was asked for and isn't ready (M-4). After -11032 the channel is subscribed all the same,
    ///     and presence begins with a snapshot as soon as it is available.
    @preconcurrency
    public func subscribe(
        channelName: String, option subscribeOption: AgoraRtmSubscribeOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        begin("subscribe", needs: .message, completionBlock, Self.subscribe(channelName, subscribeOption))
    }

    /// See ``subscribe(channelName:option:completion:)``.
    @discardableResult
    public func subscribe(
        channelName: String, option subscribeOption: AgoraRtmSubscribeOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("subscribe", needs: .message, Self.subscribe(channelName, subscribeOption))
    }

    /// Ends the delivery of a channel. This works without a connection, too; the subscription is then not
    /// restored (S-16).
    ///
    /// Errors are `.invalidChannelName` (-10008), `.notLogin` (-10002), `.channelNotSubscribed` (-11002) and
    /// `.channelUnsubscribeFailed` (-11022) if there is no answer in time.
    @preconcurrency
    public func unsubscribe(_ channelName: String, completion completionBlock: AgoraRtmOperationBlock? = nil)
    {
        begin("unsubscribe", needs: .message, completionBlock, Self.unsubscribe(channelName))
    }

    /// See ``unsubscribe(_:completion:)``.
    @discardableResult
    public func unsubscribe(_ channelName: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("unsubscribe", needs: .message, Self.unsubscribe(channelName))
    }

    // The options are read here, in the caller's thread, because the app may change its object as soon as the
    // call returns.

    private static func subscribe(_ channelName: String, _ option: AgoraRtmSubscribeOptions?) -> Call<Void> {
        let features = option?.features.subscriptionFeatures ?? .default
        return { client throws(RTMError) in
            let subscription = try await client.subscribe(to: channelName, features: features)
            guard subscription.unavailableFeatures.contains(.presence) else { return }
            throw RTMError(
                .channelPresenceNotReady,
                "the channel is subscribed, but the presence snapshot is not available yet",
                operation: "subscribe")
        }
    }

    private static func unsubscribe(_ channelName: String) -> Call<Void> {
        { client in try await client.unsubscribe(from: channelName) }
    }
}

extension AgoraRtmClientKit {
    /// Publishes a text to all subscribers of a channel, or to one user. The publisher need not be subscribed
    /// (M-20) and doesn't receive its own message (M-21).
    ///
    /// - Parameters:
    ///   - channelName: the channel. With `channelType` `.user` it is the receiver's user id.
    ///   - publishOption: nil means a message channel, no custom type and no history.
    ///   - completionBlock: gets `.channelMessageLengthExceedLimitation` (-11010) for more than 32 KB (46
    ///     bytes less with encryption), `.channelEncryptMessageFailed` (-11023), `.invalidChannelName`
    ///     (-10008), `.invalidUserId` (-10006), `.invalidChannelType` (-10019),
    ///     `.channelCustomTypeLengthOverflow` (-11029), `.channelInvalidCustomType` (-11030), `.notLogin`
    ///     (-10002), `.channelNotConnected` (-11027), `.channelReceiverOffline` (-11033),
    ///     `.channelPublishMessageTooFrequent` (-11025), `.channelPublishMessageTimeout` (-11026), or
    ///     `.channelPublishMessageFailed` (-11024) if the connection was lost: then it is not known whether
    ///     the message was published.
    @preconcurrency
    public func publish(
        channelName: String, message: String, option publishOption: AgoraRtmPublishOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        begin(
            "publish", needs: .message, completionBlock,
            Self.publish(.text(message), channelName, publishOption))
    }

    /// See ``publish(channelName:message:option:completion:)``.
    @discardableResult
    public func publish(
        channelName: String, message: String, option publishOption: AgoraRtmPublishOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("publish", needs: .message, Self.publish(.text(message), channelName, publishOption))
    }

    /// Publishes bytes. See ``publish(channelName:message:option:completion:)``.
    @preconcurrency
    public func publish(
        channelName: String, data: Data, option publishOption: AgoraRtmPublishOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        begin(
            "publish", needs: .message, completionBlock, Self.publish(.data(data), channelName, publishOption)
        )
    }

    /// See ``publish(channelName:data:option:completion:)``.
    @discardableResult
    public func publish(
        channelName: String, data: Data, option publishOption: AgoraRtmPublishOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("publish", needs: .message, Self.publish(.data(data), channelName, publishOption))
    }

    private static func publish(
        _ payload: MessagePayload, _ channelName: String, _ option: AgoraRtmPublishOptions?
    ) -> Call<Void> {
        let channelType = option?.channelType ?? .message
        let customType = option?.customType ?? ""
        let storeInHistory = option?.storeInHistory ?? false
        return { client in
            try await client.publish(
                payload, to: channelType.destination(named: channelName), customType: customType,
                storeInHistory: storeInHistory)
        }
    }
}
