import RTMModel
import RTMWire

extension EventsResponse {
    /// Limit: events of a page.
    static let countMax = 1_000
}

/// Asks for a page of an app's events.
extension EventsRequest: StorageQuery {
    private var countMax: Int { min(max(1, Int(limit)), EventsResponse.countMax) }

    var answerBytesMax: Int {
        min(max(1, Int(limit)) * EventPage.itemBytesMax, EventPage.bytesMax + EventPage.itemBytesMax)
    }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> EventsResponse {
        try store.eventPage(self, limit: countMax)
    }
}

/// How far the feeds of an app were read, for the collector.
struct EventFeedsQuery: StorageQuery {
    let appID: String
    var answerBytesMax: Int { 0 }

    func answer(
        from store: some ReadableStore, now: UInt64
    ) throws(StoreFailure) -> [EventLogs.FeedKey: EventLogs.FeedMark] {
        try store.eventFeeds(of: appID)
    }
}

/// The events that wait for messaging behind a sequence, for the outbox.
struct OutboxQuery: StorageQuery {
    let after: UInt64
    let limit: Int
    var appID: String { "" }
    var answerBytesMax: Int { 0 }

    func answer(
        from store: some ReadableStore, now: UInt64
    ) throws(StoreFailure) -> [StorageOutboxEvent] {
        try store.events(after: after, limit: limit)
    }
}
