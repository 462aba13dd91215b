import Foundation

/// Tells a link what time it is. Its timers are those of its event loop. A simulation gives both the same
/// virtual time.
struct LinkClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// What the wall clock shows, in milliseconds since 1970.
    var utcMilliseconds: @Sendable () -> Int64

    static let system = LinkClock(
        now: { .now }, utcMilliseconds: { Int64(Date().timeIntervalSince1970 * 1000) })
}
