import Foundation

/// What time it is for a link. Its timers are its event loop's; a simulation gives both one virtual time.
struct LinkClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// Of the clock on the wall, since 1970.
    var utcMilliseconds: @Sendable () -> Int64

    static let system = LinkClock(
        now: { .now }, utcMilliseconds: { Int64(Date().timeIntervalSince1970 * 1000) })
}
