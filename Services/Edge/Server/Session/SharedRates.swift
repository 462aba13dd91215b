import NIOCore
import RTMModel
import Synchronization

/// The rates and quotas that all loops of an edge count together. They are asked at logins and for publishes
/// that are sent again, never for an ordinary message.
final class SharedRates: Sendable {
    /// How many sessions the apps have (L-42).
    let sessions = AppSessions()
    private let publishes: Mutex<[String: AppPublishRate]>
    private let logins = Mutex(LoginRates())
    private let repeats = Mutex(RepeatRates())

    init(_ applications: [Application]) {
        publishes = Mutex([:])
        take(applications)
    }

    /// Takes over the apps of a new configuration. What an app has used up of a rate that stays the same
    /// remains used up.
    func take(_ applications: [Application]) {
        publishes.withLock { present in
            var next: [String: AppPublishRate] = [:]
            for application in applications {
                let (id, rate) = (application.id, application.rates.appPublish)
                next[id] = present[id].flatMap { $0.rate == rate ? $0 : nil } ?? AppPublishRate(rate)
            }
            present = next
        }
        let present = Set(applications.map(\.id))
        logins.withLock { $0.forget(appsExcept: present) }
        repeats.withLock { $0.forget(appsExcept: present) }
    }

    /// What the sessions of the app may publish together.
    func publishes(of application: Application) -> AppPublishRate {
        publishes.withLock { $0[application.id] } ?? AppPublishRate(application.rates.appPublish)
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
