import RTMServiceKit
import Synchronization

/// Which services the loops of an edge reach. Each loop has links of its own, and a service counts as reached
/// when every loop reaches it.
///
/// An edge is of no use without messaging, so messaging decides whether the edge is ready. Messages flow
/// without presence and storage, so `/ready` only names what is missing of them.
final class Reachability: Sendable {
    enum Dependency: String, MetricLabel {
        case messaging, presence, storage
        static let labelName = "service"
    }

    private struct Reached {
        var up = 0
        /// Why the last attempt of any loop failed.
        var cause: String?
    }

    private let loops: Int
    /// The probes are set while the lock is held: otherwise, of two loops that change at once, the slower
    /// one would have the last word with an outdated number.
    private let reached = Mutex<[Dependency: Reached]>([:])
    private let probes: [Dependency: ReadinessProbe]
    private let links: Family<Dependency, Gauge>

    init(loops: Int, probes: [Dependency: ReadinessProbe], metrics: MetricsRegistry) {
        self.loops = loops
        self.probes = probes
        links = metrics.gauges(
            "rtm_edge_links",
            "Links that are up, by service; each loop has one to each. Fewer: look at that service.",
            by: Dependency.self)
        for probe in probes.values { probe.notReady("not connected yet") }
    }

    convenience init(loops: Int, messaging: ReadinessProbe, metrics: MetricsRegistry) {
        self.init(loops: loops, probes: [.messaging: messaging], metrics: metrics)
    }

    /// - Parameter cause: why the link is down.
    func changed(_ dependency: Dependency, isUp: Bool, _ cause: String? = nil) {
        links[dependency].add(isUp ? 1 : -1)
        report(dependency) { reached in
            reached.up += isUp ? 1 : -1
            reached.cause = isUp ? reached.cause : cause
        }
    }

    /// A loop has tried in vain to get a link.
    func failed(_ dependency: Dependency, _ cause: String) {
        report(dependency) { $0.cause = cause }
    }

    private func report(_ dependency: Dependency, _ change: (inout Reached) -> Void) {
        guard let probe = probes[dependency] else { return }
        reached.withLock { all in
            change(&all[dependency, default: Reached()])
            let reached = all[dependency, default: Reached()]
            if reached.up == loops { return probe.ready() }
            let why = reached.cause.map { ": \($0)" } ?? ""
            probe.notReady(
                "\(loops - reached.up) of \(loops) loops have no link to \(dependency.rawValue)\(why)")
        }
    }
}
