import RTMClient
import RTMModel

extension AgoraRtmClientKit {
    /// Starts the delivery of a message channel, or replaces the features of a running subscription (M-5).
    ///
    /// - Parameters:
    ///   - subscribeOption: nil means messages and presence.
    ///   - completionBlock: errors are -10008 bad name, -10002 not logged in, -10025 not connected, -10017 a
    ///     `subscribe` of this channel is under way, -11021 too many channels or refused, -11019 no answer in
    ///     time, -11020 too often; -11032 presence was asked for and isn't ready (M-4): then the channel is
    ///     subscribed all the same, and presence begins with a snapshot as soon as it is there.
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

    /// Ends the delivery of a channel. Works without a connection too: then the subscription isn't restored
    /// (S-16).
    ///
    /// Errors are -10008 bad name, -10002 not logged in, -11002 not subscribed, -11022 no answer in time.
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

    // The options are read here, in the caller's thread: the app may change its object as soon as the call
    // returns.

    private static func subscribe(_ channelName: String, _ option: AgoraRtmSubscribeOptions?) -> Call<Void> {
        let features = option?.features.subscriptionFeatures ?? .default
        return { client throws(RTMError) in
            let subscription = try await client.subscribe(to: channelName, features: features)
            guard subscription.unavailableFeatures.contains(.presence) else { return }
            throw RTMError(
                .channelPresenceNotReady,
                "the channel is subscribed, but presence can't say yet who is there", operation: "subscribe")
        }
    }

    private static func unsubscribe(_ channelName: String) -> Call<Void> {
        { client in try await client.unsubscribe(from: channelName) }
    }
}

extension AgoraRtmClientKit {
    /// Publishes a text to everybody who subscribed to a channel, or to one user. The publisher need not have
    /// subscribed and doesn't receive its own message (M-20, M-21).
    ///
    /// - Parameters:
    ///   - channelName: with `channelType` `.user` the receiver's user id.
    ///   - publishOption: nil means a message channel, no custom type and no history.
    ///   - completionBlock: errors are -11010 longer than 32 KB, -10008 or -10006 bad name, -10019 bad
    ///     channel type, -11029 or -11030 bad custom type, -10002 not logged in, -11027 not connected, -11033
    ///     receiver offline, -11025 too often, -11026 no answer in time, -11024 connection lost: then it is
    ///     not known whether it was published.
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
