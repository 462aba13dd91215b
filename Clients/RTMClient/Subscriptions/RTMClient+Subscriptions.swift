public import RTMModel

extension RTMClient {
    /// Starts the delivery of a message channel, or replaces the features of a running subscription (M-5).
    ///
    /// The subscription survives losses of the link. It is re-established with everything that was missed
    /// (S-19).
    ///
    /// The subscription also begins if the server can't give a feature at present, which
    /// `unavailableFeatures` of the answer then names. Presence, metadata and locks begin with a snapshot as
    /// soon as they are there (M-4, D-41, K-13).
    ///
    /// ```swift
    /// for await received in try await client.subscribe(to: "lobby") {
    ///     switch received {
    ///     case .message(let message): print(message.publisher, message.text ?? "bytes")
    ///     case .missing: print("messages are missing here")
    ///     }
    /// }
    /// ```
    ///
    /// - Returns: the channel's messages, of which none is missed: the sequence begins before the request is
    ///   sent (M-4). An app that reads ``events(buffering:)`` doesn't need it.
    /// - Throws: `.invalidChannelName` (-10008) for a bad name, `.notLogin` (-10002) if not logged in,
    ///   `.notConnected` (-10025) if not connected, `.duplicateOperation` (-10017) if a `subscribe` of this
    ///   channel is under way (M-8), `.channelSubscribeFailed` (-11021) if there are too many channels (L-24)
    ///   or the server refuses, `.channelSubscribeTimeout` (-11019) without an answer in time,
    ///   `.channelSubscribeTooFrequent` (-11020) if called too often.
    @discardableResult
    public func subscribe(
        to channel: String, features: SubscriptionFeatures = .default
    ) async throws(RTMError) -> ChannelSubscription {
        try check(.subscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        // The sequence comes first: a message may arrive together with the answer.
        let messages = messages(in: channel)
        let answer = try await perform(.subscribe, of: .channel(.message(channel))) { link, completion in
            link.subscriptions.subscribe(to: .message(channel), features: features, completion)
        }
        return ChannelSubscription(answer: answer, messages: messages)
    }

    /// Ends the delivery of a channel. This works without a connection too: then the subscription isn't
    /// restored (S-16).
    ///
    /// - Throws: `.invalidChannelName` (-10008) for a bad name, `.notLogin` (-10002) if not logged in,
    ///   `.channelNotSubscribed` (-11002) if not subscribed, `.channelUnsubscribeFailed` (-11022) without an
    ///   answer in time.
    public func unsubscribe(from channel: String) async throws(RTMError) {
        try check(.unsubscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        try await perform(.unsubscribe, of: .channel(.message(channel))) { link, completion in
            link.subscriptions.unsubscribe(from: .message(channel), completion)
        }
    }
}

/// A subscription of a channel: what the server has answered, and the channel's messages from there on.
///
/// The sequence has every message after ``position``, and in its place whatever is missing, as
/// ``RTMClient/messages(in:type:)`` says. One task should iterate it, because two tasks share its messages
/// between them. Leaving the loop, or dropping the value, doesn't unsubscribe: the channel is subscribed
/// until ``RTMClient/unsubscribe(from:)``, a logout or `close()`. Whoever keeps the value without reading it
/// keeps the messages, too, as many as `eventBufferCapacity` says. The sequence doesn't end with the
/// subscription, and continues when the channel is subscribed again.
public struct ChannelSubscription: AsyncSequence, Sendable {
    public typealias Element = ReceivedMessage
    public typealias Failure = Never

    let answer: SubscriptionConfirmation
    let messages: ChannelMessages

    /// The channel that is subscribed.
    public var channelName: String { answer.channelName }
    /// Every message after this position is delivered.
    public var position: StreamPosition { answer.position }
    /// The features that the app asked for.
    public var features: SubscriptionFeatures { answer.features }
    /// The features that the server can't give at present.
    public var unavailableFeatures: SubscriptionFeatures { answer.unavailableFeatures }

    public func makeAsyncIterator() -> ChannelMessages.Iterator { messages.makeAsyncIterator() }
}

/// The server's acknowledgement of one subscription.
struct SubscriptionConfirmation: Sendable {
    var channelName: String
    var position: StreamPosition
    var features: SubscriptionFeatures
    var unavailableFeatures: SubscriptionFeatures
}
