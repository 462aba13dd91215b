import RTMServiceKit

/// What the storage service counts.
struct StorageMetrics: Sendable {
    let groupSize: Histogram
    let groupTime: Histogram
    let reads: Counter
    let refused: Counter
    let conflicts: Counter
    let historyStored: Counter
    let historyExpired: Counter
    let failures: Family<StoreFailureLabels, Counter>
    let lockChannels: Gauge
    let outboxWaiting: Gauge
    let announced: Counter
    let announceRetries: Counter
    let links: Gauge

    init(_ registry: MetricsRegistry) {
        groupSize = registry.histogram(
            "rtm_storage_group_writes",
            "Writes that shared one transaction. Always 1: nobody writes at the same time.",
            bounds: Buckets.pieces)
        groupTime = registry.histogram(
            "rtm_storage_group_seconds",
            "From the begin of a transaction to its end on the disk. Long: the disk is slow or busy.")
        reads = registry.counter("rtm_storage_reads_total", "Reads and snapshots answered.")
        refused = registry.counter("rtm_storage_refused_total", "Requests that were answered with an error.")
        conflicts = registry.counter(
            "rtm_storage_conflicts_total", "Writes whose revision was no longer the present one.")
        historyStored = registry.counter("rtm_storage_history_stored_total", "Messages kept in the history.")
        historyExpired = registry.counter(
            "rtm_storage_history_expired_total", "Messages removed because their time was over.")
        failures = registry.counters(
            "rtm_storage_failures_total",
            "Groups of writes that the database could not keep, by cause. Any: look at /ready.",
            by: StoreFailureLabels.self)
        lockChannels = registry.gauge(
            "rtm_storage_lock_channels", "Channels with locks that are held or waited for.")
        outboxWaiting = registry.gauge(
            "rtm_storage_outbox_events",
            "Events in memory that messaging has not acknowledged. Growing: messaging can't be reached.")
        announced = registry.counter("rtm_storage_announced_total", "Events that messaging has acknowledged.")
        announceRetries = registry.counter(
            "rtm_storage_announce_retries_total", "Events that messaging did not take and that wait again.")
        links = registry.gauge("rtm_storage_links", "Links from edges. 0: no edge reaches this service.")
    }
}

struct StoreFailureLabels: MetricLabels {
    let cause: StoreFailure.Kind

    static let labelNames = ["cause"]
    static let allCases = StoreFailure.Kind.allCases.map { StoreFailureLabels(cause: $0) }
    var labelValues: [String] { [cause.rawValue] }
}
