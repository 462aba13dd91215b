/// Decides when freed memory goes back to the system: after much of it was freed at once, for example when a
/// flood is over. The allocator keeps what a load that lasts frees and takes again.
///
/// Pure.
struct MemoryPeak {
    /// Limit: bytes that may stay with the allocator.
    static let releaseMin = 64 << 20
    /// Limit: milliseconds from one release to the next.
    static let interval: UInt64 = 10_000

    private var peak = 0
    private var nextRelease: UInt64 = 0

    /// Whether to release, now that the process holds so many bytes.
    mutating func shouldRelease(held: Int, now: UInt64) -> Bool {
        peak = max(peak, held)
        guard peak - held >= max(Self.releaseMin, peak / 4), now >= nextRelease else { return false }
        peak = held
        nextRelease = now + Self.interval
        return true
    }
}
