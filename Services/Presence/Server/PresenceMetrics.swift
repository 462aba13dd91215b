import RTMModel
package import RTMServiceKit
import RTMWire

/// What a presence node counts.
package struct PresenceMetrics: Sendable {
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
    let goneBound: Gauge

    package init(_ registry: MetricsRegistry) {
        channels = registry.gauge(
            "rtm_presence_channels",
            "Channels with a roster in this node's memory. Over Redis 0: the rosters are there.")
        members = registry.gauge(
            "rtm_presence_members",
            "Users in these channels, quiet ones included: who is in two counts twice. Over Redis 0.")
        leases = registry.gauge("rtm_presence_leases", "Leases of edges, one for each of their loops.")
        links = registry.gauge("rtm_presence_links", "Links from edges. 0: no edge reaches this node.")
        events = registry.counters(
            "rtm_presence_events_total",
            "Events made for channel logs, by kind; an interval stands for many changes of a big channel.",
            by: EventKind.self)
        waiting = registry.gauge(
            "rtm_presence_events_waiting",
            "Events that messaging hasn't acknowledged yet. Growing: messaging is away or too slow.")
        dropped = registry.counter(
            "rtm_presence_events_dropped_total", "Events that messaging refused for good. Should be 0.")
        repeated = registry.counter(
            "rtm_presence_appends_repeated_total", "Appends that were tried again after a lost answer.")
        expiredLeases = registry.counter(
            "rtm_presence_leases_expired_total",
            "Leases that ended because their edge wasn't heard of. Each: an edge died or was cut off.")
        refused = registry.counter("rtm_presence_refused_total", "Requests refused.")
        goneBound = registry.gauge(
            "rtm_presence_gone_bound_seconds",
            "A user of an edge that died is gone for all after at most this: lease, longest presence timeout, interval, sweeps."
        )
    }

    func count(_ event: PresenceEvent) {
        let kind: EventKind =
            switch event {
            case .joined: .join
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
