import NIOCore
import RTMModel
import RTMServiceKit

/// The recurring work: what isn't needed any more is removed.
extension StorageShard {
    /// Limit: messages removed in one write, so that no other write waits long behind it.
    private static let expiredMax = 500
    /// Limit: channels visited in one write. Each visit may read a page of the file, which then displaces
    /// another page in memory.
    private static let searchedMax = 100

    /// Removes expired messages and unused channels, so that the file stays as small as its content. The
    /// service calls it once a second.
    func cleanUp() {
        guard leadership.serves else { return }
        if bans.isToBeListed { listBans() }
        guard cleaningPace?.isDue() != false else { return }
        expireHistory()
        _ = queues.writes.put(StorageWrite(UnusedChannels(limit: Self.searchedMax)))
        if mayHaveEvents { removeEvents() }
    }

    /// Limit: events of an app that are removed in one write.
    static let eventsRemovedMax = 2_000

    func removeEvents() {
        let now = wallClock()
        let cutoffs = eventRetention.mapValues { now - min(now, $0) }
        _ = queues.writes.put(StorageWrite(ExpiredEvents(cutoffs: cutoffs, limit: Self.eventsRemovedMax)))
    }

    /// Asks for the removal of expired messages (H-11). Reads leave them out even before that.
    private func expireHistory() {
        _ = queues.writes.put(StorageWrite(ExpiredHistory(limit: Self.expiredMax)))
    }

    func expireHistory(after removed: Int) {
        metrics.historyExpired.increment(by: removed)
        // There are probably more. Writes that wait meanwhile come first.
        if removed == Self.expiredMax { expireHistory() }
    }
}
