import NIOCore
import RTMModel
import Synchronization

/// The rates that all loops of an edge count together. They are asked at logins and for publishes that are
/// sent again, never for an ordinary message.
final class SharedRates: Sendable {
    private let publishes: [String: AppPublishRate]
    private let logins = Mutex(LoginRates())
    private let repeats = Mutex(RepeatRates())

    init(_ applications: [Application]) {
        publishes = Dictionary(
            applications.map { ($0.id, AppPublishRate($0.rates.appPublish)) }
        ) { _, last in last }
    }

    /// What the sessions of the app may publish together.
    func publishes(of application: Application) -> AppPublishRate {
        publishes[application.id] ?? AppPublishRate(.unlimited)
    }

    func login(_ userID: String, of application: Application, now: NIODeadline) throws(RTMError) {
        try logins.withLock { logins throws(RTMError) in
            try logins.login(application.id, userID, application.rates, now: now)
        }
    }

    /// Whether a publish that is sent again passes without the rate of its channel.
    func passesAgain(_ session: Session, now: NIODeadline) -> Bool {
        let rates = session.application.rates
        return repeats.withLock { $0.passes(session.appID, session.userID, rates, now: now) }
    }
}
