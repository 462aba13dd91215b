public import RTMModel
import RTMProtocol

extension RTMClient {
    /// One page of what publishers had stored (`storeInHistory`), walking from newer to older (H-3…H-8).
    ///
    /// - Parameters:
    ///   - source: a message channel, or the inbox of the client's own user: what was sent to it (H-2). No
    ///     subscription is needed.
    ///   - start: the newer bound: milliseconds since 1970, exclusive without `end` and inclusive with it.
    ///     Nil: from now.
    ///   - end: the older bound, inclusive. Nil: to the oldest that is still kept.
    ///   - count: 1…100 messages at most.
    /// - Returns: the newest messages within the bounds. `nextStart` goes into the next call as `start`, with
    ///   the same `end`: so nothing is lost and nothing comes twice.
    /// - Throws: -10008 or -10006 bad name, -10014 bad count, -15002 `end` is after `start`, -15004 the inbox
    ///   of another user, -15005 no history for this app, -15006 no permission, -15003 no answer in time,
    ///   -15001 otherwise, -10002 not logged in, -10025 not connected, -10021 too often.
    public func history(
        of source: MessageDestination, start: UInt64? = nil, end: UInt64? = nil,
        count: Int = Limits.historyPage.upperBound
    ) async throws(RTMError) -> HistoryPage {
        try await history(HistoryQuery(source: source, start: start, end: end, count: count))
    }

    /// All messages within the bounds, newest first, fetched as they are read. See
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

    func history(_ query: HistoryQuery) async throws(RTMError) -> HistoryPage {
        try check(.getMessages, query.check)
        return try await call(.getMessages, .getHistory(query.request)) { body in
            guard case .historyPage(let page) = body else { return nil }
            return HistoryPage(page)
        }
    }
}
