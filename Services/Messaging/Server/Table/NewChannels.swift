import RTMModel

/// How many channels each session begins by publishing to new names. A session may begin `countMax` at once,
/// and that many again in each `period`, so what it began is forgotten about as fast as it begins more.
///
/// Pure.
struct NewChannels {
    let countMax: Int
    /// In milliseconds.
    let period: UInt64
    /// By session: when the quota is whole again, in microseconds.
    private var wholeAt: [UInt64: UInt64] = [:]
    /// When there are this many sessions, those whose quota is whole are forgotten.
    private var forgetAt = 1_024

    init(countMax: Int, period: UInt64) {
        self.countMax = countMax
        self.period = period
    }

    var sessionCount: Int { wholeAt.count }

    /// Counts one more channel, unless the session has begun too many.
    ///
    /// - Returns: how long the session has to wait; nil if the channel is admitted.
    mutating func begin(_ session: UInt64, now milliseconds: UInt64) -> Duration? {
        let now = milliseconds * 1_000
        let interval = period * 1_000 / UInt64(countMax)
        // A clock that goes back makes nobody wait for longer than a period.
        let whole = min(max(wholeAt[session] ?? 0, now), now + period * 1_000) + interval
        if whole > now + period * 1_000 { return .microseconds(whole - now - period * 1_000) }
        wholeAt[session] = whole
        if wholeAt.count >= forgetAt { forget(now) }
        return nil
    }

    private mutating func forget(_ now: UInt64) {
        wholeAt = wholeAt.filter { $0.value > now }
        forgetAt = max(1_024, 2 * wholeAt.count)
    }
}
