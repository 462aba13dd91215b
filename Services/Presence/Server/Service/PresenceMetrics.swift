import RTMModel
package import RTMServiceKit
import RTMWire

/// The metrics of a presence node.
package final class PresenceMetrics: Sendable {
    enum EventKind: String, MetricLabel {
        case join, leave, timeout, state, interval
        static let labelName = "kind"
    }

    let channels: Gauge
    let members: Gauge
    let leases: Gauge
    let links: Gauge
    let events: Family<EventKind, Counter>
    let waiting: Gauge
    let dropped: Counter
    let repeated: Counter
    let expiredLeases: Counter
    let refused: Counter
    let channelsFull: Counter
    let goneBound: Gauge
    /// All 0 without Redis.
    let redis: RedisMetrics

    package init(_ registry: MetricsRegistry) {
        channels = registry.gauge(
            "rtm_presence_channels",
            "Channels with a roster in this node's memory. With Redis it is 0, because the rosters are in Redis."
        )
        members = registry.gauge(
            "rtm_presence_members",
            "Users in the channels of this node's memory, including quiet ones; a user in two channels counts twice. With Redis it is 0."
        )
        leases = registry.gauge("rtm_presence_leases", "Leases of edges, one for each of their loops.")
        links = registry.gauge("rtm_presence_links", "Links from edges. At 0 no edge reaches this node.")
        events = registry.counters(
            "rtm_presence_events_total",
            "Events created for channel logs, by kind; an interval event stands for many changes of a big channel.",
            by: EventKind.self)
        waiting = registry.gauge(
            "rtm_presence_events_waiting",
            "Events that messaging hasn't acknowledged yet. If it grows, messaging is away or too slow.")
        dropped = registry.counter(
            "rtm_presence_events_dropped_total", "Events that messaging refused for good. It should be 0.")
        repeated = registry.counter(
            "rtm_presence_appends_repeated_total", "Appends that were tried again after a lost answer.")
        expiredLeases = registry.counter(
            "rtm_presence_leases_expired_total",
            "Leases that ended because their edge did not renew them. Each means that an edge died or was cut off."
        )
        refused = registry.counter("rtm_presence_refused_total", "Requests refused.")
        channelsFull = registry.counter(
            "rtm_presence_channel_full_total",
            "Subscribes and joins refused because a channel has as many users as it may have (presence.channels.usersMax, presence.streamChannels.usersMax)."
        )
        redis = RedisMetrics(registry)
        goneBound = registry.gauge(
            "rtm_presence_gone_bound_seconds",
            "The longest time until all users know that a user of a dead edge is gone: lease, longest presence timeout, interval and sweeps."
        )
    }

    func count(_ event: PresenceEvent) {
        let kind: EventKind =
            switch event {
            case .joined, .joinedWithStates: .join
            case .left: .leave
            case .timedOut: .timeout
            case .statesChanged: .state
            case .interval: .interval
            }
        events[kind].increment()
    }

    func show(_ totals: PresenceTotals) {
        channels.set(totals.channels)
        members.set(totals.members)
        leases.set(totals.leases)
    }
}
