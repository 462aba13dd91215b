import NIOCore
import RTMModel

/// How long clients wait before they ask again for what no messaging node could take.
///
/// A shard that is handed over has no leader for milliseconds, one whose leader died for a second, and all of
/// them for as long as Redis is away. The edge can't know beforehand which of these it is. So a client waits
/// half as long as the outage has lasted: it is late by half the outage at most, and a long one is asked
/// about seldom.
enum MessagingOutage {
    static let shortestPause: Duration = .milliseconds(20)
    static let longestPause: Duration = .seconds(1)

    static func pause(after outage: Duration) -> Duration {
        min(max(outage / 2, shortestPause), longestPause)
    }
}

extension RTMError {
    /// - Parameter outage: how long it has lasted; nil if what is refused costs too much to be tried often.
    static func messagingUnreachable(_ code: ErrorCode, for outage: Duration?) -> RTMError {
        RTMError(
            code, "the messaging service can't be reached at present",
            retryAfter: outage.map(MessagingOutage.pause) ?? MessagingOutage.longestPause)
    }
}

/// Whether a loop counts as connected to messaging while shards have no leader.
///
/// A shard that changes its leader has none for milliseconds, or for seconds if the leader died or is reached
/// through another node from now on. All edges see that at once, and a load balancer that took all of them
/// away for it would make it worse. So the loop stays connected for a while, as long as it reaches some
/// messaging node. Pure.
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
    ///   - isReached: whether there is a connection to some messaging node.
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
