public import Foundation
public import RTMModel
import RTMProtocol

extension RTMClient {
    /// Reads one page of the messages that publishers had stored (`storeInHistory`), from newer to older
    /// (H-3…H-8).
    ///
    /// - Parameters:
    ///   - source: a message channel, or the client's own user, which means the messages that were sent to it
    ///     (H-2). No subscription is needed.
    ///   - start: the newer bound in milliseconds since 1970, exclusive without `end` and inclusive with it.
    ///     `nil` means from now on.
    ///   - end: the older bound, inclusive. `nil` means to the oldest message that is still kept.
    ///   - count: the most messages that the page may have, 1…100.
    /// - Returns: the newest messages within the bounds. Pass `nextStart` to the next call as `start`, with
    ///   the same `end`; then nothing is lost and nothing comes twice.
    /// - Throws: `.invalidChannelName` (-10008) or `.invalidUserId` (-10006) for a bad name,
    ///   `.invalidParameter` (-10014) for a bad count, `.historyInvalidTimestamp` (-15002) if `end` is after
    ///   `start`, `.historyOperationNotPermitted` (-15004) for the inbox of another user,
    ///   `.historyNotAvailable` (-15005) if the app has no history, `.historyPermissionDenied` (-15006)
    ///   without permission, `.historyOperationTimeout` (-15003) without an answer in time,
    ///   `.historyOperationFailed` (-15001) for other failures, `.notLogin` (-10002) if not logged in,
    ///   `.notConnected` (-10025) if not connected, `.operationRateExceedLimitation` (-10021) if called too
    ///   often.
    public func history(
        of source: MessageDestination, start: UInt64? = nil, end: UInt64? = nil,
        count: Int = Limits.historyPage.upperBound
    ) async throws(RTMError) -> HistoryPage {
        try await history(HistoryQuery(source: source, start: start, end: end, count: count))
    }

    /// All messages within the bounds, newest first. They are fetched as they are read. See
    /// ``history(of:start:end:count:)``, whose errors the iteration throws.
    ///
    /// - Parameter pageSize: how many are fetched at a time, 1…100.
    public func historyMessages(
        of source: MessageDestination, start: UInt64? = nil, end: UInt64? = nil,
        pageSize: Int = Limits.historyPage.upperBound
    ) -> HistoryMessages {
        HistoryMessages(
            client: self, query: HistoryQuery(source: source, start: start, end: end, count: pageSize))
    }

    /// All messages since a time, newest first. They are fetched as they are read. See
    /// ``history(of:start:end:count:)``, whose errors the iteration throws.
    ///
    /// - Parameters:
    ///   - since: the older bound, inclusive.
    ///   - before: the newer bound, exclusive (H-4). `nil` means from now on. If it isn't after `since`, the
    ///     iteration throws `.historyInvalidTimestamp` (-15002) (H-5).
    ///   - pageSize: how many are fetched at a time, 1…100.
    public func historyMessages(
        of source: MessageDestination, since: Date, before: Date? = nil,
        pageSize: Int = Limits.historyPage.upperBound
    ) -> HistoryMessages {
        // With an older bound the server takes the newer one as inclusive (H-4).
        let start = before.map { max(1, $0.firstMillisecond) - 1 }
        return historyMessages(
            of: source, start: start.map { max(1, $0) }, end: since.firstMillisecond, pageSize: pageSize)
    }

    func history(_ query: HistoryQuery) async throws(RTMError) -> HistoryPage {
        try check(.getMessages, query.check)
        return try await perform(.getMessages) { link, completion in
            link.requests.call(completion, .getHistory(query.request)) { [unowned link] body in
                guard case .historyPage(let answer) = body else { return nil }
                let page = HistoryPage(answer)
                return link.encryption?.open(page, of: query.source) ?? page
            }
        }
    }
}
