import NIOCore
import RTMModel
import RTMWire

/// How often the users of an app may do what (docs/behaviour.md). 0 means that there is no limit.
struct ApplicationRates: Sendable, Hashable {
    /// Messages of one session to one channel or user, per second.
    var publish: Rate
    /// All other calls of one session, per second.
    var calls: Rate
    /// Subscribes of one session to the same channel within five seconds.
    var subscribesMax: Int
    /// Logins of one user, per second.
    var login: Rate
    /// Calls for the metadata of channels and of users: so many per second in the long run, and
    /// twice as many at once.
    var channelMetadata: Rate
    var userMetadata: Rate
    /// Subscribes to the metadata of users. A client that comes back takes all of them up again (S-19),
    /// so that many more may come at once.
    var userMetadataSubscribes: Rate
    /// Renewals of the session's token, per second. Verifying a token costs more than sending one.
    var renewal: Rate
    /// Acquires of locks, per second. A client that comes back claims its locks again, or waits for
    /// them anew (K-6, K-12), so that many more may come at once.
    var acquireLock: Rate

    /// - Parameter subscriptionsMax: that many more calls may come at once, because a client that comes back
    ///   takes all its subscriptions up again.
    init(
        publish: Int, calls: Int, subscribesMax: Int, login: Int, subscriptionsMax: Int,
        channelMetadata: Int = 10, userMetadata: Int = 10, acquireLock: Int = 10, renewal: Int = 2
    ) {
        self.publish = Rate(perSecond: publish)
        self.calls = Rate(perSecond: calls, burst: calls + subscriptionsMax)
        self.subscribesMax = subscribesMax
        self.login = Rate(perSecond: login)
        self.channelMetadata = Rate(perSecond: channelMetadata, burst: 2 * channelMetadata)
        self.userMetadata = Rate(perSecond: userMetadata, burst: 2 * userMetadata)
        userMetadataSubscribes = Rate(
            perSecond: userMetadata, burst: 2 * userMetadata + Limits.userMetadataSubscriptionsMax)
        self.renewal = Rate(perSecond: renewal)
        self.acquireLock = Rate(perSecond: acquireLock, burst: acquireLock + SessionLocks.acquiresMax)
    }

    static let unlimited = ApplicationRates(
        publish: 0, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 0, channelMetadata: 0,
        userMetadata: 0, acquireLock: 0, renewal: 0)
}

/// How often a session has done what lately. Each refusal names the limit, its value, and when to try again.
/// A call that is refused has no effect.
struct SessionRates {
    private struct Target: Hashable {
        let type: ChannelType
        let name: String
    }

    private var repeated = 0
    private var calls: TokenBucket?
    private var renewals: TokenBucket?
    private var channelMetadata: TokenBucket?
    private var userMetadata: TokenBucket?
    private var userMetadataSubscribes: TokenBucket?
    private var acquires: TokenBucket?
    private var publishes = TokenBuckets<Target>()
    private var subscribes = RecentEvents<String>(within: .seconds(5))

    mutating func call(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try Self.take(&calls, rates.calls, now, .operationRateExceedLimitation, "calls")
    }

    /// A call that is passed on: each kind has the rate that the rules give it.
    mutating func call(
        _ call: ClientCall, _ rates: ApplicationRates, now: NIODeadline
    ) throws(RTMError) {
        switch call.kind {
        case .writeMetadata, .getMetadata:
            if call.channelType == ChannelType.none {
                try userMetadata(rates, now: now)
            } else {
                try Self.take(
                    &channelMetadata, rates.channelMetadata, now, .operationRateExceedLimitation,
                    "calls for channel metadata")
            }
        case .acquireLock:
            try Self.take(
                &acquires, rates.acquireLock, now, .lockOperationFailed, "acquires of locks")
        default:
            try self.call(rates, now: now)
        }
    }

    mutating func userMetadata(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try Self.take(
            &userMetadata, rates.userMetadata, now, .operationRateExceedLimitation,
            "calls for user metadata")
    }

    mutating func subscribeUserMetadata(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try Self.take(
            &userMetadataSubscribes, rates.userMetadataSubscribes, now, .operationRateExceedLimitation,
            "subscribes to user metadata")
    }

    private static func take(
        _ bucket: inout TokenBucket?, _ rate: Rate, _ now: NIODeadline, _ code: ErrorCode, _ what: String
    ) throws(RTMError) {
        guard !rate.isUnlimited else { return }
        var taken = bucket ?? TokenBucket(rate, now: now)
        let wait = taken.take(rate, now: now)
        bucket = taken
        guard let wait else { return }
        throw RTMError(
            code, "\(rate.perSecond) \(what) a second are allowed",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(name: "\(what) per second", value: UInt64(rate.perSecond)))
    }

    mutating func renewal(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try Self.take(&renewals, rates.renewal, now, .operationRateExceedLimitation, "token renewals")
    }

    mutating func publish(
        _ type: ChannelType, _ channel: WireText, _ rates: ApplicationRates, now: NIODeadline
    ) throws(RTMError) {
        guard !rates.publish.isUnlimited else { return }
        let target = Target(type: type, name: channel.string)
        guard let wait = publishes.take(target, rates.publish, now: now) else { return }
        throw RTMError(
            .channelPublishMessageTooFrequent,
            "\(rates.publish.perSecond) messages a second to one channel or user are allowed",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(name: "messages per second", value: UInt64(rates.publish.perSecond)))
    }

    /// Whether one more publish that is sent again passes without the rates. The session that sent it first
    /// has paid for it, and a refusal now would call a message unpublished that was published. A session has
    /// as many of these as a client keeps; logins have a rate of their own.
    mutating func repeats() -> Bool {
        guard repeated < Limits.repeatedPublishesMax else { return false }
        repeated += 1
        return true
    }

    mutating func subscribe(_ channel: String, _ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        let countMax = rates.subscribesMax
        guard countMax > 0, let wait = subscribes.take(channel, countMax: countMax, now: now) else { return }
        throw RTMError(
            .channelSubscribeTooFrequent,
            "channel \"\(channel)\" may be subscribed \(countMax) times in five seconds",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(name: "subscribes in five seconds", value: UInt64(countMax)))
    }
}

/// How often the users of a loop have logged in lately.
struct LoginRates {
    private struct User: Hashable {
        let appID: String
        let userID: String
    }

    private var logins = TokenBuckets<User>()

    mutating func login(
        _ appID: String, _ userID: String, _ rates: ApplicationRates, now: NIODeadline
    ) throws(RTMError) {
        guard !rates.login.isUnlimited,
            let wait = logins.take(User(appID: appID, userID: userID), rates.login, now: now)
        else { return }
        throw RTMError(
            .loginRejected, "user \"\(userID)\" may log in \(rates.login.perSecond) times a second",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(name: "logins per second", value: UInt64(rates.login.perSecond)))
    }
}
