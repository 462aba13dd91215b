/// The local clock, and what is known of the server's.
struct ServerTime {
    private let clock: LinkClock
    /// What the server's clock showed at an instant, if it is known.
    private var known: (milliseconds: UInt64, at: ContinuousClock.Instant)?

    init(_ clock: LinkClock) { self.clock = clock }

    var now: ContinuousClock.Instant { clock.now() }

    /// Milliseconds since 1970 by the server's clock where it is known, otherwise by the local one. Once it
    /// is known, nobody who sets the local clock changes it.
    var milliseconds: UInt64 {
        guard let known else { return UInt64(max(0, clock.utcMilliseconds())) }
        return known.milliseconds + UInt64(max(0, Int((now - known.at) / .milliseconds(1))))
    }

    /// The server's clock shows this time now. 0 says nothing.
    mutating func learned(_ milliseconds: UInt64) {
        guard milliseconds > 0 else { return }
        known = (min(milliseconds, UInt64(Int64.max)), now)
    }
}
