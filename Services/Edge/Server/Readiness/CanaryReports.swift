import RTMMessagingClient
import RTMServiceKit
import Synchronization

/// What the canaries of an edge's loops report. The edge is ready when every loop receives the test messages
/// that it publishes: a probe that is green while messages don't arrive is worse than none.
final class CanaryReports: Sendable {
    private let probe: ReadinessProbe
    private let silences: Counter
    /// By loop. The probe is set while the lock is held, so that it has the state of the last change.
    private let verdicts: Mutex<[Canary.Verdict]>

    init(loops: Int, probe: ReadinessProbe, metrics: MetricsRegistry) {
        self.probe = probe
        verdicts = Mutex(Array(repeating: .waiting, count: loops))
        silences = metrics.counter(
            "rtm_edge_canary_silences_total",
            "Test messages that a loop published and that didn't come back in time. Should be 0.")
        probe.notReady("no test message of this edge has come back yet")
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
            probe.notReady("on \(silent) of \(verdicts.count) loops test messages don't come back")
        } else if waiting > 0 {
            probe.notReady(
                "\(waiting) of \(verdicts.count) loops have not received their first test message yet")
        } else {
            probe.ready()
        }
    }
}
