import RTMServiceKit
import Synchronization

/// The metrics of the storage service.
final class StorageMetrics: Sendable {
    let groupSize: Histogram
    let groupTime: Histogram
    let reads: Counter
    let refused: Counter
    let conflicts: Counter
    let historyStored: Counter
    let historyExpired: Counter
    let failures: Family<StoreFailureLabels, Counter>
    let lockChannels: ShardGauge
    let outboxWaiting: ShardGauge
    let announced: Counter
    let announceRetries: Counter
    let links: Gauge
    let leading: Gauge
    let synchronousStandbys: Gauge
    let connections: Gauge
    let eventsKept: Counter
    let eventsExpired: Counter
    let eventGaps: Counter
    let eventsLag: ShardGauge
    let eventWaits: ShardGauge
    let waitingReads: ShardGauge
    let inboxPublished: Counter
    let inboxRefused: Counter
    let inboxNotStored: Counter
    let inboxLag: ShardGauge
    private let bytes: Gauge
    private let historyBytes: [String: ShardGauge]

    /// The label of all apps without a series of their own.
    private static let otherLabel = "other"
    /// Limit: apps with a series of their own.
    private static let appsMax = 100

    /// - Parameters:
    ///   - apps: the ids of the apps in the order of the configuration.
    ///   - bytesMax: the limit of the database.
    init(_ registry: MetricsRegistry, apps: [String] = [], bytesMax: Int = 0) {
        bytes = registry.gauge(
            "rtm_storage_bytes",
            "Bytes of the database in use. Near rtm_storage_max_bytes the database is nearly full.")
        registry.gauge("rtm_storage_max_bytes", "storage.bytesMax; 0 means no limit but the disk.")
            .set(bytesMax)
        historyBytes = registry.gauges(
            "rtm_storage_app_history_bytes",
            "Bytes of stored messages by app; apps beyond the first 100 count as other.", label: "app",
            values: apps.prefix(Self.appsMax) + [Self.otherLabel]
        ).mapValues { ShardGauge(.sum, shownBy: $0) }
        groupSize = registry.histogram(
            "rtm_storage_group_writes",
            "Writes that shared one transaction. If it is always 1, no two writes come at the same time.",
            bounds: Buckets.pieces)
        groupTime = registry.histogram(
            "rtm_storage_group_seconds",
            "Time from the start of a transaction to its end on the disk. If it is long, the disk is slow or busy."
        )
        reads = registry.counter("rtm_storage_reads_total", "Reads and snapshots answered.")
        refused = registry.counter("rtm_storage_refused_total", "Requests that were answered with an error.")
        conflicts = registry.counter(
            "rtm_storage_conflicts_total", "Writes refused because their revision was outdated.")
        historyStored = registry.counter("rtm_storage_history_stored_total", "Messages kept in the history.")
        historyExpired = registry.counter(
            "rtm_storage_history_expired_total",
            "Messages removed because their retention had ended; over PostgreSQL they are counted by the hour."
        )
        failures = registry.counters(
            "rtm_storage_failures_total",
            "Groups of writes that the database could not keep, by cause. If there is any, look at /ready.",
            by: StoreFailureLabels.self)
        lockChannels = ShardGauge(
            .sum,
            shownBy: registry.gauge(
                "rtm_storage_lock_channels", "Channels with locks that are held or waited for."))
        outboxWaiting = ShardGauge(
            .sum,
            shownBy: registry.gauge(
                "rtm_storage_outbox_events",
                "Events in memory that messaging has not acknowledged. If it grows, messaging can't be "
                    + "reached."))
        announced = registry.counter("rtm_storage_announced_total", "Events that messaging has acknowledged.")
        announceRetries = registry.counter(
            "rtm_storage_announce_retries_total",
            "Events that messaging did not take and that are sent again.")
        eventsKept = registry.counter(
            "rtm_storage_events_total", "Events of apps that were kept for their backends.")
        eventsExpired = registry.counter(
            "rtm_storage_events_expired_total", "Events of apps removed because their time was over.")
        eventGaps = registry.counter(
            "rtm_storage_event_gaps_total",
            "How often entries were gone from messaging before they were collected: backends got the event "
                + "gap.")
        eventsLag = ShardGauge(
            .greatest,
            shownBy: registry.gauge(
                "rtm_storage_events_lag_seconds",
                "For how long events wait to be collected from messaging. If it grows, messaging can't be "
                    + "reached, or the disk is too slow."))
        eventWaits = ShardGauge(
            .sum,
            shownBy: registry.gauge(
                "rtm_storage_event_waits", "Reads of events that wait for the next one."))
        waitingReads = ShardGauge(
            .sum,
            shownBy: registry.gauge(
                "rtm_storage_waiting_reads",
                "Reads whose answer waits until the link of its caller is writable. Steadily above 0: "
                    + "callers ask for more than it takes."
            ))
        inboxPublished = registry.counter(
            "rtm_storage_sql_published_total",
            "Messages from heliograph_publish that were taken to be published."
        )
        inboxRefused = registry.counter(
            "rtm_storage_sql_refused_total",
            "Messages from heliograph_publish that nobody receives: their app isn't configured, or a name is wrong."
        )
        inboxNotStored = registry.counter(
            "rtm_storage_sql_not_stored_total",
            "Messages from heliograph_publish that were published but not stored: history is off, or its quota full."
        )
        inboxLag = ShardGauge(
            .greatest,
            shownBy: registry.gauge(
                "rtm_storage_sql_lag_seconds",
                "For how long a committed message may have waited to be taken. If it grows, the database is too "
                    + "slow."))
        leading = registry.gauge(
            "rtm_storage_leading",
            "Shards that this node leads. The sum over the nodes of a database is storage.shards, over a "
                + "file 1.")
        synchronousStandbys = registry.gauge(
            "rtm_storage_synchronous_standbys",
            "Standbys of PostgreSQL that have a write when it is acknowledged. At 0 a failover may lose the "
                + "write; over a file it is 0.")
        connections = registry.gauge(
            "rtm_storage_connections",
            "Open connections to PostgreSQL; over a file it is 0. The sum over all nodes has to stay below the "
                + "server's max_connections.")
        links = registry.gauge("rtm_storage_links", "Links from edges. At 0 no edge reaches this service.")
    }
}

extension StorageMetrics {
    func report(_ size: StoreSize, of shard: StorageShard) {
        bytes.set(size.total)
        var other = 0
        for (app, bytes) in size.historyByApp {
            if app != Self.otherLabel, let gauge = historyBytes[app] {
                gauge.set(bytes, of: shard)
            } else {
                other += bytes
            }
        }
        historyBytes[Self.otherLabel]?.set(other, of: shard)
    }

    /// Another node leads the shard.
    func lost(_ shard: StorageShard) {
        leading.add(-1)
        for gauge in historyBytes.values { gauge.set(0, of: shard) }
    }
}

struct StoreFailureLabels: MetricLabels {
    let cause: StoreFailure.Kind

    static let labelNames = ["cause"]
    static let allCases = StoreFailure.Kind.allCases.map { StoreFailureLabels(cause: $0) }
    var labelValues: [String] { [cause.rawValue] }
}

/// A gauge of what the shards of a node have: it shows their sum, or the greatest.
final class ShardGauge: Sendable {
    enum Meaning {
        case sum, greatest
    }

    private let gauge: Gauge
    private let meaning: Meaning
    private let parts = Mutex<[ObjectIdentifier: Int]>([:])

    init(_ meaning: Meaning, shownBy gauge: Gauge) { (self.meaning, self.gauge) = (meaning, gauge) }

    /// - Parameter part: whose value it is. It lives as long as the node.
    func set(_ value: Int, of part: AnyObject) {
        parts.withLock { parts in
            parts[ObjectIdentifier(part)] = value
            // Within the lock, so that of two shards the slower one doesn't show an outdated sum.
            gauge.set(meaning == .sum ? parts.values.reduce(0, +) : parts.values.max() ?? 0)
        }
    }
}
