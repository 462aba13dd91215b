public import Foundation
public import RTMModel

extension RTMClient {
    /// Starts the delivery of a message channel, or replaces the features of a running subscription (M-5).
    ///
    /// The subscription survives losses of the link: it is re-established with everything that was missed
    /// (S-19).
    ///
    /// What the server can't give at present doesn't refuse it: `unavailableFeatures` of the answer names
    /// that. Presence, metadata and locks then begin with a snapshot as soon as they are there (M-4, D-41,
    /// K-13).
    ///
    /// - Throws: -10008 bad name, -10002 not logged in, -10025 not connected, -10017 a `subscribe` of this
    ///   channel is under way (M-8), -11021 too many channels (L-24) or refused, -11019 no answer in time,
    ///   -11020 too often.
    @discardableResult
    public func subscribe(
        to channel: String, features: SubscriptionFeatures = .default
    ) async throws(RTMError) -> Subscription {
        try check(.subscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        return try await perform(.subscribe) { link, completion in
            link.subscribe(to: channel, features: features, completion)
        }
    }

    /// Ends the delivery of a channel. Works without a connection too: then the subscription isn't restored
    /// (S-16).
    ///
    /// - Throws: -10008 bad name, -10002 not logged in, -11002 not subscribed, -11022 no answer in time.
    public func unsubscribe(from channel: String) async throws(RTMError) {
        try check(.unsubscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        try await perform(.unsubscribe) { link, completion in link.unsubscribe(from: channel, completion) }
    }

    /// Publishes a text. It returns once the message has its place in the channel's log.
    ///
    /// When the connection is lost before the answer, the client asks again as soon as it is back, within the
    /// request timeout: the message is published exactly once, and the call returns its result. Only a server
    /// that has lost the channel's log meanwhile publishes it anew. At most 1,024 calls wait so.
    ///
    /// - Parameters:
    ///   - customType: a mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    ///   - storeInHistory: keep the message for later queries (M-27).
    /// - Throws: -11010 longer than 32 KiB, -10008 or -10006 bad name, -11029 or -11030 bad custom type,
    ///   -10002 not logged in, -11027 not connected, -11033 receiver offline, -11025 too often, -11026 no
    ///   answer in time, -11024 the session ended before the answer, or the server can't tell any more: then
    ///   it is not known whether the message was published.
    @discardableResult
    public func publish(
        _ text: String, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> PublishReceipt {
        try await publish(
            .text(text), to: destination, customType: customType, storeInHistory: storeInHistory)
    }

    /// Publishes bytes. See ``publish(_:to:customType:storeInHistory:)-(String,_,_,_)``.
    @discardableResult
    public func publish(
        _ data: Data, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> PublishReceipt {
        try await publish(
            .data(data), to: destination, customType: customType, storeInHistory: storeInHistory)
    }

    /// Publishes a text or bytes. See ``publish(_:to:customType:storeInHistory:)-(String,_,_,_)``.
    @discardableResult
    public func publish(
        _ payload: MessagePayload, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> PublishReceipt {
        let message = OutgoingMessage(
            payload: payload, destination: destination, customType: customType, storeInHistory: storeInHistory
        )
        try check(.publish, message.check)
        return try await perform(.publish) { link, completion in link.publish(message, completion) }
    }
}
