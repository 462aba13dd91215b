import NIOCore

/// Whether a loop counts as connected to a service while some of its shards have no leader.
///
/// A shard that changes its leader has none for milliseconds, or for seconds if the leader died or is reached
/// through another node from now on. All edges see that at once, and a load balancer that took all of them
/// away for it would make it worse. So the loop stays connected for a while, as long as it reaches some
/// node of the service. Pure.
struct ShardOutage {
    /// Limit: so long shards may be without a leader. It is longer than a takeover.
    static let grace = TimeAmount.seconds(5)

    enum Change: Equatable {
        case none
        case up, down
        /// Nothing has changed yet; check again at this time.
        case checkAgain(NIODeadline)
    }

    private var isUp = false
    /// Since when some shard has had no leader.
    private var since: NIODeadline?

    /// - Parameters:
    ///   - isWhole: whether every shard has a leader here.
    ///   - isReached: whether there is a connection to some node.
    mutating func changed(isWhole: Bool, isReached: Bool, now: NIODeadline) -> Change {
        guard !isWhole else {
            since = nil
            defer { isUp = true }
            return isUp ? .none : .up
        }
        guard isUp else { return .none }
        let isFirst = self.since == nil
        let since = self.since ?? now
        self.since = since
        guard !isReached || now >= since + Self.grace else {
            return isFirst ? .checkAgain(since + Self.grace) : .none
        }
        isUp = false
        return .down
    }
}
