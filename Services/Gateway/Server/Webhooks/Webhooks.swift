import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMWebhookCall
import Synchronization

/// All webhooks of the configuration, each with its runner. Every gateway has them all; storage decides which
/// gateway delivers each.
final class Webhooks: Service {
    let name = "webhooks"
    private let node: String
    private let settings: WebhookQueue.Settings
    private let environment: CheckedHTTPClient.Environment
    private let backend: Backend
    private let metrics: WebhookMetrics
    private let logger: Logger

    private struct State {
        var isRunning = false
        var records: [WebhookRecord] = []
        var runners: [WebhookRecord: (runner: WebhookRunner, task: Task<Void, Never>)] = [:]
    }
    private let state = Mutex(State())

    init(
        _ records: [WebhookRecord], node: String, _ settings: WebhookQueue.Settings,
        _ environment: CheckedHTTPClient.Environment, _ backend: Backend, _ metrics: WebhookMetrics,
        _ logger: Logger
    ) {
        (self.node, self.settings, self.environment) = (node, settings, environment)
        (self.backend, self.metrics, self.logger) = (backend, metrics, logger)
        state.withLock { $0.records = records }
        metrics.observe { [weak self] in
            self?.state.withLock { $0.runners.values.compactMap(\.runner.oldest).min() }
        }
    }

    /// The configuration has other webhooks now. One that was changed begins anew at its position.
    func take(_ records: [WebhookRecord]) {
        state.withLock { state in
            state.records = records
            guard state.isRunning else { return }
            for (record, entry) in state.runners where !records.contains(record) {
                entry.runner.stop()
                state.runners[record] = nil
            }
            begin(&state)
        }
    }

    private func begin(_ state: inout State) {
        for record in state.records where state.runners[record] == nil {
            guard
                let runner = WebhookRunner(
                    record, node: node, settings, backend, environment, metrics, logger)
            else { continue }
            // Unstructured: it runs until its record is removed or the gateway stops, whichever is first.
            state.runners[record] = (runner, Task { await runner.run() })
        }
    }

    /// The webhooks of an app.
    func all(of app: String) -> [WebhookRunner] {
        state.withLock { $0.runners.values.map(\.runner) }
            .filter { $0.record.app == app }.sorted { $0.record.name < $1.record.name }
    }

    func start() async throws {
        state.withLock { state in
            state.isRunning = true
            begin(&state)
        }
    }

    func shutdown(deadline: ContinuousClock.Instant) async {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            state.isRunning = false
            for entry in state.runners.values { entry.runner.stop() }
            defer { state.runners = [:] }
            return state.runners.values.map(\.task)
        }
        await withTaskGroup { group in
            group.addTask {
                for task in tasks { await task.value }
            }
            group.addTask { try? await Task.sleep(until: deadline) }
            await group.next()
            for task in tasks { task.cancel() }
            group.cancelAll()
        }
    }
}

/// The metrics of the webhooks that a gateway delivers.
final class WebhookMetrics: Sendable {
    enum Outcome: String, MetricLabel {
        case taken, refused, away, gone
        static let labelName = "outcome"
    }

    private let requests: Family<Outcome, Counter>
    private let letters: Counter
    private let seconds: Histogram
    private let oldest = Mutex<@Sendable () -> UInt64?>({ nil })

    init(_ registry: MetricsRegistry) {
        requests = registry.counters(
            "rtm_gateway_webhook_requests_total",
            "Requests to the receivers of webhooks, by outcome: taken (2xx); refused (another status, or no whole answer); away (no connection, 429, 502 to 504); gone (410).",
            by: Outcome.self)
        letters = registry.counter(
            "rtm_gateway_webhook_dead_letters_total",
            "Events that no receiver has taken in time. An operator has to look at them.")
        seconds = registry.histogram(
            "rtm_gateway_webhook_seconds", "How long the receiver of a webhook took for an answer.")
        registry.observedGauge(
            "rtm_gateway_webhook_lag_seconds",
            "Age of the oldest event that a webhook of this gateway has not delivered yet; 0 if there is none."
        ) { [self] in
            let oldest = oldest.withLock { $0 }()
            let now = WallClock.milliseconds()
            return oldest.map { Double(now - min(now, $0)) / 1_000 } ?? 0
        }
    }

    func observe(_ oldest: @escaping @Sendable () -> UInt64?) { self.oldest.withLock { $0 = oldest } }

    func answered(_ answer: WebhookAnswer) {
        let outcome: Outcome =
            switch answer.verdict {
            case .taken: .taken
            case .gone: .gone
            case .away: .away
            case .refused: .refused
            }
        requests[outcome].increment()
        seconds.observe(Duration.nanoseconds(answer.duration.nanoseconds))
    }

    func gaveUp(_ count: Int) { letters.increment(by: count) }
}
