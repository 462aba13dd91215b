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
