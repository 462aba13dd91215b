import NIOCore
import RTMModel
import RTMServiceKit
import Synchronization

/// How often each key, each user with a token and each app calls this gateway (R-11).
final class RequestRates: Sendable {
    struct Rates: Sendable {
        let key: Rate
        let user: Rate
        let app: Rate

        init(_ configuration: Configuration) {
            self.init(
                key: configuration[GatewayKeys.keyRate], user: configuration[GatewayKeys.userRate],
                app: configuration[GatewayKeys.appRate])
        }

        /// Requests per second, and twice that at once.
        init(key: Int, user: Int, app: Int) {
            self.key = Rate(perSecond: key, timesAtOnce: 2)
            self.user = Rate(perSecond: user, timesAtOnce: 2)
            self.app = Rate(perSecond: app, timesAtOnce: 2)
        }

        /// Of the client by itself.
        fileprivate func rate(of client: APIClient) -> Rate { client.user == nil ? key : user }
    }

    fileprivate struct State {
        var rates: Rates
        var callers = TokenBuckets<String>()
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
        try state.withLock { state throws(RTMError) in
            try state.check(client, now)
            state.charge(count, to: client, now)
        }
    }

    /// Throws what `spend` would throw, and counts nothing.
    func check(_ client: APIClient, now: NIODeadline) throws(RTMError) {
        try state.withLock { state throws(RTMError) in try state.check(client, now) }
    }

    /// Counts what has come to light of a call that was admitted: the messages of its body behind the first,
    /// and its bytes and those of its answer (R-11). The client owes what it doesn't have.
    func charge(_ count: Int, to client: APIClient, now: NIODeadline) {
        guard count > 0 else { return }
        state.withLock { $0.charge(count, to: client, now) }
    }

    /// Counts the bytes of a body or an answer: one for each whole 8 KiB, so that the default of 500 a second
    /// is about what a session of an edge may publish.
    func charge(bytes: Int, to client: APIClient, now: NIODeadline) {
        charge(bytes / Self.bytesOfOne, to: client, now: now)
    }

    private static let bytesOfOne = 8 * 1024

    /// What the client and its app have left; nil where there is no limit.
    func left(to client: APIClient, now: NIODeadline) -> (
        key: (rate: Rate, left: Int)?, app: (rate: Rate, left: Int)?
    ) {
        state.withLock { state in
            let (own, app) = (state.rates.rate(of: client), state.rates.app)
            return (
                own.isUnlimited ? nil : (own, state.callers.left(client.name, own, now: now)),
                app.isUnlimited ? nil : (app, state.apps.left(client.app, app, now: now))
            )
        }
    }
}

extension RequestRates.State {
    fileprivate mutating func check(_ client: APIClient, _ now: NIODeadline) throws(RTMError) {
        let own = rates.rate(of: client)
        if !own.isUnlimited, let wait = callers.wait(client.name, own, now: now) {
            throw Self.refusal("gateway.rates.\(client.user == nil ? "key" : "user")", own, wait)
        }
        if !rates.app.isUnlimited, let wait = apps.wait(client.app, rates.app, now: now) {
            throw Self.refusal("gateway.rates.app", rates.app, wait)
        }
    }

    fileprivate mutating func charge(_ count: Int, to client: APIClient, _ now: NIODeadline) {
        let own = rates.rate(of: client)
        if !own.isUnlimited { callers.spend(count, of: client.name, own, now: now) }
        if !rates.app.isUnlimited { apps.spend(count, of: client.app, rates.app, now: now) }
    }

    private static func refusal(_ name: String, _ rate: Rate, _ wait: TimeAmount) -> RTMError {
        RTMError(
            .operationRateExceedLimitation, "more than \(rate.perSecond) requests a second",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(name: name, value: UInt64(rate.perSecond)))
    }
}
