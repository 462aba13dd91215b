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

/// What messaging has sent of an app becomes events.
extension CollectedFeed: StorageChange {
    private var feed: EventLogs.FeedKey { .init(appID: appID, shard: shard) }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        keys.eventApps.insert(appID)
        self.keys(&keys.eventKeys, &keys.eventMembers)
    }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        let isKept = transaction.group.collect(self, now: transaction.now.wall)
        transaction.outcome.collected.append((feed, isKept))
        return nil
    }

    func failed(_ transaction: inout StorageTransaction) {
        transaction.outcome.collected.append((feed, false))
    }
}

/// Everything of the app that happened until then was collected, so what is due by then is announced.
struct EventSettlement: StorageChange {
    let appID: String
    let time: UInt64

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        keys.eventApps.insert(appID)
        keys.settled[appID] = time
    }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.group.settle(appID, upTo: time)
        return nil
    }
}

/// Messaging has acknowledged the events with these sequences.
struct OutboxAcknowledgement: StorageChange {
    let sequences: [ClosedRange<UInt64>]
    /// In which they were read; nil where there are no terms. What was read in another term counts no more: a
    /// database that has lost events gives their numbers to new ones.
    let term: UInt64?

    init(of sequences: [ClosedRange<UInt64>], term: UInt64? = nil) {
        (self.sequences, self.term) = (sequences, term)
    }

    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        if transaction.isPresent(term) { transaction.group.announced(sequences) }
        return nil
    }

    func failed(_ transaction: inout StorageTransaction) {
        if transaction.isPresent(term) { transaction.outcome.notAnnounced += sequences }
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
