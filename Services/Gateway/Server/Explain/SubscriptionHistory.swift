import RTMModel
import RTMWire

/// Whether one session was given a message of a channel, from what its event loop remembers of the
/// subscription. A fact that isn't there any more makes the answer unknown, and never a guess. Pure.
struct SubscriptionHistory {
    /// The message.
    struct Message {
        let position: StreamPosition
        /// UTC, milliseconds since 1970.
        let at: UInt64
        let publisher: String
        let publisherSession: UInt64
        let feature: SubscriptionFeatures
    }

    enum Answer: Equatable {
        /// The session was a subscriber when the message came, or was given it when it came back.
        case given
        /// The session has begun behind the message.
        case subscribedLater(at: UInt64)
        case unsubscribed(at: UInt64)
        /// It wasn't a subscriber when the message came, and hasn't been since.
        case wasNotSubscribed
        /// What was lost was reported to the client, and the message was among it.
        case gap(at: UInt64)
        case unknown(String)
    }

    private let message: Message
    private let session: UInt64
    /// What is remembered of this session and of all subscribers of the channel, the newest first.
    private let facts: [SessionFact]
    private let since: UInt64
    /// Whether the session's login is remembered, and so everything that came after it.
    private let isWhole: Bool

    /// - Parameters:
    ///   - channel: the channel of the message.
    ///   - loop: the event loop that has the session.
    init(of message: Message, in channel: ChannelKey, for session: UInt64, at loop: EdgeExplanation) {
        self.message = message
        self.session = session
        let own = loop.facts.filter { $0.sessionID == session || $0.sessionID == 0 }
        facts = own.filter { $0.channel == channel }
        since = loop.factsSinceMilliseconds
        isWhole = own.contains {
            $0.sessionID == session && $0.channel?.type == .user && $0.kind == .subscribed
        }
    }

    /// Whether nothing that came after the message is forgotten.
    private var reachesBack: Bool { since + UserFacts.clockTolerance <= message.at }

    /// - Parameter isSubscribed: whether the session is a subscriber now; nil if it has ended.
    func answer(isSubscribed: Bool?) -> Answer {
        let newest = facts.firstIndex { $0.kind == .subscribed || $0.kind == .unsubscribed }
        let wasSubscribed = newest.map { facts[$0].kind == .subscribed }
        // The end of a session leaves no fact of the channel.
        if isSubscribed ?? wasSubscribed == true { return begun(facts[...]) }
        guard let newest, wasSubscribed == false else {
            guard isWhole || reachesBack && isSubscribed == false else {
                return .unknown("whether it was subscribed when the message came is no longer known")
            }
            return .wasNotSubscribed
        }
        return left(facts[newest...])
    }

    /// - Parameter rest: from the newest unsubscribe on.
    private func left(_ rest: ArraySlice<SessionFact>) -> Answer {
        guard let fact = rest.first, let end = fact.position, end.epoch == message.position.epoch else {
            return .unknown("how far it was given the channel isn't known")
        }
        guard message.position.offset <= end.offset else { return .unsubscribed(at: fact.atMilliseconds) }
        return begun(rest.dropFirst())
    }

    /// - Parameter rest: what is known of a time in which the session was a subscriber, and before it.
    private func begun(_ rest: ArraySlice<SessionFact>) -> Answer {
        guard let begin = rest.firstIndex(where: { $0.kind == .subscribed }), let start = rest[begin].position
        else {
            guard reachesBack else { return .unknown("since when it was subscribed is no longer known") }
            return gap(in: rest) ?? .given
        }
        let fact = rest[begin]
        let earlier = rest[(begin + 1)...]
        // The message is in the present log. What began in an earlier one began before it.
        if start.epoch != message.position.epoch || start.offset < message.position.offset {
            return gap(in: rest[..<begin]) ?? .given
        }
        if let after = fact.after { return continued(fact, after: after, earlier) }
        guard let left = earlier.firstIndex(where: { $0.kind == .unsubscribed }) else {
            return isWhole || reachesBack
                ? .subscribedLater(at: fact.atMilliseconds)
                : .unknown("whether it was subscribed before is no longer known")
        }
        let before = self.left(earlier[left...])
        if case .unsubscribed = before { return .subscribedLater(at: fact.atMilliseconds) }
        return before
    }

    /// The session continued a subscription that had come to `after`.
    private func continued(
        _ fact: SessionFact, after: StreamPosition, _ earlier: ArraySlice<SessionFact>
    ) -> Answer {
        guard after.epoch == message.position.epoch else {
            return .unknown(
                "the channel's log began anew, and what of it was read for the client isn't known")
        }
        if after.offset < message.position.offset {
            return fact.hasGap ? .gap(at: fact.atMilliseconds) : .given
        }
        // Its own subscription was taken up again: what was before decides. Otherwise its client had it.
        guard earlier.contains(where: { $0.kind == .subscribed }) else {
            return fact.hasGap && !isWhole
                ? .unknown("what it was given before is no longer known") : .given
        }
        return begun(earlier)
    }

    private func gap(in facts: ArraySlice<SessionFact>) -> Answer? {
        for fact in facts where fact.kind == .gap {
            guard let after = fact.after, let position = fact.position else { continue }
            let isBehind = after.epoch != message.position.epoch || after.offset < message.position.offset
            guard isBehind, position.epoch == message.position.epoch,
                message.position.offset <= position.offset
            else { continue }
            return .gap(at: fact.atMilliseconds)
        }
        return nil
    }
}
