import NIOCore
import RTMModel
import RTMServiceKit
import Synchronization

/// How often each key and each app calls this gateway.
final class RequestRates: Sendable {
    struct Rates: Sendable {
        let key: Rate
        let app: Rate

        init(_ configuration: Configuration) {
            self.init(key: configuration[GatewayKeys.keyRate], app: configuration[GatewayKeys.appRate])
        }

        /// Requests per second, and twice that at once.
        init(key: Int, app: Int) {
            self.key = Rate(perSecond: key, timesAtOnce: 2)
            self.app = Rate(perSecond: app, timesAtOnce: 2)
        }
    }

    private struct State {
        var rates: Rates
        var keys = TokenBuckets<String>()
        var apps = TokenBuckets<String>()
    }

    private let state: Mutex<State>

    init(_ rates: Rates) { state = Mutex(State(rates: rates)) }

    func take(_ rates: Rates) { state.withLock { $0.rates = rates } }

    /// Counts requests, or messages in one request. What is there is enough for one more call, whatever its
    /// size; a call of many messages then owes some.
    ///
    /// - Throws: `.operationRateExceedLimitation` (-10021), and nothing is counted.
    func spend(_ count: Int = 1, by client: APIClient, now: NIODeadline) throws(RTMError) {
        let refusal = state.withLock { state -> RTMError? in
            let (key, app) = (state.rates.key, state.rates.app)
            if !key.isUnlimited, let wait = state.keys.wait(client.name, key, now: now) {
                return Self.refusal("gateway.rates.key", key, wait)
            }
            if !app.isUnlimited, let wait = state.apps.wait(client.app, app, now: now) {
                return Self.refusal("gateway.rates.app", app, wait)
            }
            if !key.isUnlimited { state.keys.spend(count, of: client.name, key, now: now) }
            if !app.isUnlimited { state.apps.spend(count, of: client.app, app, now: now) }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// What the client and its app have left; nil where there is no limit.
    func left(to client: APIClient, now: NIODeadline) -> (
        key: (rate: Rate, left: Int)?, app: (rate: Rate, left: Int)?
    ) {
        state.withLock { state in
            let (key, app) = (state.rates.key, state.rates.app)
            return (
                key.isUnlimited ? nil : (key, state.keys.left(client.name, key, now: now)),
                app.isUnlimited ? nil : (app, state.apps.left(client.app, app, now: now))
            )
        }
    }

    private static func refusal(_ name: String, _ rate: Rate, _ wait: TimeAmount) -> RTMError {
        RTMError(
            .operationRateExceedLimitation, "more than \(rate.perSecond) requests a second",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(name: name, value: UInt64(rate.perSecond)))
    }
}
