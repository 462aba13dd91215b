package import NIOCore

/// How often something may happen: `perSecond` in the long run, and `burst` at once after a rest.
package struct Rate: Sendable, Hashable {
    /// 0 if there is no limit.
    package var perSecond: Int
    package var burst: Int

    package init(perSecond: Int, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = burst ?? perSecond
    }

    package init(perSecond: Int, timesAtOnce: Int) {
        self.init(perSecond: perSecond, burst: perSecond * timesAtOnce)
    }

    package var isUnlimited: Bool { perSecond == 0 }
}

/// A rate limit that forgets by itself: it holds `burst` tokens, an event takes one, and `perSecond` tokens
/// come back every second. Pure: the time is a parameter.
package struct TokenBucket {
    private var tokens: Double
    private var updated: NIODeadline

    package init(_ rate: Rate, now: NIODeadline) {
        tokens = Double(rate.burst)
        updated = now
    }

    /// Takes a token, or returns how long it takes until there is one.
    package mutating func take(_ rate: Rate, now: NIODeadline) -> TimeAmount? {
        let wait = wait(for: 1, rate, now: now)
        if wait == nil { spend(1) }
        return wait
    }

    /// How long it takes until there are so many tokens; nil if there are enough now. Takes none.
    package mutating func wait(for count: Int, _ rate: Rate, now: NIODeadline) -> TimeAmount? {
        refill(rate, now: now)
        let missing = Double(count) - tokens
        guard missing > 0 else { return nil }
        return .nanoseconds(Int64(missing / Double(rate.perSecond) * 1e9) + 1)
    }

    /// Takes tokens that are there.
    package mutating func spend(_ count: Int) { tokens -= Double(count) }

    /// Takes as many whole tokens as are there, up to a number, and returns how many.
    package mutating func spend(upTo count: Int) -> Int {
        let taken = min(count, Int(tokens))
        spend(taken)
        return taken
    }

    /// Whether it is full again. A full bucket can be forgotten without any effect.
    package func isFull(_ rate: Rate, now: NIODeadline) -> Bool {
        var copy = self
        copy.refill(rate, now: now)
        return copy.tokens >= Double(rate.burst)
    }

    /// How many whole tokens there are; negative if some are owed.
    package func left(_ rate: Rate, now: NIODeadline) -> Int {
        var copy = self
        copy.refill(rate, now: now)
        return Int(copy.tokens.rounded(.down))
    }

    private mutating func refill(_ rate: Rate, now: NIODeadline) {
        guard now > updated else { return }
        let seconds = Double((now - updated).nanoseconds) / 1e9
        tokens = min(Double(rate.burst), tokens + seconds * Double(rate.perSecond))
        updated = now
    }
}

/// A bucket for each of many keys. Full buckets are forgotten, so the memory is bounded by what happens
/// within the time that a bucket takes to fill.
package struct TokenBuckets<Key: Hashable> {
    private static var pruneMin: Int { 64 }

    private var buckets: [Key: TokenBucket] = [:]
    private var pruneAt = Self.pruneMin

    package var count: Int { buckets.count }

    package init() {}

    /// Does what `TokenBucket.take` does, for one key.
    package mutating func take(_ key: Key, _ rate: Rate, now: NIODeadline) -> TimeAmount? {
        forgetFull(rate, now: now)
        return buckets[key, default: TokenBucket(rate, now: now)].take(rate, now: now)
    }

    /// How long it takes until one key has a token; nil if it has one now. Takes none.
    package mutating func wait(_ key: Key, _ rate: Rate, now: NIODeadline) -> TimeAmount? {
        buckets[key]?.wait(for: 1, rate, now: now)
    }

    /// How many whole tokens one key has.
    package func left(_ key: Key, _ rate: Rate, now: NIODeadline) -> Int {
        buckets[key]?.left(rate, now: now) ?? rate.burst
    }

    /// Takes tokens of one key, which may owe some afterwards.
    package mutating func spend(_ count: Int, of key: Key, _ rate: Rate, now: NIODeadline) {
        forgetFull(rate, now: now)
        var bucket = buckets[key] ?? TokenBucket(rate, now: now)
        // Brings the bucket up to now first.
        _ = bucket.wait(for: 1, rate, now: now)
        bucket.spend(count)
        buckets[key] = bucket
    }

    private mutating func forgetFull(_ rate: Rate, now: NIODeadline) {
        guard buckets.count >= pruneAt else { return }
        buckets = buckets.filter { !$0.value.isFull(rate, now: now) }
        pruneAt = max(Self.pruneMin, 2 * buckets.count)
    }
}
