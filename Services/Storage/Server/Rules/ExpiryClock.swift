/// The time by which stored messages expire. It follows the time of day but doesn't leap with it. Pure.
///
/// A wrong clock deletes for good: a day's worth of a leap ahead would remove what still has to be kept. So
/// the clock gains at most a day in an hour on the time that really passes, and never goes back. It lasts
/// over restarts, because a machine may also start with a wrong time.
struct ExpiryClock: Sendable, Hashable {
    /// How many times faster than real time the clock may go while it is behind the time of day.
    static let haste: UInt64 = 24

    /// How far the clock has come, in milliseconds (UTC).
    private(set) var reached: UInt64
    private var steady: UInt64

    /// - Parameter stored: what the clock had reached when the store was used last; nil for a new store.
    init(stored: UInt64?, now: StorageNow) {
        reached = stored ?? now.wall
        steady = now.steady
    }

    /// Returns the time that messages are compared with now. It is never ahead of the time of day: a clock
    /// that was ahead for a while would otherwise remove what is stored after it was set right.
    mutating func advance(to now: StorageNow) -> UInt64 {
        let passed = now.steady - min(steady, now.steady)
        steady = max(steady, now.steady)
        if now.wall > reached { reached = min(now.wall, reached + passed * Self.haste) }
        return min(reached, now.wall)
    }
}
