import RTMServiceKit

/// What an operator decides about metadata, locks and history.
struct StorageRules: Sendable {
    var metadata = MetadataSet.Limits()
    var quotas = AppUsage.Quotas()
    /// What owners of locks have on top of their ttl to be heard of again, after a start or when an edge
    /// can't be reached.
    var lockGraceMilliseconds: UInt64 = 10_000
    var retention = HistoryRetention(usual: .oneWeek, ofApps: [:])
}

/// The two clocks, in milliseconds.
struct StorageNow: Sendable {
    /// UTC.
    let wall: UInt64
    /// Never goes back.
    let steady: UInt64
}
