import NIOCore
import RTMModel
import RTMWire

/// Says what a loop knows of a user, a channel and a publisher, when somebody asks why a message did not
/// arrive (W-60). All of it is there anyway, or was remembered when something rarer than a message happened
/// (decision 0029).
final class Explanations {
    /// Limit: facts of an answer.
    private static let factsMax = 100

    private let node: String
    private let loop: Int
    private let sessions: Sessions
    private let subscribing: Subscribing
    private let publishing: Publishing
    private let sessionLog: SessionLog
    private let refusals: RefusalLog
    private let eventLoop: any EventLoop

    init(
        ofLoop loop: Int, at node: String, sessions: Sessions, subscribing: Subscribing,
        publishing: Publishing, sessionLog: SessionLog, refusals: RefusalLog, eventLoop: any EventLoop
    ) {
        self.node = node
        self.loop = loop
        self.sessions = sessions
        self.subscribing = subscribing
        self.publishing = publishing
        self.sessionLog = sessionLog
        self.refusals = refusals
        self.eventLoop = eventLoop
    }

    func explain(_ question: EdgeExplain, of appID: String, _ answer: @escaping (EdgeExplanation) -> Void) {
        look(UserScan(of: appID, question.userID, publisher: question.publisher), question, appID, answer)
    }

    private func look(
        _ begun: UserScan, _ question: EdgeExplain, _ appID: String,
        _ answer: @escaping (EdgeExplanation) -> Void
    ) {
        var scan = begun
        guard scan.look(in: sessions) else {
            return eventLoop.assumeIsolated().execute { self.look(scan, question, appID, answer) }
        }
        // Nothing happens in between, so what is said of the sessions and the channel fits together.
        answer(
            EdgeExplanation(
                node: node, loop: UInt32(loop), factsSinceMilliseconds: subscribing.facts.ring.since,
                facts: facts(question, appID),
                sessions: scan.sessions.compactMap { explained($0, question.channel) },
                channel: question.channel.flatMap { subscribing.explain($0) },
                publisher: question.channel.flatMap { explained(scan.publisherSession, to: $0) },
                endsSinceMilliseconds: sessionLog.ends.ring.since))
    }

    private func explained(_ key: SessionKey, _ channel: ChannelKey?) -> ExplainedSession? {
        guard let session = sessions[key] else { return nil }
        let found = channel.flatMap { subscribing.explain($0, of: key) }
        return ExplainedSession(
            session: session.row(channelCount: subscribing.overview(of: key, limit: 0).count),
            tokenExpiresMilliseconds: session.tokenExpiresAt ?? 0,
            stage: found.map { $0.isLive ? .live : .subscribing } ?? .none, features: found?.features ?? [],
            channel: found?.channel)
    }

    private func explained(_ publisher: SessionKey?, to channel: ChannelKey) -> ExplainedPublisher? {
        guard let session = publisher.flatMap({ sessions[$0] }) else { return nil }
        guard let error = publishing.obstacle(of: session, to: channel) else {
            return ExplainedPublisher(sessionID: session.id.rawValue)
        }
        return ExplainedPublisher(
            sessionID: session.id.rawValue, code: Int64(error.code.rawValue), reason: error.reason,
            retryAfter: error.retryAfter ?? .zero)
    }
}

// MARK: - Facts

extension Explanations {
    private func facts(_ question: EdgeExplain, _ appID: String) -> [SessionFact] {
        let (user, channel) = (question.userID, question.channel)
        guard !user.isEmpty || channel != nil else { return [] }
        var facts = subscribing.facts.newest(Self.factsMax, of: user, in: channel, of: appID)
            .map(SessionFact.init)
        guard !user.isEmpty else { return facts }
        facts += sessionLog.ends.ring.newestFirst.lazy.filter { $0.userID == user && $0.appID == appID }
            .prefix(Self.factsMax).map(SessionFact.init)
        facts += sessionLog.refusedLogins.newestFirst.lazy
            .filter { $0.userID == user && $0.appID == appID }.prefix(Self.factsMax).map(SessionFact.init)
        facts += refusals.latest.newestFirst.lazy.filter { $0.userID == user && $0.appID == appID }
            .prefix(Self.factsMax).map(SessionFact.init)
        // Those of one ring keep their order, also within a millisecond.
        let order = facts.enumerated().sorted { left, right in
            (right.element.atMilliseconds, left.offset) < (left.element.atMilliseconds, right.offset)
        }
        return order.prefix(Self.factsMax).map(\.element)
    }
}

extension SessionFact {
    fileprivate init(_ fact: SubscriptionFacts.Fact) {
        self.init(
            kind: .subscribed, atMilliseconds: fact.at, sessionID: fact.session, channel: fact.channel,
            position: fact.position)
        switch fact.kind {
        case .subscribed(let after, let gap): (self.after, hasGap) = (after, gap)
        case .unsubscribed: kind = .unsubscribed
        case .gap(let after): (kind, self.after) = (.gap, after)
        }
    }

    fileprivate init(_ end: SessionEnds.End) {
        self.init(kind: .ended, atMilliseconds: end.at, sessionID: end.session, cause: end.cause)
    }

    fileprivate init(_ refused: SessionLog.RefusedLogin) {
        self.init(kind: .loginRefused, atMilliseconds: refused.at, cause: refused.reason, count: 1)
    }

    fileprivate init(_ refusal: RefusalLog.Refusal) {
        self.init(
            kind: refusal.request == .publish ? .publishRefused : .subscribeRefused,
            atMilliseconds: refusal.at, sessionID: refusal.session, channel: refusal.channel,
            cause: refusal.reason, count: UInt32(clamping: refusal.count))
    }
}
