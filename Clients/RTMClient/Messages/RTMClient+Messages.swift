public import Foundation
public import RTMModel

extension RTMClient {
    /// Publishes a text. The call returns once the message has its place in the channel's log.
    ///
    /// When the connection is lost before the answer, the client asks again as soon as it is back, within the
    /// request timeout. The message is published exactly once, and the call returns its result. Only a server
    /// that has lost the channel's log meanwhile publishes it anew. At most 1,024 calls wait like that.
    ///
    /// - Parameters:
    ///   - customType: a mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    ///   - storeInHistory: whether the message is kept for later queries (M-27).
    /// - Throws: `.channelMessageLengthExceedLimitation` (-11010) if the message is longer than 32 KiB, or
    ///   with encryption than 32,722 bytes, `.channelEncryptMessageFailed` (-11023) if it can't be encrypted,
    ///   `.invalidChannelName` (-10008) or `.invalidUserId` (-10006) for a bad name,
    ///   `.channelCustomTypeLengthOverflow` (-11029) or `.channelInvalidCustomType` (-11030) for a bad custom
    ///   type, `.notLogin` (-10002) if not logged in, `.channelNotConnected` (-11027) if not connected,
    ///   `.channelReceiverOffline` (-11033) if the receiver is offline, `.channelPublishMessageTooFrequent`
    ///   (-11025) if called too often, `.channelPublishMessageTimeout` (-11026) without an answer in time,
    ///   `.channelPublishMessageFailed` (-11024) if the session ended before the answer or the server can't
    ///   tell any more. In the last two cases nobody knows whether the message was published.
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
        try check(.publish) { () throws(RTMError) in try message.check(configuration.contentSize) }
        return try await perform(.publish) { link, completion in link.messages.publish(message, completion) }
    }
}
