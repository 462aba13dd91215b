import RTMPublishHook
import RTMServiceKit
import RTMWire

/// What an edge counts. All loops share one value, and every update is one relaxed addition.
final class EdgeMetrics: Sendable {
    private let connections: Gauge
    private let proxyHeadersRefused: Counter
    private let sessions: Gauge
    private let ratesLifted: Gauge
    private let handshakeBytes: Gauge
    private let outboundBytes: Gauge
    private let channels: Gauge
    private let bytesIn: Counter
    private let bytesOut: Counter
    private let compressionInput: Counter
    private let compressionOutput: Counter
    private let deliveries: Counter
    private let publishesSucceeded: Counter
    private let publishesFailed: Counter
    private let publishesTooFrequent: Family<PublishLimit, Counter>
    private let publisherHolds: Counter
    private let requestPauses: Counter
    private let logins: Family<Outcome, Counter>
    private let loginRefusals: Family<LoginRefusal, Counter>
    private let renewals: Family<Outcome, Counter>
    private let disconnects: Family<Disconnect.Code, Counter>
    private let gaps: Counter
    private let presenceWithheld: Counter
    private let callsAnswered: Family<ClientCall.Service, Counter>
    private let callsRefused: Family<ClientCall.Service, Counter>
    private let lockWaits: Gauge
    private let publishTime: Histogram
    private let deliveryTime: Histogram
    let apps: AppMetricsTable
    let hooks: PublishHookMetrics

    enum Outcome: String, MetricLabel {
        case ok, refused
        static let labelName = "outcome"
    }

    /// - Parameter apps: the ids of the apps in the order of the configuration.
    init(_ registry: MetricsRegistry, apps: [String] = []) {
        self.apps = AppMetricsTable(registry, apps: apps)
        hooks = PublishHookMetrics(registry, .edge)
        publishTime = registry.histogram(
            "rtm_edge_publish_seconds",
            "Time from handing publishes to messaging to its answer, one observation for each run. "
                + "Long: messaging or the link to it is busy.")
        deliveryTime = registry.histogram(
            "rtm_edge_delivery_seconds",
            "Time from an entry's timestamp to the write to its subscribers, by the clocks of both "
                + "machines, for one entry of each turn. Long: a loop or a link is busy.")
        connections = registry.gauge(
            "rtm_edge_connections", "Open client connections. At edge.connections.max new ones are refused.")
        proxyHeadersRefused = registry.counter(
            "rtm_edge_proxy_headers_refused_total",
            "Connections of load balancers that didn't begin with a header of the PROXY protocol, version 2.")
        sessions = registry.gauge("rtm_edge_sessions", "Logged-in sessions, and logins under way.")
        ratesLifted = registry.gauge(
            "rtm_edge_rates_lifted",
            "1 if edge.rates.unlimited is set: no client is held to any rate. Only for measuring.")
        handshakeBytes = registry.gauge(
            "rtm_edge_handshake_bytes",
            "Memory of half frames before the login. At edge.handshake.bytesMax per loop, connections are ended."
        )
        outboundBytes = registry.gauge(
            "rtm_edge_outbound_bytes",
            "Memory of what clients have not read yet. At edge.outbound.totalBytesMax, those that hold the most "
                + "are cut off.")
        channels = registry.gauge(
            "rtm_edge_channels", "Channels with subscribers here, inboxes included, summed over the loops.")
        bytesIn = registry.counter("rtm_edge_received_bytes_total", "Bytes from clients.")
        bytesOut = registry.counter("rtm_edge_sent_bytes_total", "Bytes handed to client sockets.")
        compressionInput = registry.counter(
            "rtm_edge_web_socket_compression_input_bytes_total",
            "Bytes of compressed messages to clients over WebSocket, before compression.")
        compressionOutput = registry.counter(
            "rtm_edge_web_socket_compression_output_bytes_total",
            "Bytes of compressed messages to clients over WebSocket, after compression. Nearly the input: compression isn't worth its time."
        )
        deliveries = registry.counter(
            "rtm_edge_deliveries_total", "Log entries handed to sessions: the fan-out's output.")
        let publishes = registry.counters(
            "rtm_edge_publishes_total", "Publishes by outcome. Many refused: look at messaging.",
            by: Outcome.self)
        (publishesSucceeded, publishesFailed) = (publishes[.ok], publishes[.refused])
        publishesTooFrequent = registry.counters(
            "rtm_edge_publishes_too_frequent_total",
            "Publishes refused for a rate. Many: a client sends more than it may, or a rate is too low.",
            by: PublishLimit.self)
        publisherHolds = registry.counter(
            "rtm_edge_publisher_holds_total",
            "How often a client's socket wasn't read until messaging had accepted what the client published.")
        requestPauses = registry.counter(
            "rtm_edge_request_pauses_total",
            "How often a client's requests waited because it had used up its quota of a turn. Many: a client "
                + "sends more than it may.")
        logins = registry.counters(
            "rtm_edge_logins_total",
            "Logins by outcome. Many refused: a wrong app id, bad tokens, or messaging is away.",
            by: Outcome.self)
        loginRefusals = registry.counters(
            "rtm_edge_login_refusals_total",
            "Refused logins by reason. rate: a client that logs in again and again; quota: its app has as "
                + "many sessions as it may have; messaging: it is away, or the keys of a JWT can't be "
                + "fetched.",
            by: LoginRefusal.self)
        renewals = registry.counters(
            "rtm_edge_token_renewals_total",
            "Renewals of tokens by outcome. Many refused: their maker has a wrong clock or certificate.",
            by: Outcome.self)
        disconnects = registry.counters(
            "rtm_edge_disconnects_total",
            "Connections that the edge ended, by code. slowConsumer: clients that can't keep up.",
            by: Disconnect.Code.self)
        callsAnswered = registry.counters(
            "rtm_edge_calls_total", "Calls of clients that another service answered, by what they ask for.",
            by: ClientCall.Service.self)
        callsRefused = registry.counters(
            "rtm_edge_calls_refused_total",
            "Calls of clients refused, here or by the service. Many: that service is away, or clients exceed rates.",
            by: ClientCall.Service.self)
        lockWaits = registry.gauge("rtm_edge_lock_waits", "Sessions in the queues of locks.")
        gaps = registry.counter(
            "rtm_edge_gaps_total", "Channels whose subscribers got a gap: entries were lost. Should be 0.")
        presenceWithheld = registry.counter(
            "rtm_edge_presence_withheld_total",
            "How often events of presence were left out for a client that reads too slowly; a snapshot "
                + "follows. Many: users show more than lines take.")
    }

    func connectionOpened() { connections.add(1) }
    func proxyHeaderRefused() { proxyHeadersRefused.increment() }
    func connectionClosed() { connections.add(-1) }
    func sessionsChanged(by change: Int) { sessions.add(change) }
    func handshakeBytesChanged(by change: Int) { handshakeBytes.add(change) }
    func outboundBytesChanged(by change: Int) { outboundBytes.add(change) }
    func channelsChanged(by change: Int) { channels.add(change) }
    func bytesReceived(_ count: Int) { bytesIn.increment(by: count) }
    func bytesSent(_ count: Int) { bytesOut.increment(by: count) }
    func compressed(_ count: Int, to compressedCount: Int) {
        compressionInput.increment(by: count)
        compressionOutput.increment(by: compressedCount)
    }
    func delivered(_ count: Int) { deliveries.increment(by: count) }
    func publishSucceeded(_ count: Int) { publishesSucceeded.increment(by: count) }
    func publishFailed(_ count: Int) { publishesFailed.increment(by: count) }
    func ratesAreLifted(_ areLifted: Bool) { ratesLifted.set(areLifted ? 1 : 0) }
    func publishExceeded(_ limit: PublishLimit) { publishesTooFrequent[limit].increment() }
    func publisherHeld() { publisherHolds.increment() }
    func requestsPaused() { requestPauses.increment() }
    func loginAccepted() { logins[.ok].increment() }
    func loginRefused(_ reason: LoginRefusal) {
        logins[.refused].increment()
        loginRefusals[reason].increment()
    }
    func tokenRenewed() { renewals[.ok].increment() }
    func renewalRefused() { renewals[.refused].increment() }
    func disconnected(_ code: Disconnect.Code) { disconnects[code].increment() }
    func callAnswered(_ service: ClientCall.Service) { callsAnswered[service].increment() }
    func callRefused(_ service: ClientCall.Service) { callsRefused[service].increment() }
    func lockWaitsChanged(by change: Int) { lockWaits.add(change) }
    func gap() { gaps.increment() }
    func presenceWithheld(_ count: Int) { presenceWithheld.increment(by: count) }
    func publishAnswered(after time: Duration) { publishTime.observe(time) }

    /// - Parameter milliseconds: may be negative where the clock of messaging is ahead.
    func deliveryWritten(after milliseconds: Int64) {
        deliveryTime.observe(.milliseconds(max(0, milliseconds)))
    }
}

extension ClientCall.Service: MetricLabel {
    package static var labelName: String { "service" }
}

extension Disconnect.Code: MetricLabel {
    package static var labelName: String { "code" }
    package var labelValue: String { "\(self)" }
}

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
