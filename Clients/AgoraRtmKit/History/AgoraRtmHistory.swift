import Logging
import RTMClient

/// Reads the messages that were published with `storeInHistory`. ``AgoraRtmClientKit/getHistory()`` returns
/// it.
public final class AgoraRtmHistory: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    /// Reads one page of a channel's history, newest message first. No subscription is needed (H-12).
    ///
    /// The next, older page begins at the response's `newStart`, with the same `end`. If `newStart` is 0,
    /// there is no older page.
    ///
    /// - Parameters:
    ///   - channelName: the channel. With `channelType` `.user` it is the user's own id: the messages that
    ///     were sent to this user (H-2).
    ///   - options: nil means the newest 100 messages.
    ///   - completionBlock: gets `.invalidChannelName` (-10008), `.invalidUserId` (-10006),
    ///     `.invalidChannelType` (-10019), `.invalidParameter` (-10014) for a bad count,
    ///     `.historyInvalidTimestamp` (-15002) if `end` is after `start`, `.historyOperationNotPermitted`
    ///     (-15004) for another user's messages, `.historyNotAvailable` (-15005) if the app has no history,
    ///     `.historyOperationTimeout` (-15003), `.historyOperationFailed` (-15001), `.notLogin` (-10002),
    ///     `.notConnected` (-10025).
    @preconcurrency
    public func getMessages(
        channelName: String, channelType: AgoraRtmChannelType,
        options: AgoraRtmGetHistoryMessagesOptions?,
        completion completionBlock: AgoraRtmGetHistoryMessagesBlock? = nil
    ) {
        kit.begin(
            "getMessages", needs: .message, completionBlock, Self.query(channelName, channelType, options)
        )
    }

    /// See ``getMessages(channelName:channelType:options:completion:)``.
    @discardableResult
    public func getMessages(
        channelName: String, channelType: AgoraRtmChannelType,
        options: AgoraRtmGetHistoryMessagesOptions?
    ) async -> (AgoraRtmGetHistoryMessagesResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getMessages", needs: .message, Self.query(channelName, channelType, options))
    }

    private static func query(
        _ channelName: String, _ channelType: AgoraRtmChannelType,
        _ options: AgoraRtmGetHistoryMessagesOptions?
    ) -> AgoraRtmClientKit.Call<AgoraRtmGetHistoryMessagesResponse> {
        let count = Int(options?.messageCount ?? 100)
        let start = options?.start ?? 0
        let end = options?.end ?? 0
        return { client in
            let page = try await client.history(
                of: channelType.history(of: channelName), start: start > 0 ? start : nil,
                end: end > 0 ? end : nil, count: count)
            for message in page.messages { log(message, of: channelName, to: client.configuration.logger) }
            return AgoraRtmGetHistoryMessagesResponse(page)
        }
    }

    /// A message that can't be decrypted is empty, and the log says why (H-13).
    private static func log(_ message: HistoryMessage, of channelName: String, to logger: Logger) {
        guard let failure = message.decryptionFailure else { return }
        logger.error(
            "a stored message could not be decrypted",
            metadata: [
                "channel": "\(channelName)", "publisher": "\(message.publisher)",
                "reason": "\(failure.reason)", "key": "\(failure.keyID?.description ?? "")",
            ])
    }
}
