package import RTMModel

/// Decides when the keys of a URL are fetched, which of them hold, and what a token gets whose key isn't
/// among them. Pure: it gets the time.
///
/// An issuer that changes its keys is followed at once, because a token with an unknown key has the keys
/// fetched. Tokens are cheap to make up, so such fetches have a distance, and the names that were looked for
/// in vain are remembered: a token that names one of them is refused for good.
package struct JWTKeyRefresh: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package struct Timing: Sendable {
        /// How long after a fetch the next one begins.
        package var interval = Duration.seconds(600)
        /// An issuer may ask for a shorter interval, down to this one.
        package var intervalMin = Duration.seconds(60)
        /// How long after the begin of a fetch an unknown key may have the next one begin.
        package var earlyDistance = Duration.seconds(10)
        /// The wait after a fetch that failed, which doubles each time, and how long it becomes.
        package var failureWait = Duration.seconds(1)
        package var failureWaitMax = Duration.seconds(60)

        package init() {}
    }

    /// Limit: names of unknown keys that are remembered. A token with a further one waits for the next fetch
    /// as well, and gets the same answer each time.
    private static let namesMax = 100
    /// Limit: bytes of a name that is looked for.
    private static let nameBytesMax = 256

    private let timing: Timing
    /// Those of the latest fetch that succeeded; `nil` if none has.
    package private(set) var keys: JWTKeySet?
    /// When the next fetch begins; `nil` while one is under way.
    package private(set) var dueAt: Instant?
    /// Before that no fetch begins for an unknown key.
    private var earliest: Instant
    private var failures = 0
    /// Names of unknown keys that the next fetch looks for, those that the present one does, and those that
    /// the latest one didn't find.
    private var wanted: Set<String> = []
    private var lookedFor: Set<String> = []
    private var missing: Set<String> = []

    package init(_ timing: Timing = Timing(), now: Instant) {
        self.timing = timing
        dueAt = now
        earliest = now
    }

    /// - Returns: whether a fetch is due, which then begins.
    package mutating func begin(now: Instant) -> Bool {
        guard let due = dueAt, now >= due else { return false }
        dueAt = nil
        earliest = now + timing.earlyDistance
        (lookedFor, wanted, missing) = (wanted, [], [])
        return true
    }

    /// The fetch has brought keys.
    ///
    /// - Parameters:
    ///   - lifetime: how long the issuer calls the document fresh (`Cache-Control: max-age`).
    ///   - random: from 0 to 1, so that not all servers ask at the same time.
    package mutating func fetched(
        _ keys: JWTKeySet, freshFor lifetime: Duration?, random: Double, now: Instant
    ) {
        self.keys = keys
        failures = 0
        missing = lookedFor.filter { !keys.hasKey(named: $0) }
        wanted = wanted.filter { !keys.hasKey(named: $0) }
        let interval = min(max(lifetime ?? timing.interval, timing.intervalMin), timing.interval)
        let next = now + interval * (1 - random / 10)
        dueAt = wanted.isEmpty ? next : min(next, max(now, earliest))
    }

    /// The fetch has failed, and the keys that are there hold.
    package mutating func failed(random: Double, now: Instant) {
        failures += 1
        wanted = Set(wanted.union(lookedFor).prefix(Self.namesMax))
        let wait = min(timing.failureWait * (1 << min(failures - 1, 16)), timing.failureWaitMax)
        dueAt = now + wait * (1 + random / 10)
    }

    /// Why a token is refused that names a key which isn't here.
    package mutating func refusal(ofKey name: String, now: Instant) -> RTMError {
        let isKnownToBeMissing = missing.contains(name) && now < earliest
        guard !isKnownToBeMissing, name.utf8.count <= Self.nameBytesMax else { return .unknownKey(name) }
        if wanted.count < Self.namesMax { wanted.insert(name) }
        if failures == 0, let due = dueAt { dueAt = min(due, max(now, earliest)) }
        return unavailable("the token is signed with the key \(name.quoted), which is being looked for", now)
    }

    /// Why a token is refused while there are no keys.
    package func unavailable(now: Instant) -> RTMError { unavailable("there are no keys of JWTs", now) }

    private func unavailable(_ what: String, _ now: Instant) -> RTMError {
        let why = failures > 0 ? "; the keys can't be fetched at present" : ""
        // The fetch takes a moment, too.
        let wait = (dueAt.map { max(.zero, $0 - now) } ?? .zero) + .seconds(1)
        return RTMError(.loginNoServerResources, "\(what)\(why)", retryAfter: wait)
    }
}

/// What has the keys that the JWTs of an app may be signed with.
package protocol JWTKeySource: Sendable {
    /// Checks that a token is signed with one of the keys.
    ///
    /// - Throws: `.invalidToken` (-10005) with the reason, or `.loginNoServerResources` (-10010) with a time
    ///   to wait where the keys aren't there at present.
    func check(_ signed: SignedJWT) throws(RTMError)
}
