import NIOCore

/// Whether the receiver takes nothing at all. In an outage one request at a time asks whether it is back, and
/// what fails says nothing about its keys.
struct WebhookOutage {
    /// Requests that failed in a row, each with keys that hadn't failed before: that many are an outage.
    static let failuresMax = 3
    /// A receiver that asks for a longer pause gets this one.
    private static let retryAfterMax = TimeAmount.hours(1)

    private struct Present {
        /// Requests with a smaller number were open when it began: that they fail, too, counts nothing.
        let firstRequest: Int
        /// In milliseconds since 1970.
        let since: UInt64
        var failures = 0
        var nextAttempt = NIODeadline.uptimeNanoseconds(0)
    }

    private var present: Present?
    private var failuresInRow = 0
    /// Since when the receiver fails, as the owner before has seen it.
    private var inherited: UInt64?

    init(failingSince inherited: UInt64?) { self.inherited = inherited }

    var isPresent: Bool { present != nil }
    /// In milliseconds since 1970; nil if there is none.
    var since: UInt64? { present?.since }
    /// When to ask whether the receiver is back; nil if it isn't away.
    var nextAttempt: NIODeadline? { present?.nextAttempt }
    /// For the next owner: a restart must not begin its time anew.
    var failing: UInt64? { present?.since ?? inherited }

    /// A request was refused.
    ///
    /// - Parameter isFirst: whether none of its keys had failed before.
    ///
    /// - Returns: whether that makes an outage, or prolongs one.
    mutating func refused(isFirst: Bool) -> Bool {
        failuresInRow += isFirst ? 1 : 0
        return isPresent || failuresInRow >= Self.failuresMax
    }

    /// - Parameters:
    ///   - request: which one failed, of so many that there were.
    ///   - retryAfter: for how long the receiver asked not to be asked.
    ///   - pause: until the next attempt, by how many have failed.
    mutating func extend(
        _ request: Int, of requests: Int, atLeast retryAfter: TimeAmount?, now: WebhookTime,
        pause: (_ failures: Int) -> TimeAmount
    ) {
        var outage =
            present ?? Present(firstRequest: requests + 1, since: inherited ?? now.milliseconds)
        if outage.failures == 0 || request >= outage.firstRequest {
            outage.failures += 1
            outage.nextAttempt = now.uptime + pause(outage.failures)
        }
        let asked = min(retryAfter ?? .nanoseconds(0), Self.retryAfterMax)
        outage.nextAttempt = max(outage.nextAttempt, now.uptime + asked)
        present = outage
    }

    /// The receiver has taken something.
    ///
    /// - Returns: whether an outage is over with it.
    mutating func end() -> Bool {
        defer { (present, failuresInRow, inherited) = (nil, 0, nil) }
        return isPresent
    }
}
