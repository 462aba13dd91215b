/// The local clock, and what is known of the server's.
struct ServerTime {
    private let clock: LinkClock
    /// The server's clock minus the local one, in milliseconds.
    private var offset: Int64 = 0

    init(_ clock: LinkClock) { self.clock = clock }

    var now: ContinuousClock.Instant { clock.now() }

    /// Milliseconds since 1970 by the server's clock where it is known, otherwise by the local one.
    var milliseconds: UInt64 { UInt64(max(0, clock.utcMilliseconds() + offset)) }

    /// The server's clock shows this time now. 0 says nothing.
    mutating func learned(_ milliseconds: UInt64) {
        guard milliseconds > 0 else { return }
        offset = Int64(clamping: milliseconds) - clock.utcMilliseconds()
    }
}
