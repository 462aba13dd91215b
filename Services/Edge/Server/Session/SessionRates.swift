import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire

/// How often the users of an app may do what (docs/behaviour.md). 0 means that there is no limit.
struct ApplicationRates: Sendable, Hashable {
    /// Messages of one session to one channel or user, per second.
    var publish: Rate
    /// Messages of one session to one topic, per second.
    var topicPublish: Rate
    /// Messages of one session to all channels and users together.
    var sessionPublish: PublishRate
    /// Messages of all sessions of the app together, at one edge.
    var appPublish: PublishRate
    /// All other calls of one session, per second.
    var calls: Rate
    /// Subscribes of one session to the same channel within five seconds.
    var subscribesMax: Int
    /// Logins of one user, per second: five times as many at once, because networks that change bring
    /// a client back several times in a row.
    var login: Rate
    /// Calls for the metadata of channels and of users: so many per second in the long run, and
    /// twice as many at once.
    var channelMetadata: Rate
    var userMetadata: Rate
    /// Subscribes to the metadata of users, counted apart from the other calls.
    var userMetadataSubscribes: Rate
    /// Renewals of the session's token, per second. Verifying a token costs more than sending one.
    var renewal: Rate
    /// Acquires of locks, per second.
    var acquireLock: Rate
    /// Bytes of temporary states of one user, times the users who get them, per second: four times as many at
    /// once, so that a user can show all its states to a channel whose changes are announced one by one
    ///
    var stateBytes: Rate
    /// Bytes of what the queries of one user are answered with, per second: sixteen times as many at once,
    /// for a client that shows much at its start.
    var pageBytes: Rate
    /// The same of all users of the app at one edge.
    var appPageBytes: Rate
    /// What a client that comes back takes up again, beside its rates.
    let restorable: Restorable

    /// - Parameter subscriptionsMax: as many channels may be subscribed again after a return.
    init(
        publish: Int, calls: Int, subscribesMax: Int, login: Int, subscriptionsMax: Int,
        channelMetadata: Int = 10, userMetadata: Int = 10, acquireLock: Int = 10, renewal: Int = 2,
        sessionPublish: PublishRate = .unlimited, appPublish: PublishRate = .unlimited,
        topicPublish: Int = 0, stateBytes: Int = 0, pageBytes: Int = 0, appPageBytes: Int = 0
    ) {
        self.publish = Rate(perSecond: publish)
        self.topicPublish = Rate(perSecond: topicPublish)
        self.sessionPublish = sessionPublish
        self.appPublish = appPublish
        self.calls = Rate(perSecond: calls)
        self.subscribesMax = subscribesMax
        self.login = Rate(perSecond: login, timesAtOnce: 5)
        self.channelMetadata = Rate(perSecond: channelMetadata, burst: 2 * channelMetadata)
        self.userMetadata = Rate(perSecond: userMetadata, burst: 2 * userMetadata)
        userMetadataSubscribes = Rate(perSecond: userMetadata, burst: 2 * userMetadata)
        self.renewal = Rate(perSecond: renewal)
        self.acquireLock = Rate(perSecond: acquireLock)
        self.stateBytes = Rate(perSecond: stateBytes, timesAtOnce: 4)
        self.pageBytes = Rate(perSecond: pageBytes, timesAtOnce: 16)
        self.appPageBytes = Rate(perSecond: appPageBytes, timesAtOnce: 2)
        restorable = Restorable(
            subscribes: UInt32(clamping: subscriptionsMax),
            followedUsers: UInt32(Limits.userMetadataSubscriptionsMax),
            acquires: UInt32(SessionLocks.acquiresMax))
    }

    static let unlimited = ApplicationRates(
        publish: 0, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 0, channelMetadata: 0,
        userMetadata: 0, acquireLock: 0, renewal: 0)
}

/// What a client that comes back takes up again at once (S-19, K-6, K-12): its subscriptions, the users whose
/// metadata it follows, and its locks. Each counts once, and not for the rates. A session that isn't a return
/// has none of it.
struct Restorable: Sendable, Hashable {
    var subscribes: UInt32 = 0
    var followedUsers: UInt32 = 0
    var acquires: UInt32 = 0

    /// What the login brought with it isn't taken up a second time.
    func without(_ taken: LoginSubscriptions?) -> Restorable {
        var rest = self
        rest.subscribes -= min(subscribes, UInt32(taken?.channels.count ?? 0))
        rest.followedUsers -= min(followedUsers, UInt32(taken?.users.count ?? 0))
        return rest
    }

    fileprivate static func take(_ count: inout UInt32) -> Bool {
        guard count > 0 else { return false }
        count -= 1
        return true
    }
}

/// How often a session has done what lately. Each refusal names the limit, its value, and when to try again.
/// A call that is refused has no effect.
struct SessionRates {
    private enum CallKind {
        case any, renewal, channelMetadata, userMetadata, userMetadataSubscribe, acquire
    }

    private struct Target: Hashable {
        let type: ChannelType
        let name: String
    }

    /// What is left to publish to all channels together.
    var publishBudget = PublishBudget()
    private var restorable: Restorable
    /// Requests that were refused since they were last asked for.
    private var refusals: UInt32 = 0
    /// One for each kind of call that the session has made. Most sessions make one kind or none, so a list
    /// takes less memory than a bucket for each kind, and less than a dictionary.
    private var calls: [(kind: CallKind, bucket: TokenBucket)] = []
    private var publishes = TokenBuckets<Target>()
    private var subscribes = RecentEvents<String>(within: .seconds(5))

    /// - Parameter restorable: what a client that comes back may take up again.
    init(restoring restorable: Restorable = Restorable()) { self.restorable = restorable }

    /// How many requests were refused since the last time.
    mutating func takeRefusals() -> Int {
        defer { refusals = 0 }
        return Int(refusals)
    }

    /// A request exceeded a rate.
    mutating func refused() { refusals += 1 }

    mutating func call(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try take(.any, rates.calls, now, .operationRateExceedLimitation, .calls)
    }

    /// A subscribe to a channel counts as a call, unless it takes up a subscription of before.
    mutating func callToSubscribe(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        if !Restorable.take(&restorable.subscribes) { try call(rates, now: now) }
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
                try take(
                    .channelMetadata, rates.channelMetadata, now, .operationRateExceedLimitation,
                    .channelMetadata)
            }
        case .acquireLock where Restorable.take(&restorable.acquires): return
        case .acquireLock:
            try take(
                .acquire, rates.acquireLock, now, .lockOperationFailed, .acquireLock)
        default:
            try self.call(rates, now: now)
        }
    }

    mutating func userMetadata(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try take(
            .userMetadata, rates.userMetadata, now, .operationRateExceedLimitation,
            .userMetadata)
    }

    mutating func subscribeUserMetadata(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        if Restorable.take(&restorable.followedUsers) { return }
        try take(
            .userMetadataSubscribe, rates.userMetadataSubscribes, now, .operationRateExceedLimitation,
            .userMetadataSubscribes)
    }

    private mutating func take(
        _ kind: CallKind, _ rate: Rate, _ now: NIODeadline, _ code: ErrorCode, _ limit: RateLimit
    ) throws(RTMError) {
        guard !rate.isUnlimited else { return }
        let index = calls.firstIndex { $0.kind == kind } ?? calls.endIndex
        if index == calls.endIndex { calls.append((kind, TokenBucket(rate, now: now))) }
        guard let wait = calls[index].bucket.take(rate, now: now) else { return }
        refused()
        throw RTMError(
            code, "\(rate.perSecond) \(limit.rawValue) are allowed",
            retryAfter: .nanoseconds(wait.nanoseconds), limit: .init(limit, rate.perSecond))
    }

    mutating func renewal(_ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        try take(.renewal, rates.renewal, now, .operationRateExceedLimitation, .renewal)
    }

    /// Takes one message to the channel, user or topic, or returns what it exceeds.
    mutating func publish(
        _ type: ChannelType, _ channel: WireText, _ rates: ApplicationRates, now: NIODeadline
    ) -> PublishShortage? {
        let rate = type == .topic ? rates.topicPublish : rates.publish
        guard !rate.isUnlimited else { return nil }
        let target = Target(type: type, name: channel.string)
        guard let wait = publishes.take(target, rate, now: now) else { return nil }
        return PublishShortage(
            limit: type == .topic ? .topic : .channel, perSecond: rate.perSecond, wait: wait)
    }

    mutating func subscribe(_ channel: String, _ rates: ApplicationRates, now: NIODeadline) throws(RTMError) {
        let countMax = rates.subscribesMax
        guard countMax > 0, let wait = subscribes.take(channel, countMax: countMax, now: now) else { return }
        refused()
        throw RTMError(
            .channelSubscribeTooFrequent,
            "channel \"\(channel)\" may be subscribed \(countMax) times in five seconds",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(.subscribe, countMax))
    }
}

extension RTMError.Limit {
    init(_ rate: RateLimit, _ value: Int) { self.init(name: rate.rawValue, value: UInt64(value)) }
}
