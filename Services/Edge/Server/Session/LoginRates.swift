import NIOCore
import RTMModel

/// How often the users of an edge have logged in lately. Pure: it is told the time.
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
            limit: .init(name: "logins per second", value: UInt64(rates.login.perSecond)))
    }
}

/// How many publishes that are sent again pass without the rate of their channel. The first sending has paid
/// for them, and a refusal would call a message unpublished that was published. The edge can't know whether
/// there was a first sending, so a user has as many of them as a client keeps, and they come back no faster
/// than the user may publish: more logins don't make it more. Pure: it is told the time.
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
