import NIOCore
import RTMModel
import RTMServiceKit
import Synchronization

/// The rates and quotas that all loops of an edge count together. They are asked at logins, for changes of
/// states and for publishes that are sent again, never for an ordinary message.
final class SharedRates: Sendable {
    /// How many sessions the apps have (L-42).
    let sessions = AppSessions()
    private let publishes: Mutex<[String: AppPublishRate]>
    private let logins = Mutex(LoginRates())
    private let repeats = Mutex(RepeatRates())
    private let states = Mutex(ByteRates())
    private let pages = Mutex(ByteRates())

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
        states.withLock { $0.forget(appsExcept: present) }
        pages.withLock { $0.forget(appsExcept: present) }
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

extension SharedRates {
    /// Throws while the user has announced more states than it may.
    func checkStates(of session: Session, now: NIODeadline) throws(RTMError) {
        let rate = session.application.rates.stateBytes
        try states.withLock { states throws(RTMError) in
            try states.check(session.appID, session.userID, rate, .stateBytes, now: now)
        }
    }

    /// Charges the user for a change of states that was announced.
    ///
    /// - Parameter cost: the bytes of the event, times the users who get it.
    func announcedStates(_ cost: UInt64, of session: Session, now: NIODeadline) {
        let rate = session.application.rates.stateBytes
        guard cost > 0, !rate.isUnlimited else { return }
        states.withLock { $0.spend(Int(clamping: cost), session.appID, session.userID, rate, now: now) }
    }

    /// Whose budget is that of all users of an app. No user has this name.
    private static let everybody = ""

    /// Throws while the user, or its app, has been answered more bytes than it may.
    func checkPages(of session: Session, now: NIODeadline) throws(RTMError) {
        let rates = session.application.rates
        try pages.withLock { pages throws(RTMError) in
            try pages.check(session.appID, session.userID, rates.pageBytes, .pageBytes, now: now)
            try pages.check(session.appID, Self.everybody, rates.appPageBytes, .appPageBytes, now: now)
        }
    }

    /// Charges the user and the app for the answer to a query.
    func answered(_ bytes: Int, to session: Session, now: NIODeadline) {
        let rates = session.application.rates
        pages.withLock { pages in
            pages.spend(bytes, session.appID, session.userID, rates.pageBytes, now: now)
            pages.spend(bytes, session.appID, Self.everybody, rates.appPageBytes, now: now)
        }
    }
}

/// How often the users of an edge have logged in lately. Pure: the time is a parameter.
struct LoginRates {
    /// By app, because the apps have rates of their own.
    private var logins: [String: TokenBuckets<String>] = [:]

    mutating func forget(appsExcept present: Set<String>) {
        logins = logins.filter { present.contains($0.key) }
    }

    mutating func login(
        _ appID: String, _ userID: String, _ rates: ApplicationRates, now: NIODeadline
    ) throws(RTMError) {
        guard !rates.login.isUnlimited,
            let wait = logins[appID, default: TokenBuckets()].take(userID, rates.login, now: now)
        else { return }
        throw RTMError(
            .loginRejected, "user \"\(userID)\" may log in \(rates.login.perSecond) times a second",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(.login, rates.login.perSecond))
    }
}

/// How many publishes that are sent again pass without the rate of their channel. The first sending has paid
/// for them, and a refusal would call a message unpublished that was published. The edge can't know whether
/// there was a first sending, so a user has as many of them as a client keeps, and they come back no faster
/// than the user may publish: more logins don't make it more. Pure: the time is a parameter.
struct RepeatRates {
    private var repeats: [String: TokenBuckets<String>] = [:]

    mutating func forget(appsExcept present: Set<String>) {
        repeats = repeats.filter { present.contains($0.key) }
    }

    mutating func passes(
        _ appID: String, _ userID: String, _ rates: ApplicationRates, now: NIODeadline
    ) -> Bool {
        guard !rates.publish.isUnlimited else { return true }
        let rate = Rate(perSecond: rates.publish.perSecond, burst: Limits.repeatedPublishesMax)
        return repeats[appID, default: TokenBuckets()].take(userID, rate, now: now) == nil
    }
}

/// How many bytes each user has caused lately that are counted when they are known: states that were
/// announced, times the users who got them, or answers to queries. The budget is the user's and
/// not the session's, so another login doesn't renew it. Pure: the time is a parameter.
struct ByteRates {
    private var users: [String: TokenBuckets<String>] = [:]

    mutating func forget(appsExcept present: Set<String>) {
        users = users.filter { present.contains($0.key) }
    }

    /// A user who has spent more than there is waits until that is made up for, so it keeps the rate in the
    /// long run.
    mutating func check(
        _ appID: String, _ userID: String, _ rate: Rate, _ limit: RateLimit, now: NIODeadline
    ) throws(RTMError) {
        guard !rate.isUnlimited, let wait = users[appID]?.wait(userID, rate, now: now) else { return }
        throw RTMError(
            .operationRateExceedLimitation, "\(rate.perSecond) \(limit.rawValue) are allowed",
            retryAfter: .nanoseconds(wait.nanoseconds), limit: .init(limit, rate.perSecond))
    }

    mutating func spend(
        _ count: Int, _ appID: String, _ userID: String, _ rate: Rate, now: NIODeadline
    ) {
        guard !rate.isUnlimited else { return }
        users[appID, default: TokenBuckets()].spend(count, of: userID, rate, now: now)
    }
}

/// How many sessions each app has at this edge, on all its loops (L-42). Logins under way count, too.
final class AppSessions: Sendable {
    /// Sessions end all the time, so who is refused comes back soon.
    private static let retryAfter: Duration = .seconds(5)

    private let counts = Mutex<[String: Int]>([:])

    /// One more session; throws if the app has all that it may have.
    func enter(_ application: Application) throws(RTMError) {
        let sessionsMax = application.sessionsMax
        let isBelowLimit = counts.withLock { counts in
            let count = counts[application.id, default: 0]
            guard sessionsMax == 0 || count < sessionsMax else { return false }
            counts[application.id] = count + 1
            return true
        }
        guard !isBelowLimit else { return }
        throw RTMError(
            .loginNoServerResources,
            "app \"\(application.id)\" has as many sessions at this edge as it may have",
            retryAfter: Self.retryAfter,
            limit: .init(name: "sessions of an app", value: UInt64(sessionsMax)))
    }

    func leave(_ appID: String) {
        counts.withLock { counts in
            let count = counts[appID, default: 1] - 1
            counts[appID] = count > 0 ? count : nil
        }
    }
}
