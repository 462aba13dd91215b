import RTMServiceKit

/// The metrics of a gateway.
final class GatewayMetrics: Sendable {
    enum Answer: String, MetricLabel {
        case success, refused, limited, failed
        static let labelName = "kind"
    }

    enum Audit: String, MetricLabel {
        case kept, omitted, lost
        static let labelName = "kind"
    }

    /// Why the gateway has ended a connection.
    enum End: String, MetricLabel {
        case unread, replaced, overfull, refused
        static let labelName = "cause"
    }

    /// What connections leave unread, and what their waiting requests hold.
    let unreadBytes: Gauge
    private let ends: Family<End, Counter>
    private let audits: Family<Audit, Counter>
    private let answers: Family<Answer, Counter>
    private let seconds: Histogram

    init(_ registry: MetricsRegistry) {
        unreadBytes = registry.gauge(
            "rtm_gateway_unread_bytes",
            "Bytes that connections leave unread; gateway.outbound.totalBytesMax bounds them.")
        ends = registry.counters(
            "rtm_gateway_connections_ended_total",
            "Connections that the gateway ended, by cause: unread (the client didn't read); replaced (no "
                + "credential yet, and all places taken); overfull (unread bytes took all their memory); "
                + "refused (no place was free).",
            by: End.self)
        answers = registry.counters(
            "rtm_gateway_requests_total",
            "HTTP requests answered, by kind: success; refused (4xx); limited (429); failed (5xx), which an operator should look into.",
            by: Answer.self)
        audits = registry.counters(
            "rtm_gateway_audit_lines_total",
            "Lines of the audit trail, by kind: kept; omitted, because a key made many such changes; lost "
                + "to storage, so that only the log has them.",
            by: Audit.self)
        seconds = registry.histogram(
            "rtm_gateway_request_seconds", "How long an HTTP request took from its head to its answer.")
    }

    func ended(_ cause: End) { ends[cause].increment() }

    func audited(_ kind: Audit) { audits[kind].increment() }

    func answered(_ status: Int, after time: Duration) {
        let answer: Answer =
            switch status {
            case ..<400: .success
            case 429: .limited
            case ..<500: .refused
            default: .failed
            }
        answers[answer].increment()
        seconds.observe(time)
    }
}
