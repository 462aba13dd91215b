import RTMServiceKit
import Synchronization

/// Which services the loops of an edge reach. Each loop has links of its own, and a service counts as reached
/// when every loop reaches it.
///
/// An edge is of no use without messaging, so messaging decides whether the edge is ready. Presence and
/// storage show in the metrics only, because messages flow without them.
final class Reachability: Sendable {
    enum Dependency: String, MetricLabel {
        case messaging, presence, storage
        static let labelName = "service"
    }

    private let loops: Int
    /// The number of loops with a link to messaging. The probe is told while the lock is held: otherwise, of
    /// two loops that change at once, the slower one would have the last word with an outdated number.
    private let up = Mutex(0)
    private let messaging: ReadinessProbe
    private let links: Family<Dependency, Gauge>

    init(loops: Int, messaging: ReadinessProbe, metrics: MetricsRegistry) {
        self.loops = loops
        self.messaging = messaging
        links = metrics.gauges(
            "rtm_edge_links",
            "Links that are up, by service; each loop has one to each. Fewer: look at that service.",
            by: Dependency.self)
        messaging.notReady("not connected yet")
    }

    func changed(_ dependency: Dependency, isUp: Bool) {
        links[dependency].add(isUp ? 1 : -1)
        guard dependency == .messaging else { return }
        up.withLock { up in
            up += isUp ? 1 : -1
            if up == loops {
                messaging.ready()
            } else {
                messaging.notReady("\(loops - up) of \(loops) loops have no link to messaging")
            }
        }
    }
}
