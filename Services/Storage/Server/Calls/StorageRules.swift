import RTMServiceKit

/// The operator's settings for metadata, locks and history.
struct StorageRules: Sendable {
    var metadata = MetadataSet.Limits()
    var quotas = AppUsage.Quotas()
    /// How much longer than their ttl owners of locks have to come back, after a start or when an edge can't
    /// be reached; in milliseconds.
    var lockGraceMilliseconds: UInt64 = 10_000
    /// How large the database may become; nil means as large as the disk. It is part of refusals.
    var bytesMax: Int?
    var retention = HistoryRetention(usual: .oneWeek, ofApps: [:])
    /// For how long the events of each app are kept, in milliseconds; apps without events aren't in it.
    var events: [String: UInt64] = [:]
}

/// The times of two clocks, in milliseconds.
struct StorageNow: Sendable {
    /// The time of day (UTC).
    let wall: UInt64
    /// A clock that never goes back.
    let steady: UInt64
}
