public import Foundation
public import RTMModel

extension RTMClient {
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
        return try await perform(.publish) { link, completion in link.messages.publish(message, completion) }
    }
}
