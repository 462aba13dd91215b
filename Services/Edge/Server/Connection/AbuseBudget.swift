import NIOCore
import RTMServiceKit

/// How many refusals a connection may cause. A refusal costs the edge as much as many an answer, so a
/// client that keeps asking for more than it may is cut off. Pure: the time is a parameter.
struct AbuseBudget {
    private var refusals: TokenBucket?
    private var heartbeats: TokenBucket?
    /// What has come too fast since the last check.
    private var excess: UInt32 = 0

    /// A request was refused that no rate of the session counts.
    mutating func refused() { excess += 1 }

    /// A heartbeat, or a ping of WebSocket. It is answered in any case; what exceeds the rate counts as much
    /// as a refusal.
    mutating func heartbeat(_ rate: Rate, now: NIODeadline) {
        guard !rate.isUnlimited else { return }
        var bucket = heartbeats ?? TokenBucket(rate, now: now)
        if bucket.take(rate, now: now) != nil { excess += 1 }
        heartbeats = bucket
    }

    /// Whether the client has to be cut off. It is asked after each read, however many requests came in it.
    ///
    /// - Parameters:
    ///   - refusals: how many requests the session's rates have refused since the last check.
    ///   - rate: how many refusals are tolerated.
    mutating func isExceeded(_ refusals: Int, _ rate: Rate, now: NIODeadline) -> Bool {
        excess += UInt32(clamping: refusals)
        guard excess > 0, !rate.isUnlimited else { return false }
        var bucket = self.refusals ?? TokenBucket(rate, now: now)
        defer { self.refusals = bucket }
        guard bucket.wait(for: Int(excess), rate, now: now) == nil else { return true }
        bucket.spend(Int(excess))
        excess = 0
        return false
    }
}
