package import RTMServiceKit

/// What a service counts of its hooks.
package final class PublishHookMetrics: Sendable {
    private enum Outcome: String, MetricLabel {
        case allowed, changed, refused, failed
        static let labelName = "outcome"
    }

    private let answers: Family<Outcome, Counter>
    private let skipped: Counter
    private let overflows: Counter
    private let held: Gauge
    private let seconds: Histogram

    /// The names of a service's metrics.
    package struct Names: Sendable {
        fileprivate let answers, skipped, overflows, held, seconds: String

        package static let edge = Names(
            answers: "rtm_edge_publish_hook_answers_total", skipped: "rtm_edge_publish_hook_skipped_total",
            overflows: "rtm_edge_publish_hook_overflows_total", held: "rtm_edge_publish_hook_held",
            seconds: "rtm_edge_publish_hook_seconds")
        package static let gateway = Names(
            answers: "rtm_gateway_publish_hook_answers_total",
            skipped: "rtm_gateway_publish_hook_skipped_total",
            overflows: "rtm_gateway_publish_hook_overflows_total", held: "rtm_gateway_publish_hook_held",
            seconds: "rtm_gateway_publish_hook_seconds")
    }

    package init(_ registry: MetricsRegistry, _ names: Names) {
        answers = registry.counters(
            names.answers,
            "Questions to hooks before publishing, by outcome. failed: no answer in time, or none that "
                + "decides.",
            by: Outcome.self)
        skipped = registry.counter(
            names.skipped,
            "Messages that a hook wasn't asked about, because it is away: refused or published, by its "
                + "onFailure."
        )
        overflows = registry.counter(
            names.overflows,
            "Messages refused because too many were on hold: a hook is slow, or a client publishes faster than it answers."
        )
        held = registry.gauge(names.held, "Messages on hold until a hook has answered.")
        seconds = registry.histogram(
            names.seconds, "How long the hook before publishing took for an answer.")
    }

    func answered(_ reply: PublishHookReply, after time: Duration) {
        let outcome: Outcome =
            switch reply {
            case .allow(nil): .allowed
            case .allow: .changed
            case .refuse: .refused
            case .failed: .failed
            }
        answers[outcome].increment()
        seconds.observe(time)
    }

    func decidedWithoutQuestion() { skipped.increment() }
    func overflowed() { overflows.increment() }
    func heldChanged(by change: Int) { held.add(change) }
}
