import RTMServiceKit

/// The metrics of the journal.
struct JournalMetrics: Sendable {
    let leading: Gauge
    let terms: Counter
    let batches: Counter
    let bytes: Counter
    let backlog: Gauge
    let time: Histogram

    /// - Parameter shards: of this node.
    init(_ registry: MetricsRegistry, shards: Int) {
        registry.gauge(
            "rtm_messaging_shards",
            "messaging.shards of this node. The nodes of an installation have the same number."
        ).set(shards)
        leading = registry.gauge(
            "rtm_messaging_leading",
            "Shards that this node leads. The sum over all messaging nodes is messaging.shards.")
        terms = registry.counter(
            "rtm_messaging_terms_total", "How often this node has taken the lead of a shard.")
        batches = registry.counter(
            "rtm_messaging_journal_batches_total", "Batches sent to the journal in Redis.")
        bytes = registry.counter("rtm_messaging_journal_bytes_total", "Bytes of these batches.")
        backlog = registry.gauge(
            "rtm_messaging_journal_backlog_bytes",
            "Bytes that wait for Redis. At messaging.journal.backlogMax messages are refused.")
        time = registry.histogram(
            "rtm_messaging_journal_seconds",
            "How long Redis takes to write a batch. Every message waits as long as that.")
    }
}
