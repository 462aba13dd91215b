import RTMModel
import RTMWire

/// Removes messages that have expired (H-11).
struct ExpiredHistory: StorageChange {
    let limit: Int
    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.group.removeExpired(by: transaction.expiryTime(), limit: limit)
        return nil
    }
}

/// Forgets channels of which nothing is stored.
struct UnusedChannels: StorageChange {
    let limit: Int
    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.group.removeUnusedChannels(limit: limit)
        return nil
    }
}

/// Removes events that are older than their app keeps them, or beyond its share of bytes.
struct ExpiredEvents: StorageChange {
    /// By app, in milliseconds (UTC).
    let cutoffs: [String: UInt64]
    let limit: Int
    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.group.removeEvents(
            before: cutoffs, limit: limit, bytesMax: transaction.rules.quotas.eventBytes)
        return nil
    }
}
