import Logging
import NIOCore
import RTMModel
import RTMServiceKit

/// One log line for each login, each end of a session, and each refused login, and their metrics.
///
/// Anybody can have logins refused as fast as connections open. So those lines have a budget for each cause,
/// and the next line says how many were left out. What a client sent is cut.
final class SessionLog {
    private let logger: Logger
    private let metrics: EdgeMetrics
    private let wallClock: () -> UInt64
    private var refusals = LineBudgets<ErrorCode>()
    /// The latest ends, for operators.
    private(set) var ends: SessionEnds
    /// The latest refused logins.
    private(set) var refusedLogins: FactRing<RefusedLogin>

    struct RefusedLogin: DatedFact {
        /// Limit: refused logins that are remembered; one more replaces the oldest.
        fileprivate static let countMax = 512

        let appID: String
        let userID: String
        let code: ErrorCode
        let reason: String
        let at: UInt64
    }

    /// - Parameter wallClock: the time in milliseconds (UTC).
    init(_ logger: Logger, _ metrics: EdgeMetrics, wallClock: @escaping () -> UInt64) {
        self.logger = logger
        self.metrics = metrics
        self.wallClock = wallClock
        ends = SessionEnds(now: wallClock())
        refusedLogins = FactRing(RefusedLogin.countMax, now: wallClock())
    }

    /// - Parameter address: is asked for only if the line is logged: to find it costs microseconds.
    func loggedIn(_ session: Session, from address: @autoclosure () -> String) {
        metrics.loginAccepted()
        logger.info(
            "logged in",
            metadata: [
                "app": "\(session.appID)", "user": "\(session.userID)",
                "session": "\(session.id.rawValue)",
                "address": "\(address())", "return": .stringConvertible(session.isReturn),
            ])
    }

    /// - Parameter cause: the code of the Disconnect, or what happened to the connection.
    func ended(_ session: Session, _ cause: String, from address: String) {
        ends.append(
            SessionEnds.End(
                appID: session.appID, userID: session.userID, session: session.id.rawValue, at: wallClock(),
                address: address, cause: cause))
        logger.info(
            "session ended",
            metadata: [
                "app": "\(session.appID)", "user": "\(session.userID)",
                "session": "\(session.id.rawValue)",
                "address": "\(address)", "cause": "\(cause)",
            ])
    }

    func refused(_ error: RTMError, app: String, user: String, from address: String, now: NIODeadline) {
        metrics.loginRefused(LoginRefusal(error))
        metrics.apps[app].loginRefused()
        refusedLogins.append(
            RefusedLogin(
                appID: app.cut(), userID: user.cut(), code: error.code, reason: error.reason.cut(200),
                at: wallClock()))
        guard let omitted = refusals.take(error.code, now: now) else { return }
        var facts: Logger.Metadata = [
            "app": "\(app.cut())", "user": "\(user.cut())", "address": "\(address)",
            "code": .stringConvertible(error.code.rawValue), "cause": "\(error.reason.cut(200))",
        ]
        if omitted > 0 { facts["omitted"] = .stringConvertible(omitted) }
        logger.info("login refused", metadata: facts)
    }
}

/// How many lines of one kind may be logged. Pure: the time is a parameter.
struct LineBudget {
    private let rate: Rate
    private var bucket: TokenBucket?
    private var omitted = 0

    init(perSecond: Int, burst: Int) { rate = Rate(perSecond: perSecond, burst: burst) }

    /// Nil if the line has to be left out; otherwise how many lines were left out before it.
    mutating func take(now: NIODeadline) -> Int? {
        var bucket = self.bucket ?? TokenBucket(rate, now: now)
        let wait = bucket.take(rate, now: now)
        self.bucket = bucket
        guard wait == nil else {
            omitted += 1
            return nil
        }
        defer { omitted = 0 }
        return omitted
    }
}

/// The budgets of lines about refusals, one for each cause, of which there are few. Pure.
struct LineBudgets<Cause: Hashable> {
    private var budgets: [Cause: LineBudget] = [:]

    /// Nil if the line has to be left out; otherwise how many lines of that cause were left out before it.
    mutating func take(_ cause: Cause, now: NIODeadline) -> Int? {
        budgets[cause, default: LineBudget(perSecond: 1, burst: 10)].take(now: now)
    }
}

/// Why a login was refused, as a label of a metric.
enum LoginRefusal: String, MetricLabel {
    case app, token, user, banned, rate, quota, superseded, messaging, other
    static let labelName = "reason"

    init(_ error: RTMError) {
        switch error.code {
        case .invalidAppId: self = .app
        case .invalidToken, .tokenExpired, .loginNotAuthorized, .loginInconsistentAppId: self = .token
        case .invalidUserId: self = .user
        // Who has no time to wait is kept out by an operator (S-4).
        case .loginRejected where error.retryAfter == nil: self = .banned
        case .loginRejected, .operationRateExceedLimitation: self = .rate
        case .loginAborted: self = .superseded
        case .loginNoServerResources where error.limit != nil: self = .quota
        case .loginNoServerResources, .notConnected: self = .messaging
        default: self = .other
        }
    }
}
