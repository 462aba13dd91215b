import NIOCore
import RTMModel
import RTMWire

@testable import RTMGatewayServer

/// What messaging and one event loop know, from which explanations are made. Times are milliseconds, and the
/// message comes at 100,000 with offset 50, when an event loop is long there.
struct ExplainScene {
    static let channel = ChannelKey(appID: "app", type: .message, name: "lobby")
    static let inbox = ChannelKey(appID: "app", type: .user, name: "anna")
    static let session: UInt64 = 7

    var trace = EntryTrace.found
    var entry = ExplainedEntry(
        timestampMilliseconds: 100_000, publisher: "ben", publisherSession: 3, feature: .message)
    var links = [ExplainedLink(node: "edge", waitingBytes: 0)]
    var logLeft: UInt64 = 0
    var messagingError: RTMError?
    var edgesError: RTMError?
    var loop = EdgeExplanation(
        node: "edge", loop: 2, factsSinceMilliseconds: 1_000, endsSinceMilliseconds: 1_000)
    var asked = 1
    var bannedUntil: UInt64?
    var publisherBannedUntil: UInt64?
    var hasHook = false
    var inboxLinks: [ExplainedLink] = []
    var inboxLeft: UInt64 = 0
    var inboxKnownSince: UInt64 = 1_000

    static func at(_ offset: UInt64, epoch: UInt64 = 1) -> StreamPosition {
        StreamPosition(epoch: epoch, offset: offset)
    }

    // MARK: What has happened

    /// The session is there since 50,000, as all that follows is remembered.
    mutating func online(since: UInt64 = 50_000, remembered: Bool = true, queued: UInt64 = 0) {
        inboxLinks = [ExplainedLink(node: "edge", waitingBytes: 0)]
        loop.sessions = [
            ExplainedSession(
                session: EdgeSession(
                    userID: "anna", sessionID: Self.session, address: "192.0.2.1", client: "c",
                    sinceMilliseconds: since, queuedBytes: queued, channelCount: 2),
                stage: .none)
        ]
        if remembered { fact(.subscribed, at: since, Self.inbox, Self.at(5)) }
    }

    /// The session is subscribed now, and its edge has come to an offset.
    mutating func live(
        upTo offset: UInt64 = 60, epoch: UInt64 = 1, attached: Bool = true,
        features: SubscriptionFeatures = .message, stage: SubscriptionStage = .live
    ) {
        let channel = ExplainedChannel(
            isAttached: attached, position: Self.at(offset, epoch: epoch), subscribers: 1)
        loop.channel = channel
        guard !loop.sessions.isEmpty else { return }
        loop.sessions[0].stage = stage
        loop.sessions[0].features = features
        loop.sessions[0].channel = channel
    }

    /// Facts are told in the order in which they came.
    mutating func fact(
        _ kind: SessionFactKind, at time: UInt64, _ channel: ChannelKey? = Self.channel,
        _ position: StreamPosition? = nil, after: StreamPosition? = nil, gap: Bool = false,
        session: UInt64 = Self.session, cause: String = ""
    ) {
        loop.facts.insert(
            SessionFact(
                kind: kind, atMilliseconds: time, sessionID: session, channel: channel, position: position,
                after: after, hasGap: gap, cause: cause, count: 1), at: 0)
    }

    mutating func ended(at time: UInt64, _ cause: String, remembered: Bool = true) {
        loop.sessions = []
        inboxLinks = []
        inboxLeft = time
        if remembered { fact(.ended, at: time, nil, cause: cause) }
    }

    // MARK: What is asked

    private var log: Result<ExplainedLog, RTMError> {
        if let messagingError { return .failure(messagingError) }
        return .success(
            ExplainedLog(
                node: "messaging",
                response: ExplainResponse(
                    trace: trace, head: Self.at(60), entry: trace == .found ? entry : nil, links: links,
                    leftMilliseconds: logLeft)))
    }

    private var edges: Result<EdgeReports, RTMError> {
        if let edgesError { return .failure(edgesError) }
        let findings = EdgeFindings(explanation: loop)
        return findings.buffer.withUnsafeReadableBytes { bytes in
            .success(
                EdgeReports(
                    EdgeAnswers(
                        asked: UInt32(asked), answers: [EdgeAnswer(number: 1, findings: WireText(bytes))])))
        }
    }

    private var user: UserFacts {
        let inbox = ExplainedLog(
            node: "messaging",
            response: ExplainResponse(
                trace: .none, head: Self.at(5), links: inboxLinks, leftMilliseconds: inboxLeft,
                knownSinceMilliseconds: inboxKnownSince))
        return UserFacts(
            userID: "anna", now: 200_000, bannedUntil: bannedUntil,
            inbox: messagingError.map { .failure($0) } ?? .success(inbox), edges: edges)
    }

    func message(forUser: Bool = true, in channel: ChannelKey = Self.channel) -> DeliveryExplanation {
        MessageExplanation(
            channel: channel, offset: 50, log: log, user: forUser ? user : nil, edges: edges
        ).explanation()
    }

    func explainUser() -> DeliveryExplanation { UserExplanation(user: user).explanation() }

    func publish(by publisher: String? = "ben", in channel: ChannelKey = Self.channel) -> DeliveryExplanation
    {
        PublishExplanation(
            channel: channel, publisher: publisher, publisherBannedUntil: publisherBannedUntil,
            hasHook: hasHook, log: log, user: user
        ).explanation()
    }
}

extension DeliveryExplanation {
    /// The verdict, where it ended, and the verdict of that hop.
    var summary: String { "\(verdict) \(hop) \(last?.verdict.rawValue ?? "")" }

    /// The hop that decided.
    var last: Hop? { tree.all.first { $0.reason == reason } }
}

extension Hop {
    /// This hop, and all behind it.
    var all: [Hop] { [self] + (hops ?? []).flatMap(\.all) }
}
