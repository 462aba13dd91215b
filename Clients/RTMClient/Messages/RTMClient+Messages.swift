public import Foundation
public import RTMModel

extension RTMClient {
    /// Publishes a text. The call returns once the message is in the channel's log.
    ///
    /// When the connection is lost before the answer, the client asks again as soon as it is back, within the
    /// request timeout. The message is published exactly once, and the call returns its result. Only a server
    /// that has lost the channel's log meanwhile publishes it anew. At most 1,024 calls wait like that.
    ///
    /// - Parameters:
    ///   - customType: a mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    ///   - storeInHistory: whether the message is kept for later queries (M-27).
    ///   - id: the app's own name for this message, 1 to 255 visible ASCII characters, with which the call
    ///     may be repeated whatever became of it: also by another client of the user, or after a restart of
    ///     the app. The message is published once, and each repetition gets the receipt of the first one, as
    ///     long as the channel's log reaches back (M-42).
    /// - Throws: `.channelMessageLengthExceedLimitation` (-11010) if the message is longer than 32 KiB, or
    ///   with encryption than 32,722 bytes, `.channelEncryptMessageFailed` (-11023) if it can't be encrypted,
    ///   `.invalidChannelName` (-10008) or `.invalidUserId` (-10006) for a bad name,
    ///   `.channelCustomTypeLengthOverflow` (-11029) or `.channelInvalidCustomType` (-11030) for a bad custom
    ///   type, `.notLogin` (-10002) if not logged in, `.channelNotConnected` (-11027) if not connected,
    ///   `.channelReceiverOffline` (-11033) if the receiver is offline, `.channelPublishMessageTooFrequent`
    ///   (-11025) if called too often, `.channelPublishMessageTimeout` (-11026) without an answer in time,
    ///   `.channelPublishMessageFailed` (-11024) if the session ended before the answer or the server
    ///   doesn't know any more. In the last two cases it is unknown whether the message was published, and
    ///   `outcome` of the error says so.
    @discardableResult
    public func publish(
        _ text: String, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false, id: String? = nil
    ) async throws(RTMError) -> PublishReceipt {
        try await publish(
            .text(text), to: destination, customType: customType, storeInHistory: storeInHistory, id: id)
    }

    /// Publishes bytes. See ``publish(_:to:customType:storeInHistory:id:)-(String,_,_,_,_)``.
    @discardableResult
    public func publish(
        _ data: Data, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false, id: String? = nil
    ) async throws(RTMError) -> PublishReceipt {
        try await publish(
            .data(data), to: destination, customType: customType, storeInHistory: storeInHistory, id: id)
    }

    /// Publishes a text or bytes. See ``publish(_:to:customType:storeInHistory:id:)-(String,_,_,_,_)``.
    @discardableResult
    public func publish(
        _ payload: MessagePayload, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false, id: String? = nil
    ) async throws(RTMError) -> PublishReceipt {
        let message = OutgoingMessage(
            payload: payload, destination: destination, customType: customType,
            storeInHistory: storeInHistory, id: id)
        try check(.publish) { () throws(RTMError) in try message.check(configuration.contentSize) }
        return try await perform(.publish) { link, completion in link.messages.publish(message, completion) }
    }
}

/// Where a message goes.
public enum MessageDestination: Sendable, Hashable {
    /// Everybody who subscribed to this message channel. The publisher need not have subscribed (M-20).
    case channel(String)
    /// One user, who must be online (M-31).
    case user(String)
    /// Those who have subscribed to this user in a topic of a stream channel that is joined. The topic has
    /// to be joined, too (C-7).
    case topic(String, in: String)
}

/// The server's acknowledgement of one published message.
public struct PublishReceipt: Sendable, Hashable {
    /// The timestamp that receivers see, in milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64
    /// The message's offset in the channel's log.
    public var offset: UInt64

    /// Makes the value, as tests of apps do.
    public init(timestampMilliseconds: UInt64, offset: UInt64) {
        self.timestampMilliseconds = timestampMilliseconds
        self.offset = offset
    }
}

// Messages that carry a value of the app's own, as JSON.

extension RTMClient {
    /// Publishes a value as a text of JSON. ``RTMMessage/decoded(as:)`` makes the value of it again.
    ///
    /// - Throws: `.invalidParameter` (-10014) if the value can't be encoded, and what
    ///   ``publish(_:to:customType:storeInHistory:id:)-(String,_,_,_,_)`` throws.
    @discardableResult
    public func publish(
        json value: some Encodable, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false, id: String? = nil
    ) async throws(RTMError) -> PublishReceipt {
        let text: String
        do {
            text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        } catch {
            throw RTMError(.invalidParameter, "the value can't be encoded: \(error)")
                .with(operation: .publish)
        }
        return try await publish(
            text, to: destination, customType: customType, storeInHistory: storeInHistory, id: id)
    }
}
