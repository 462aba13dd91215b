import RTMClient

/// The messages that publishers had stored (`storeInHistory`). Got by ``AgoraRtmClientKit/getHistory()``.
public final class AgoraRtmHistory: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    /// One page of a channel's history, newest message first. No subscription is needed (H-12).
    ///
    /// The next, older page begins at the response's `newStart`, with the same `end`; 0 means that there is
    /// none.
    ///
    /// - Parameters:
    ///   - channelName: with `channelType` `.user` the own user id: what was sent to this user (H-2).
    ///   - options: nil means the newest 100.
    ///   - completionBlock: errors are -10008 or -10006 bad name, -10019 bad channel type, -10014 bad count,
    ///     -15002 `end` is after `start`, -15004 another user's messages, -15005 no history for this app,
    ///     -15003 no answer in time, -15001 otherwise, -10002 not logged in, -10025 not connected.
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
            return AgoraRtmGetHistoryMessagesResponse(page)
        }
    }
}
