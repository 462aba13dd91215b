import RTMModel
import RTMWire

/// What has become of a message: of one user, or as far as the edges. Pure.
struct MessageExplanation {
    let channel: ChannelKey
    let offset: UInt64
    let log: Result<ExplainedLog, RTMError>
    /// Nil if no user is named.
    let user: UserFacts?
    let edges: Result<EdgeReports, RTMError>

    func explanation() -> DeliveryExplanation {
        let log: ExplainedLog
        switch self.log {
        case .success(let found): log = found
        case .failure(let error):
            return end(.unknown, Hop.unreachable(error))
        }
        let response = log.response
        guard response.trace == .found, let entry = response.entry else {
            let isKnown = response.trace == .ahead || response.trace == .absent
            return end(isKnown ? .notDelivered : .unknown, missing(log))
        }
        let message = SubscriptionHistory.Message(
            position: StreamPosition(epoch: response.head.epoch, offset: offset),
            at: entry.timestampMilliseconds, publisher: entry.publisher,
            publisherSession: entry.publisherSession, feature: entry.feature)
        var root = Hop(
            hop: .log, node: log.node, at: message.at, verdict: .accepted,
            reason: "\(noun(entry)) has the offset \(offset) in the log, which has come to "
                + "\(response.head.offset); \(response.links.sentence).")
        guard let user else { return toEdges(&root, message, response) }
        return of(user, &root, message)
    }

    private func noun(_ entry: ExplainedEntry) -> String {
        let noun = entry.feature == .message ? "The message" : "An event, which is no message,"
        return entry.publisher.isEmpty ? noun : "\(noun) of user \"\(entry.publisher)\""
    }

    private func missing(_ log: ExplainedLog) -> Hop {
        let head = log.response.head.offset
        let (verdict, reason): (Hop.Verdict, String) =
            switch log.response.trace {
            case .ahead:
                (.neverAccepted, "Nothing has been accepted with this offset: the log hasn't come so far.")
            case .absent:
                (
                    .neverAccepted,
                    "The channel has no message with this offset; its newest entry has \(head). Offsets in "
                        + "between belong to other channels."
                )
            case .otherLog:
                (
                    .noLongerKnown,
                    "The offset is of another log than the present one, which has the epoch "
                        + "\(log.response.head.epoch); of that one nothing is known any more."
                )
            case .forgotten, .found, .none:
                (.noLongerKnown, "The log's memory doesn't reach back to this offset any more.")
            }
        return Hop(hop: .log, node: log.node, verdict: verdict, reason: reason)
    }

    private func end(_ verdict: DeliveryExplanation.Verdict, _ hop: Hop) -> DeliveryExplanation {
        DeliveryExplanation(verdict: verdict, hop: hop.hop, reason: hop.reason, tree: hop)
    }

    // MARK: As far as the edges

    private func toEdges(
        _ root: inout Hop, _ message: SubscriptionHistory.Message, _ response: ExplainResponse
    ) -> DeliveryExplanation {
        if response.links.isEmpty, response.leftMilliseconds > 0,
            response.leftMilliseconds + UserFacts.clockTolerance < message.at
        {
            let hop = Hop(
                hop: .edge, at: response.leftMilliseconds, verdict: .noSubscribers,
                reason: "The last subscriber had left before the message came.")
            root.add(hop)
            return DeliveryExplanation(verdict: .notDelivered, hop: hop.hop, reason: hop.reason, tree: root)
        }
        let facts = UserFacts(userID: "", now: 0, inbox: log, edges: edges)
        for loop in facts.explanations {
            guard let channel = loop.channel else { continue }
            let (verdict, reason) = channel.status(at: message.position)
            root.add(
                loop.hop(.edge, verdict, "\(reason); \(channel.subscribers) sessions are subscribed there."))
        }
        if let hop = facts.incompleteness { root.add(hop) }
        return DeliveryExplanation(
            verdict: .unknown, hop: .edge,
            reason: "Name a user to learn what became of the message at the sessions.", tree: root)
    }

    // MARK: For a user

    private func of(
        _ user: UserFacts, _ root: inout Hop, _ message: SubscriptionHistory.Message
    ) -> DeliveryExplanation {
        var findings: [HopFinding] = []
        for loop in user.explanations {
            let found =
                loop.sessions.map { $0.finding(message, channel, user.userID, at: loop) }
                + loop.endedSessions(since: message.at).map { $0.finding(message, channel, at: loop) }
            guard !found.isEmpty else { continue }
            findings += found
            root.add(loop.hop(to: channel, message.position, found.map(\.hop)))
        }
        if let finding = user.forgottenSession(before: message, in: channel) { findings.append(finding) }
        let missing = user.incompleteness
        if findings.isEmpty {
            // Messaging knows who is online without the edges.
            let absence = user.absence(when: message.at)
            if missing == nil || absence.arrival == .doesNotArrive { findings.append(absence) }
        }
        for finding in findings where finding.hop.hop == .user { root.add(finding.hop) }
        if let missing {
            root.add(missing)
            if !findings.contains(where: { $0.hop.hop == .user && $0.arrival == .doesNotArrive }) {
                findings.append(HopFinding(hop: missing, arrival: .unknown))
            }
        }
        guard let last = HopFinding.decisive(findings) else { return end(.unknown, root) }
        return DeliveryExplanation(
            verdict: last.arrival.past, hop: last.hop.hop, reason: last.hop.reason, tree: root)
    }
}

extension Hop {
    static func unreachable(_ error: RTMError) -> Hop {
        Hop(
            hop: .log, verdict: .unreachable,
            reason: "The messaging service could not be asked: \(error.reason).")
    }
}

extension Arrival {
    /// The verdict about a message that was published.
    fileprivate var past: DeliveryExplanation.Verdict {
        switch self {
        case .arrives: .delivered
        case .unknown: .unknown
        case .doesNotArrive: .notDelivered
        }
    }
}

extension [ExplainedLink] {
    /// Which edges get the channel's entries now, as the end of a sentence.
    var sentence: String {
        guard !isEmpty else { return "no edge gets the channel's entries now" }
        let waiting = reduce(0) { $0 + $1.waitingBytes }
        let behind = waiting == 0 ? "" : ", for which \(waiting) bytes wait"
        return "\(count) event loops of edges get the channel's entries now\(behind)"
    }
}

// MARK: - An event loop

extension ExplainedChannel {
    /// How far the event loop is, without the period.
    func status(at message: StreamPosition) -> (verdict: Hop.Verdict, reason: String) {
        guard let position else { return (.detached, "Messaging hasn't begun to deliver the channel there") }
        guard position.epoch == message.epoch, position.offset >= message.offset else {
            return isAttached
                ? (.behind, "The edge has come to offset \(position.offset), and the message is on its way")
                : (
                    .detached,
                    "The edge has come to offset \(position.offset) and lost its link to messaging; what "
                        + "follows is read when the link is back"
                )
        }
        return (.pushed, "The edge has the channel up to offset \(position.offset)")
    }
}

extension EdgeExplanation {
    fileprivate func hop(to channel: ChannelKey, _ message: StreamPosition, _ hops: [Hop]) -> Hop {
        // An inbox has a place of its own for each session.
        let present = self.channel ?? sessions.lazy.compactMap(\.channel).first
        let (verdict, reason) =
            present?.status(at: message)
            ?? (.noSubscribers, "Nobody is subscribed to the channel there now")
        var hop = hop(.edge, verdict, "\(reason).")
        hop.hops = hops
        return hop
    }

    /// The sessions of the user that were there when the message came, or ended about then.
    fileprivate func endedSessions(since time: UInt64) -> [SessionFact] {
        facts.filter { $0.kind == .ended && $0.atMilliseconds + UserFacts.clockTolerance >= time }
    }
}

// MARK: - A session

extension ExplainedSession {
    fileprivate func finding(
        _ message: SubscriptionHistory.Message, _ channel: ChannelKey, _ user: String,
        at loop: EdgeExplanation
    ) -> HopFinding {
        func finding(_ arrival: Arrival, _ verdict: Hop.Verdict, at time: UInt64? = nil, _ reason: String)
            -> HopFinding
        {
            HopFinding(
                hop: loop.hop(ofSession: session.sessionID, verdict, at: time, reason), arrival: arrival)
        }
        let leavesOutOwn = features.leavesOutOwn(message.feature)
        if leavesOutOwn, message.publisherSession == session.sessionID, message.publisherSession != 0 {
            return finding(
                .doesNotArrive, .ownMessage,
                "The session published the message itself, and doesn't get it back.")
        }
        if stage == .subscribing {
            return finding(.unknown, .subscribing, "The subscribe of the session is under way.")
        }
        let history = SubscriptionHistory(of: message, in: channel, for: session.sessionID, at: loop)
        switch history.answer(isSubscribed: stage == .live) {
        case .given: break
        case .subscribedLater(let time):
            return finding(
                .doesNotArrive, .subscribedLater, at: time,
                "The session subscribed when the message was in the log already, and asked for nothing older."
            )
        case .unsubscribed(let time):
            return finding(
                .doesNotArrive, .notSubscribed, at: time,
                "The session had unsubscribed before the message came.")
        case .wasNotSubscribed:
            let refusal = loop.facts.first {
                $0.kind == .subscribeRefused && $0.channel == channel && $0.sessionID == session.sessionID
            }
            guard let refusal else {
                return finding(
                    .doesNotArrive, .notSubscribed, "The session was not subscribed to the channel.")
            }
            return finding(
                .doesNotArrive, .subscribeRefused, at: refusal.atMilliseconds,
                "The session's subscribe was refused: \(refusal.cause).")
        case .gap(let time):
            return finding(
                .doesNotArrive, .gapReported, at: time,
                "The message was among what the session has lost; a gap was reported to the client.")
        case .unknown(let reason):
            return finding(.unknown, .noLongerKnown, "The session is there, but \(reason).")
        }
        if stage == .live, !features.contains(message.feature) {
            return finding(
                .doesNotArrive, .notWanted, "The session is subscribed without asking for messages.")
        }
        if leavesOutOwn, message.publisherSession != 0, message.publisher == user, channel.type != .user {
            return finding(
                .unknown, .ownMessage,
                "Another session of the same user published the message; whoever comes back doesn't get its "
                    + "own messages again.")
        }
        if let status = self.channel?.status(at: message.position), status.verdict != .pushed {
            return HopFinding(
                hop: loop.hop(.edge, status.verdict, "\(status.reason)."), arrival: .doesNotArrive)
        }
        guard session.queuedBytes == 0 else {
            return finding(
                .unknown, .waiting,
                "The message was put into the session's queue, in which \(session.queuedBytes) bytes wait "
                    + "for the client; whether it is among them isn't known.")
        }
        return finding(
            .arrives, .written, "The message was written to the session's socket, and nothing waits for it.")
    }
}

extension ExplainedSession {
    /// Whether the session certainly was there before the message.
    fileprivate func isOlder(
        than message: SubscriptionHistory.Message, in channel: ChannelKey, at loop: EdgeExplanation
    ) -> Bool {
        if session.sinceMilliseconds + UserFacts.clockTolerance < message.at { return true }
        if message.publisherSession == session.sessionID { return true }
        return loop.facts.contains { fact in
            fact.sessionID == session.sessionID && fact.channel == channel
                && fact.position.map {
                    $0.epoch == message.position.epoch && $0.offset < message.position.offset
                } == true
        }
    }
}

extension SessionFact {
    /// What an ended session says of a message.
    fileprivate func finding(
        _ message: SubscriptionHistory.Message, _ channel: ChannelKey, at loop: EdgeExplanation
    ) -> HopFinding {
        func finding(_ arrival: Arrival, _ verdict: Hop.Verdict, at time: UInt64, _ reason: String)
            -> HopFinding
        {
            HopFinding(hop: loop.hop(ofSession: sessionID, verdict, at: time, reason), arrival: arrival)
        }
        let history = SubscriptionHistory(of: message, in: channel, for: sessionID, at: loop)
        switch history.answer(isSubscribed: nil) {
        case .given:
            return finding(
                .unknown, endVerdict, at: atMilliseconds,
                "The session was subscribed, and has ended: \(endReason). Whether the message was written "
                    + "before that isn't known.")
        case .subscribedLater(let time):
            return finding(
                .doesNotArrive, .subscribedLater, at: time,
                "The session, which has ended, subscribed when the message was in the log already.")
        case .unsubscribed(let time):
            return finding(
                .doesNotArrive, .notSubscribed, at: time,
                "The session, which has ended, had unsubscribed before the message came.")
        case .wasNotSubscribed:
            return finding(
                .doesNotArrive, .notSubscribed, at: atMilliseconds,
                "The session was not subscribed to the channel, and has ended: \(endReason).")
        case .gap(let time):
            return finding(
                .doesNotArrive, .gapReported, at: time,
                "The message was among what the session had lost; a gap was reported to the client.")
        case .unknown(let reason):
            return finding(
                .unknown, .noLongerKnown, at: atMilliseconds,
                "The session has ended (\(endReason)), and \(reason).")
        }
    }
}

// MARK: - A user who isn't there

extension UserFacts {
    /// The newest end of a session of the user.
    var lastEnd: (loop: EdgeExplanation, fact: SessionFact)? {
        explanations.compactMap { loop in
            loop.facts.first { $0.kind == .ended }.map { (loop, $0) }
        }.max { $0.1.atMilliseconds < $1.1.atMilliseconds }
    }

    /// A user has one session at a time. If none is there that is older than the message, there may have been
    /// one that has ended. Nil if its end would be remembered, or if no session is there at all.
    fileprivate func forgottenSession(
        before message: SubscriptionHistory.Message, in channel: ChannelKey
    ) -> HopFinding? {
        let isOlder = explanations.contains { loop in
            loop.sessions.contains { $0.isOlder(than: message, in: channel, at: loop) }
        }
        guard !isOlder, explanations.contains(where: { !$0.sessions.isEmpty }),
            let since = explanations.map(\.endsSinceMilliseconds).max(),
            since + Self.clockTolerance >= message.at
        else { return nil }
        let reason =
            "The user logged in after the message came; whether an earlier session got it is no longer known."
        return HopFinding(
            hop: Hop(hop: .user, verdict: .noLongerKnown, reason: reason), arrival: .unknown)
    }

    /// What is known of a user of whom no session is there.
    ///
    /// - Parameter time: when the message came.
    func absence(when time: UInt64) -> HopFinding {
        func finding(_ arrival: Arrival, _ verdict: Hop.Verdict, at time: UInt64? = nil, _ reason: String)
            -> HopFinding
        {
            HopFinding(hop: Hop(hop: .user, at: time, verdict: verdict, reason: reason), arrival: arrival)
        }
        let end = lastEnd?.fact
        let cause = end.map { ": \($0.endReason)" } ?? "; why is no longer known"
        let verdict = end?.endVerdict ?? .offline
        guard case .success(let inbox) = inbox else {
            return finding(.unknown, .notKnown, "No session of the user is there; since when isn't known.")
        }
        let response = inbox.response
        guard response.links.isEmpty else {
            return finding(
                .unknown, .notKnown,
                "Messaging has the user online, but no edge that has answered has a session of the user.")
        }
        let left = response.leftMilliseconds
        if left > 0, left + Self.clockTolerance < time {
            return finding(
                .doesNotArrive, verdict, at: left,
                "The user was offline when the message came. The last session had ended\(cause).")
        }
        if left == 0, response.knownSinceMilliseconds + Self.clockTolerance < time {
            return finding(
                .doesNotArrive, verdict, at: end?.atMilliseconds,
                end == nil
                    ? "The user was offline when the message came; no session of the user is remembered."
                    : "The user was offline when the message came. The last session had ended\(cause).")
        }
        return finding(
            .unknown, .noLongerKnown, at: left > 0 ? left : nil,
            "The user is offline; whether a session was there when the message came is no longer known.")
    }
}
