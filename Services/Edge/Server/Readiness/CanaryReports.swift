import RTMMessagingClient
import RTMServiceKit
import Synchronization

/// What the canaries of an edge's loops tell. The edge is ready when every loop hears what it publishes: a
/// light that is green while messages don't arrive is worse than none.
final class CanaryReports: Sendable {
    private let probe: ReadinessProbe
    private let silences: Counter
    /// By loop. The probe is told while the lock is held, so that the last word is that of the last change.
    private let verdicts: Mutex<[Canary.Verdict]>

    init(loops: Int, probe: ReadinessProbe, metrics: MetricsRegistry) {
        self.probe = probe
        verdicts = Mutex(Array(repeating: .waiting, count: loops))
        silences = metrics.counter(
            "rtm_edge_canary_silences_total",
            "Times that what a loop published for a test didn't come back in time. It should be 0.")
        probe.notReady("nothing that this edge published has come back yet")
    }

    func report(_ verdict: Canary.Verdict, ofLoop loop: Int) {
        verdicts.withLock { verdicts in
            let former = verdicts[loop]
            guard former != verdict else { return }
            verdicts[loop] = verdict
            if case .silent = verdict { silences.increment() }
            updateProbe(verdicts)
        }
    }

    private func updateProbe(_ verdicts: [Canary.Verdict]) {
        let silent = verdicts.count { if case .silent = $0 { true } else { false } }
        let waiting = verdicts.count { $0 == .waiting }
        if silent > 0 {
            probe.notReady("on \(silent) of \(verdicts.count) loops what is published doesn't come back")
        } else if waiting > 0 {
            probe.notReady("\(waiting) of \(verdicts.count) loops have not heard yet what they publish")
        } else {
            probe.ready()
        }
    }
}
