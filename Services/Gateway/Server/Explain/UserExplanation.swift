import RTMModel
import RTMWire

/// Whether messages reach a user now, and what has happened to the user lately. Pure.
struct UserExplanation {
    /// Limit: facts of a kind that are shown.
    private static let factsMax = 10

    let user: UserFacts

    func explanation() -> DeliveryExplanation {
        var hops: [Hop] = []
        for loop in user.explanations {
            hops += loop.sessions.map { $0.hop(at: loop) }
            hops += loop.happenings(Self.factsMax)
        }
        if let hop = user.incompleteness { hops.append(hop) }
        let (verdict, root) = user.status(hasSession: user.explanations.contains { !$0.sessions.isEmpty })
        var tree = root
        if !hops.isEmpty { tree.hops = hops }
        return DeliveryExplanation(verdict: verdict, hop: root.hop, reason: root.reason, tree: tree)
    }
}

extension UserFacts {
    /// Whether a message would find the user.
    func status(hasSession: Bool) -> (verdict: DeliveryExplanation.Verdict, hop: Hop) {
        func status(
            _ arrival: DeliveryExplanation.Verdict, _ verdict: Hop.Verdict, at time: UInt64? = nil,
            _ reason: String
        ) -> (DeliveryExplanation.Verdict, Hop) {
            (arrival, Hop(hop: .user, at: time, verdict: verdict, reason: reason))
        }
        if hasSession {
            guard bannedUntil == nil else {
                return status(
                    .unknown, .banned, "The user is banned, and a session is about to end for that.")
            }
            return status(.wouldBeDelivered, .online, "The user is online.")
        }
        if let bannedUntil {
            return status(
                .wouldNotBeDelivered, .banned,
                "The user is offline and banned, for "
                    + "\((bannedUntil - min(bannedUntil, now)) / 1_000) more seconds."
            )
        }
        let end = lastEnd
        guard case .success(let inbox) = inbox else {
            return status(.unknown, .notKnown, "No edge that has answered has a session of the user.")
        }
        guard inbox.response.links.isEmpty else {
            return status(
                .unknown, .notKnown,
                "Messaging has the user online, but no edge that has answered has a session of the user.")
        }
        let left = inbox.response.leftMilliseconds
        guard let fact = end?.fact else {
            return status(
                .wouldNotBeDelivered, .offline, at: left > 0 ? left : nil,
                "The user is offline; why the last session ended is no longer known.")
        }
        return status(
            .wouldNotBeDelivered, fact.endVerdict, at: left > 0 ? left : fact.atMilliseconds,
            "The user is offline. The last session has ended: \(fact.endReason).")
    }
}

extension ExplainedSession {
    fileprivate func hop(at loop: EdgeExplanation) -> Hop {
        let queue =
            session.queuedBytes == 0
            ? "nothing waits for the client" : "\(session.queuedBytes) bytes wait for the client"
        let client = session.client.isEmpty ? "" : " with \(session.client)"
        return loop.hop(
            ofSession: session.sessionID, session.queuedBytes == 0 ? .online : .waiting,
            at: session.sinceMilliseconds,
            "The session is there, from \(session.address)\(client), and has \(session.channelCount) "
                + "subscriptions, its inbox among them; \(queue).")
    }
}

extension EdgeExplanation {
    /// What has happened to the user lately, as hops.
    fileprivate func happenings(_ countMax: Int) -> [Hop] {
        facts.lazy.compactMap { fact -> Hop? in
            guard let (place, verdict, reason) = fact.happening else { return nil }
            var hop = hop(place, verdict, at: fact.atMilliseconds, reason)
            hop.session = fact.sessionID == 0 ? nil : "\(fact.sessionID)"
            return hop
        }.prefix(countMax).map { $0 }
    }
}

extension SessionFact {
    /// What is worth a line beside the sessions that are there.
    fileprivate var happening: (Hop.Place, Hop.Verdict, String)? {
        let name = channel.map { "\"\($0.name)\"" } ?? ""
        let times = count > 1 ? ", \(count) times in a row" : ""
        switch kind {
        case .ended: return (.session, endVerdict, "A session has ended: \(endReason).")
        case .loginRefused: return (.user, .loginRefused, "A login was refused: \(cause).")
        case .subscribeRefused:
            return (.session, .subscribeRefused, "A subscribe to \(name) was refused\(times): \(cause).")
        case .publishRefused:
            let target = name.isEmpty ? "" : " to \(name)"
            return (.publisher, .publishRefused, "A publish\(target) was refused\(times): \(cause).")
        case .unsubscribed: return (.session, .notSubscribed, "The session has unsubscribed from \(name).")
        case .gap:
            return (.session, .gapReported, "A gap of \(name) was reported to all subscribers.")
        case .subscribed:
            guard channel?.type != .user else { return nil }
            guard hasGap else { return (.session, .subscribed, "The session has subscribed to \(name).") }
            return (
                .session, .gapReported,
                "The session has taken up its subscription to \(name) again, and a gap was reported."
            )
        }
    }
}
