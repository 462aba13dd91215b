import RTMModel
import RTMWire

/// Whether a message would reach a user now. Nothing is published. Pure.
struct PublishExplanation {
    let channel: ChannelKey
    /// Nil if the backend itself would publish.
    let publisher: String?
    let publisherBannedUntil: UInt64?
    /// Whether the app's hook is asked about messages to the channel.
    var hasHook = false
    let log: Result<ExplainedLog, RTMError>
    let user: UserFacts

    func explanation() -> DeliveryExplanation {
        var steps = [publishing]
        if steps[0].arrival != .doesNotArrive { steps += (hasHook ? [asked] : []) + [logged] }
        if steps.last?.arrival != .doesNotArrive { steps += receiving }
        // The first hop where it ends decides, and what isn't known comes before what would arrive.
        let last =
            steps.first { $0.arrival == .doesNotArrive } ?? steps.first { $0.arrival == .unknown }
            ?? steps[steps.count - 1]
        let verdict: DeliveryExplanation.Verdict =
            switch last.arrival {
            case .arrives: .wouldBeDelivered
            case .unknown: .unknown
            case .doesNotArrive: .wouldNotBeDelivered
            }
        return DeliveryExplanation(
            verdict: verdict, hop: last.hop.hop, reason: last.hop.reason, tree: Self.chain(steps.map(\.hop)))
    }

    /// Each hop leads to the next one.
    private static func chain(_ hops: [Hop]) -> Hop {
        var chain = hops[hops.count - 1]
        for hop in hops.dropLast().reversed() {
            var hop = hop
            hop.add(chain)
            chain = hop
        }
        return chain
    }

    // MARK: The publisher

    private var publishing: HopFinding {
        func finding(_ arrival: Arrival, _ verdict: Hop.Verdict, _ reason: String) -> HopFinding {
            HopFinding(hop: Hop(hop: .publisher, verdict: verdict, reason: reason), arrival: arrival)
        }
        guard let publisher else {
            return finding(.arrives, .allowed, "A backend publishes with its key, which needs no token.")
        }
        guard publisherBannedUntil == nil else {
            return finding(.doesNotArrive, .banned, "The publisher \"\(publisher)\" is banned.")
        }
        let found = user.explanations.lazy.compactMap { loop in loop.publisher.map { (loop, $0) } }
            .max { $0.1.sessionID < $1.1.sessionID }
        guard let (loop, session) = found else {
            return finding(
                .unknown, .permissionNotKnown,
                "The publisher \"\(publisher)\" is not online, so what its token allows isn't known.")
        }
        var hop = loop.hop(
            .publisher, session.verdict,
            session.code == 0
                ? "The publisher's token and rates allow a message now."
                : "A message of the publisher would be refused: \(session.reason).")
        hop.session = "\(session.sessionID)"
        return HopFinding(hop: hop, arrival: session.code == 0 ? .arrives : .doesNotArrive)
    }

    // MARK: The hook

    /// A dry run has no message to ask about.
    private var asked: HopFinding {
        HopFinding(
            hop: Hop(
                hop: .hook, verdict: .asked,
                reason: "The app's hook is asked about the message first, and its answer isn't known."),
            arrival: .unknown)
    }

    // MARK: The log

    private var logged: HopFinding {
        switch log {
        case .failure(let error): return HopFinding(hop: .unreachable(error), arrival: .doesNotArrive)
        case .success(let log):
            let hop = Hop(
                hop: .log, node: log.node, verdict: .reachable,
                reason: "The log of the channel can be reached and has come to offset "
                    + "\(log.response.head.offset); \(log.response.links.sentence).")
            return HopFinding(hop: hop, arrival: .arrives)
        }
    }

    // MARK: The receiver

    /// The edge and the session, or the user who isn't there.
    private var receiving: [HopFinding] {
        let ways = user.explanations.flatMap { loop in loop.sessions.map { way(to: $0, at: loop) } }
        let best = ways.max { worst(of: $0) < worst(of: $1) }
        let missing = user.incompleteness.map { HopFinding(hop: $0, arrival: .unknown) }
        if let best, worst(of: best) == .arrives { return best }
        if let missing { return (best ?? []).filter { $0.arrival == .arrives } + [missing] }
        if let best { return best }
        let (verdict, hop) = user.status(hasSession: false)
        return [HopFinding(hop: hop, arrival: verdict == .wouldNotBeDelivered ? .doesNotArrive : .unknown)]
    }

    private func worst(of way: [HopFinding]) -> Arrival { way.map(\.arrival).min() ?? .doesNotArrive }

    private func way(to explained: ExplainedSession, at loop: EdgeExplanation) -> [HopFinding] {
        let session = explained.session
        func finding(_ arrival: Arrival, _ verdict: Hop.Verdict, at time: UInt64? = nil, _ reason: String)
            -> HopFinding
        {
            HopFinding(
                hop: loop.hop(ofSession: session.sessionID, verdict, at: time, reason), arrival: arrival)
        }
        switch explained.stage {
        case .none:
            let fact = loop.facts.first {
                $0.sessionID == session.sessionID && $0.channel == channel && $0.kind != .gap
            }
            return [
                finding(
                    .doesNotArrive, fact?.kind == .subscribeRefused ? .subscribeRefused : .notSubscribed,
                    at: fact?.atMilliseconds,
                    "The session is there and not subscribed to the channel\(fact.since).")
            ]
        case .subscribing:
            return [finding(.unknown, .subscribing, "The subscribe of the session is under way.")]
        case .live: break
        }
        let isAttached = explained.channel?.isAttached == true
        let edge = loop.hop(
            .edge, isAttached ? .pushed : .detached,
            isAttached
                ? "Messaging delivers the channel to the edge, which has come to offset "
                    + "\(explained.channel?.position?.offset ?? 0)."
                : "The edge has lost its link to messaging; what is published meanwhile is read when it is "
                    + "back."
        )
        let first = HopFinding(hop: edge, arrival: isAttached ? .arrives : .unknown)
        if explained.features.leavesOutOwn(.message), session.userID == publisher, channel.type != .user {
            return [
                first,
                finding(.doesNotArrive, .ownMessage, "A publisher doesn't get its own message."),
            ]
        }
        guard explained.features.contains(.message) else {
            return [
                first,
                finding(
                    .doesNotArrive, .notWanted, "The session is subscribed without asking for messages."),
            ]
        }
        let queue = session.queuedBytes
        return [
            first,
            finding(
                .arrives, queue == 0 ? .subscribed : .waiting,
                queue == 0
                    ? "The session is subscribed, and nothing waits for its client."
                    : "The session is subscribed; \(queue) bytes wait for its client before the message. A "
                        + "client that reads too slowly is cut off."),
        ]
    }
}

extension ExplainedPublisher {
    fileprivate var verdict: Hop.Verdict {
        switch ErrorCode(rawValue: Int(code)) {
        case _ where code == 0: .allowed
        case .channelPublishPermissionDenied: .permissionDenied
        case .channelPublishMessageTooFrequent: .rateReached
        case .channelPublishMessageFailed: .unreachable
        default: .refused
        }
    }
}

extension SessionFact? {
    /// Since when and why a session isn't subscribed, as the end of a sentence.
    fileprivate var since: String {
        switch self?.kind {
        case .unsubscribed: ": it has unsubscribed"
        case .subscribeRefused: ": its subscribe was refused, because \(self?.cause ?? "")"
        default: ""
        }
    }
}
