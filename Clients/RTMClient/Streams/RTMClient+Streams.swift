public import RTMModel

extension RTMClient {
    /// Joins a stream channel. The membership survives losses of the link; `leave` of the handle ends it.
    ///
    /// - Parameters:
    ///   - token: a token with an rtc service for this channel and user. `nil` serves apps without
    ///     certificate.
    ///   - features: what else is delivered: presence, metadata, locks; and whether the join is quiet. Who
    ///     publishes which topics is always delivered (C-12).
    /// - Throws: `.invalidChannelName` (-10008) for a bad name, `.duplicateOperation` (-10017) if the
    ///   channel is joined, `.channelJoinCanceled` (-11034) if a newer join or a leave has replaced this
    ///   one, `.invalidToken` (-10005), `.tokenExpired` (-10009), `.loginInconsistentAppId` (-10016) for a
    ///   bad token, `.channelJoinFailed` (-11007) for a token that is for something else, for too many
    ///   channels (L-25) or users (L-26), or without an answer in time; `.notLogin` (-10002) if not logged
    ///   in, `.notConnected` (-10025) if not connected.
    public func join(
        _ channel: String, token: String? = nil, features: SubscriptionFeatures = .presence
    ) async throws(RTMError) -> StreamChannel {
        try check(.join) { () throws(RTMError) in
            try NameRule.channel.check(channel.utf8)
            if let token { try Credential.check(token) }
        }
        let membership = try await perform(.join, of: .channel(.stream(channel))) { link, completion in
            link.streams.join(
                channel, token: token ?? "", features: features.subtracting(.message), completion)
        }
        var handle = streamChannel(channel)
        do {
            let topics = try await perform(.join) { link, completion in
                link.streams.followTopics(of: channel, completion)
            }
            handle.unavailableFeatures = membership.unavailableFeatures.union(
                topics.unavailableFeatures.intersection(.presence))
        } catch {
            // A join without topics would be half a join.
            try? await handle.leave()
            throw error
        }
        return handle
    }

    /// The handle of a stream channel that was joined, or will be.
    public func streamChannel(_ name: String) -> StreamChannel { StreamChannel(client: self, name: name) }

    /// Joins a stream channel for as long as `body` runs, and leaves it on every path.
    public func withStreamChannel<Value>(
        _ channel: String, token: String? = nil, features: SubscriptionFeatures = .presence,
        _ body: (StreamChannel) async throws -> Value
    ) async throws -> Value {
        let handle = try await join(channel, token: token, features: features)
        do {
            let value = try await body(handle)
            try? await handle.leave()
            return value
        } catch {
            try? await handle.leave()
            throw error
        }
    }
}
