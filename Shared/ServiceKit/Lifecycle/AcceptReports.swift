internal import RTMServiceLink
internal import Synchronization

/// Takes what the listeners of a process report when descriptors run out, for metrics, `/ready` and the log.
final class AcceptReports: Sendable {
    private let pauses: Counter
    /// It doesn't make the process not ready: then anybody could do so who opens enough connections.
    private let probe: ReadinessProbe
    /// The listeners that have had to pause lately.
    private let paused = Mutex<Set<String>>([])

    init(_ metrics: MetricsRegistry, _ readiness: ReadinessRegistry) {
        pauses = metrics.counter(
            "rtm_accept_pauses_total",
            "How often a listener accepted no connection for half a second, because descriptors ran out.")
        probe = readiness.probe("descriptors", isRequired: false)
        probe.ready()
    }

    func policy(_ plan: DescriptorPlan) -> AcceptPolicy {
        AcceptPolicy(plan) { self.take($0, pause: $1) }
    }

    private func take(_ listener: String, pause: String?) {
        if let pause {
            pauses.increment()
            _ = paused.withLock { $0.insert(listener) }
            probe.notReady(pause)
        } else {
            let areAllWell = paused.withLock { paused in
                paused.remove(listener)
                return paused.isEmpty
            }
            if areAllWell { probe.ready() }
        }
    }
}
