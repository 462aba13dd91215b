package import RTMModel
import RTMServiceLink
import RTMWire

/// Stores a message (H-1).
extension StoredMessage: StorageChange {
    static let failureCode = ErrorCode.historyOperationFailed

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        guard keys.historyBytesMax != nil else { return }
        keys.apps.insert(channel.appID)
        keys.messages.append(self)
    }

    func apply(
        _ transaction: inout StorageTransaction
    ) throws(StoreFailure) -> Result<NoContent, RTMError>? {
        let quotas = transaction.rules.quotas
        if quotas.historyBytes != nil {
            let usage = try transaction.group.usage(of: channel.appID)
            if let refusal = usage.refusal(ofHistory: bytes, quotas), !transaction.group.has(self) {
                return .failure(refusal)
            }
        }
        transaction.group.append(self, countsBytes: quotas.historyBytes != nil)
        transaction.outcome.historyStored += 1
        return .success(NoContent())
    }
}

/// The removal of a channel's stored messages, some at a time, so that no other write waits long.
package struct HistoryPurge: Sendable, Hashable {
    package let channel: ChannelKey
    /// Those that are older, in milliseconds; 0 means all.
    let before: UInt64
    /// How many are removed in one write.
    package let limit: Int
    /// How many earlier writes have removed.
    private(set) var removed = 0

    /// Those that are older, by the number of the time; 0 means all.
    package var beforeTime: UInt64 { LogTime.range(ofBound: before).lowerBound.number }

    init(_ request: PurgeHistoryRequest, limit: Int) {
        (channel, before, self.limit) = (request.channel, request.beforeMilliseconds, limit)
    }

    func next(after count: Int) -> HistoryPurge {
        var next = self
        next.removed += count
        return next
    }
}

extension HistoryPurge: StorageChange {
    static let failureCode = ErrorCode.historyOperationFailed

    var room: StorageRoom { .locks }

    /// It is answered when the store has said how many messages there were.
    func apply(_ transaction: inout StorageTransaction) -> Result<PurgedMessages, RTMError>? {
        transaction.group.purge(self)
        transaction.purges.append((self, transaction.link, transaction.request))
        return nil
    }
}

/// So many messages were removed now.
struct PurgedMessages: StorageAnswer {
    let purge: HistoryPurge
    let count: Int

    /// Removes the next messages, or answers. A purge whose caller is gone stops where it is.
    func deliver(to request: UInt64, of link: UInt64, at shard: StorageShard) {
        guard let caller = shard.links[link] else { return }
        let next = purge.next(after: count)
        guard count == purge.limit else {
            return caller.respond(to: request, PurgeHistoryResponse(removed: UInt64(next.removed)))
        }
        _ = shard.queues.writes.put(
            StorageWrite(next, link: link, request: request), mayOverfill: true)
    }
}

/// Asks for a page of a channel's stored messages.
extension HistorySelection: StorageQuery {
    static let failureCode = ErrorCode.historyOperationFailed

    var appID: String { channel.appID }
    var answerBytesMax: Int {
        let item = EventPage.itemBytesMax
        return min(count * item, Self.pageBytesMax + item)
    }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ClientAnswer {
        ClientAnswer(page(try store.messages(self, now: now)))
    }
}
