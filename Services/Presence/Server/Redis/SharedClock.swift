/// The time that all presence nodes share, as this node knows it between two answers of Redis
/// (Scripts/clock.lua). Pure.
///
/// Between the answers it goes on with a clock that nobody sets, so a wrong time of day on the node's machine
/// means nothing.
struct SharedClock: Sendable, Hashable {
    private var offset: Int64 = 0
    private var latest: UInt64 = 0

    /// Redis has answered.
    ///
    /// - Parameters:
    ///   - local: a clock that never goes back, in milliseconds.
    ///   - isFirst: whether it is the first answer of a connection. Redis may have come back with older data,
    ///     and then its time goes back, too.
    mutating func set(_ shared: UInt64, local: UInt64, isFirst: Bool) {
        offset = Int64(clamping: shared) - Int64(clamping: local)
        if isFirst { latest = 0 }
    }

    /// Never goes back while a connection lasts, although an answer may be late.
    mutating func now(local: UInt64) -> UInt64 {
        latest = max(latest, UInt64(clamping: Int64(clamping: local) + offset))
        return latest
    }
}
