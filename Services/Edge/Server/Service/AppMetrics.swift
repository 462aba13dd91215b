import RTMServiceKit

/// What an edge counts for one app.
struct AppMetrics: Sendable {
    let sessions: Gauge
    let publishes: Counter
    let loginRefusals: Counter

    func published(_ count: Int) { publishes.increment(by: count) }
    func sessionsChanged(by change: Int) { sessions.add(change) }
    func loginRefused() { loginRefusals.increment() }
}

/// The metrics of the apps. The first apps of the configuration have series of their own. All others share
/// one, so that neither a client nor a long configuration can make series without end.
struct AppMetricsTable: Sendable {
    /// Limit: apps with series of their own.
    static let ownMax = 100
    /// The label of all apps without series of their own.
    static let otherLabel = "other"

    private let own: [String: AppMetrics]
    private let other: AppMetrics

    /// - Parameter apps: the ids of the apps in the order of the configuration.
    init(_ registry: MetricsRegistry, apps: [String]) {
        let labels = apps.prefix(Self.ownMax).filter { $0 != Self.otherLabel } + [Self.otherLabel]
        let sessions = registry.gauges(
            "rtm_edge_app_sessions", "Sessions by app; apps beyond the first 100 count as other.",
            label: "app", values: labels)
        let publishes = registry.counters(
            "rtm_edge_app_publishes_total", "Published messages by app.", label: "app", values: labels)
        let refusals = registry.counters(
            "rtm_edge_app_login_refusals_total",
            "Refused logins by app; unknown apps count as other. Many: that app's tokens are wrong.",
            label: "app", values: labels)
        var all: [String: AppMetrics] = [:]
        for label in labels {
            guard let sessions = sessions[label], let publishes = publishes[label],
                let refusals = refusals[label]
            else { continue }
            all[label] = AppMetrics(sessions: sessions, publishes: publishes, loginRefusals: refusals)
        }
        guard let other = all[Self.otherLabel] else {
            preconditionFailure("the series of all other apps is always declared")
        }
        self.other = other
        own = all
    }

    subscript(app: String) -> AppMetrics { own[app] ?? other }
}
