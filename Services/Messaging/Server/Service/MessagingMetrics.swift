package import RTMServiceKit
package import RTMServiceLink

/// The metrics of a messaging node.
package final class MessagingMetrics: Sendable {
    let appended: Counter
    let refused: Counter
    let repeated: Counter
    let pushed: Counter
    let replayed: Counter
    let gaps: Counter
    let fed: Counter
    let feedGaps: Counter
    let superseded: Counter
    let channels: Gauge
    let openChannels: Gauge
    let channelsRefused: Counter
    let forgotten: Gauge
    let tailBytes: Gauge
    let tailWindow: Gauge
    let links: Gauge
    let relays: Gauge
    let relaysRefused: Counter
    let relayedBytes: Counter

    package init(_ registry: MetricsRegistry) {
        appended = registry.counter("rtm_messaging_appended_total", "Entries appended to channel logs.")
        refused = registry.counter(
            "rtm_messaging_refused_total", "Requests refused, including messages to users who are offline.")
        repeated = registry.counter(
            "rtm_messaging_repeated_total",
            "Messages and events that were sent again because the answer was lost; "
                + "each is in the log once.")
        pushed = registry.counter(
            "rtm_messaging_pushes_total", "Entries pushed to edges: once per entry and interested link.")
        replayed = registry.counter(
            "rtm_messaging_replayed_total", "Entries sent again to edges and clients that came back.")
        gaps = registry.counter(
            "rtm_messaging_gaps_total",
            "Positions that could not be continued. Many: tails are too short, subscribers missed too much, "
                + "or this node was restarted."
        )
        fed = registry.counter(
            "rtm_messaging_fed_total", "Entries sent to storage, which keeps them as events of their apps.")
        feedGaps = registry.counter(
            "rtm_messaging_feed_gaps_total",
            "How often entries were gone before storage collected them: backends got the event gap. Storage was away "
                + "for too long, or this node was restarted without a journal."
        )
        superseded = registry.counter(
            "rtm_messaging_superseded_total", "Sessions that ended because their user logged in elsewhere.")
        channels = registry.gauge("rtm_messaging_channels", "Channels with a log in memory.")
        openChannels = registry.gauge(
            "rtm_messaging_open_channels",
            "Channels beside inboxes. At messaging.channels.max new ones are refused.")
        channelsRefused = registry.counter(
            "rtm_messaging_channels_refused_total",
            "New channels refused by a limit of messaging.channels. Many: a client keeps using new names."
        )
        forgotten = registry.gauge(
            "rtm_messaging_forgotten_channels",
            "Channels that nobody uses, kept by their numbers only, so that a return to them is no gap.")
        tailBytes = registry.gauge(
            "rtm_messaging_tail_bytes",
            "Memory of the tails of all apps. At messaging.tail.totalBytesMax the oldest entries are dropped."
        )
        tailWindow = registry.gauge(
            "rtm_messaging_tail_window_seconds",
            "How far back every tail reaches. Less than 120: clients that come back may find gaps."
        )
        links = registry.gauge(
            "rtm_messaging_links", "Links from other services. At 0 no edge reaches this node.")
        relays = registry.gauge(
            "rtm_messaging_relays",
            "Links that this node relays to other messaging nodes, because their callers don't reach those.")
        relaysRefused = registry.counter(
            "rtm_messaging_relays_refused_total",
            "Relays refused: to a node that isn't in the list or can't be reached from here either, or "
                + "beyond 1,024 at once.")
        relayedBytes = registry.counter(
            "rtm_messaging_relayed_bytes_total", "Bytes copied between callers and other messaging nodes.")
    }
}

extension MessagingMetrics {
    /// Counts what happens to relays.
    package func count(_ event: ServiceLinkRelays.Event) {
        switch event {
        case .opened: relays.add(1)
        case .ended: relays.add(-1)
        case .refused: relaysRefused.increment()
        case .copied(let bytes): relayedBytes.increment(by: bytes)
        }
    }
}

/// The metrics of the journal.
final class JournalMetrics: Sendable {
    let leading: Gauge
    let terms: Counter
    let newLogs: Counter
    let batches: Counter
    let bytes: Counter
    let backlog: Gauge
    let time: Histogram

    /// - Parameter shards: how many shards the installation has.
    init(_ registry: MetricsRegistry, shards: Int) {
        registry.gauge(
            "rtm_messaging_shards",
            "messaging.shards of this node. The nodes of an installation have the same number."
        ).set(shards)
        leading = registry.gauge(
            "rtm_messaging_leading",
            "Shards whose leader this node is. The sum over all messaging nodes is messaging.shards.")
        terms = registry.counter(
            "rtm_messaging_terms_total", "How often this node has become the leader of a shard.")
        newLogs = registry.counter(
            "rtm_messaging_new_logs_total",
            "How often a shard began with new logs, so that clients that came back got gaps.")
        batches = registry.counter(
            "rtm_messaging_journal_batches_total", "Batches sent to the journal in Redis.")
        bytes = registry.counter(
            "rtm_messaging_journal_bytes_total", "Bytes of the batches sent to the journal in Redis.")
        backlog = registry.gauge(
            "rtm_messaging_journal_backlog_bytes",
            "Bytes that wait for Redis. At messaging.journal.backlogMax messages are refused.")
        time = registry.histogram(
            "rtm_messaging_journal_seconds",
            "How long Redis takes to write a batch. Every message waits as long as that.")
    }
}
