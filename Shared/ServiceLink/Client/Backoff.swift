/// How long to wait before the next attempt to connect. The waits grow exponentially with full jitter, and
/// the attempts never end.
///
/// Full jitter takes a random part of the whole wait. It spreads the callers of a restarted service over the
/// time, so that they don't all come back at once. The type is pure: the random number is the caller's.
package struct Backoff: Sendable, Hashable {
    /// Upper bound of the first wait.
    package var first: Duration
    /// Upper bound of every wait.
    package var longest: Duration
    package private(set) var failures = 0

    /// With these bounds a caller finds a service within half a second after it has come back, however long
    /// it was away.
    package init(first: Duration = .milliseconds(50), longest: Duration = .milliseconds(500)) {
        self.first = first
        self.longest = longest
    }

    /// The wait after one more failure; `random` is in 0..<1.
    package mutating func next(random: Double) -> Duration {
        // Beyond 30 doublings every sensible `first` has reached `longest`.
        let doublings = min(failures, 30)
        failures = doublings + 1
        return min(longest, first * (1 << doublings)) * random
    }

    package mutating func reset() { failures = 0 }
}
