/// Finds out whether what is published comes back.
///
/// A link may be up, and answer, and still deliver nothing. So a node publishes to a channel of its own, and
/// waits for the acknowledgement and for the entry that its own subscription has to receive: the way that all
/// messages take. The next round begins when a second has passed and the last one is over.
///
/// Pure: it gets the time, in milliseconds of any clock that doesn't go back.
package struct Canary {
    package enum Step: Equatable {
        case attach
        case publish
    }

    package enum Verdict: Equatable, Sendable {
        /// The link is down, or the first round isn't over.
        case waiting
        case alive
        /// Nothing has come back since then.
        case silent(since: UInt64)
    }

    /// How long a round may take. A publish and an attach have a deadline of their own, which is longer.
    package static let roundLimit: UInt64 = 3_000

    private enum Subscription { case none, pending, attached }

    private var isUp = false
    private var subscription = Subscription.none
    /// When the last round was over, or the link came up.
    private var lastBack: UInt64 = 0
    private var hasComeBack = false
    /// When the round under way began.
    private var began: UInt64?
    private var acknowledged: UInt64?
    private var deliveredBack: UInt64?

    package init() {}

    package mutating func linkIsUp(now: UInt64) {
        self = Canary()
        isUp = true
        lastBack = now
    }

    package mutating func linkIsDown() { self = Canary() }

    /// What is to be done now. To be asked once a second, and when an attach is answered.
    package mutating func next(now: UInt64) -> Step? {
        guard isUp else { return nil }
        switch subscription {
        case .pending: return nil
        case .none:
            subscription = .pending
            return .attach
        case .attached:
            if let began, now < began + Self.roundLimit { return nil }
            (began, acknowledged, deliveredBack) = (now, nil, nil)
            return .publish
        }
    }

    package mutating func attached(_ succeeded: Bool) {
        guard subscription == .pending else { return }
        subscription = succeeded ? .attached : .none
    }

    /// - Parameter offset: the canary's offset in its log; nil if the publish was refused or has no answer.
    package mutating func published(_ offset: UInt64?, now: UInt64) {
        // The subscription may be gone although the link is up, so it is made anew.
        guard let offset else {
            if subscription == .attached { subscription = .none }
            began = nil
            return
        }
        acknowledged = offset
        finish(now)
    }

    package mutating func received(_ offset: UInt64, now: UInt64) {
        deliveredBack = offset
        finish(now)
    }

    private mutating func finish(_ now: UInt64) {
        guard began != nil, let acknowledged, acknowledged == deliveredBack else { return }
        (began, lastBack, hasComeBack) = (nil, now, true)
    }

    package func verdict(now: UInt64) -> Verdict {
        guard isUp else { return .waiting }
        if now > lastBack + 1_000 + Self.roundLimit { return .silent(since: lastBack) }
        return hasComeBack ? .alive : .waiting
    }
}
