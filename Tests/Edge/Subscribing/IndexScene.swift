import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMEdgeServer

/// An index whose actions are written down, for tests of single steps. Presence answers at once, unless the
/// test holds its answers back; a client has room, unless the test says otherwise.
struct IndexScene {
    var index = SubscriptionIndex()
    var isWritable = true
    var presenceAnswers = true
    private var connections = SessionConnections()
    private var recorders: [SessionKey: RecordingConnection] = [:]
    private var lastRequest: UInt64 = 0
    /// What was to be done since the test looked last.
    private(set) var attaches: [AttachRequest] = []
    private(set) var detaches: [DetachPush] = []
    private(set) var questions: [SnapshotQuery] = []
    private(set) var collections: [SnapshotQuery] = []
    private(set) var reads: [PageQuery] = []
    private(set) var waiting: [SubscribeID] = []
    private(set) var retries: [SubscribeID] = []
    private(set) var answers: [UInt64: SubscribeAnswer] = [:]
    private(set) var gaps: [StreamPosition] = []
    /// Who got a gap of the channel.
    private(set) var gapReceivers: [SessionKey] = []
    private(set) var entered: [SessionKey] = []
    private(set) var begun: [(session: SessionKey, start: SubscriptionStart)] = []
    private(set) var notEntered: [SessionKey] = []
    private(set) var lacking: [SessionKey] = []
    /// Of each, whether the subscription is continued.
    private(set) var joinsMissed: [Bool] = []
    private(set) var statesHeld: [[StateItem]] = []
    private(set) var refreshed = 0
    private(set) var deliveries = 0

    mutating func session(_ id: UInt64) -> SessionKey {
        let key = SessionKey.test(id)
        let recorder = RecordingConnection()
        recorders[key] = recorder
        connections[key.slot] = recorder
        return key
    }

    // MARK: Events

    /// Returns the request's number. `.ownMessages` among the features asks for these.
    @discardableResult
    mutating func enter(
        _ session: SessionKey, _ channel: ChannelKey = .test("a"), features: SubscriptionFeatures = .message,
        after: StreamPosition? = nil, purpose: SubscribeRequest.Purpose = .subscribe,
        states: [StateItem] = []
    ) -> UInt64 {
        lastRequest += 1
        let request = SubscribeRequest(
            session: session, requestID: lastRequest, channel: channel, purpose: purpose,
            features: features.subtracting(.ownMessages), after: after,
            ownMessages: features.contains(.ownMessages),
            states: states.isEmpty ? nil : JoinStates(items: states))
        change { $0.enter(request) }
        return lastRequest
    }

    mutating func attached(_ interest: UInt64, at position: StreamPosition, gap: Bool = false) {
        if gap { skipped(interest, to: position) }
        change { $0.attached(interest, AttachResponse(position: position)) }
    }

    mutating func skipped(
        _ interest: UInt64, to position: StreamPosition, features: SubscriptionFeatures = .all,
        wentBack: Bool = false
    ) {
        let skip = SkipPush(
            interest: interest, position: position, features: features, wentBack: wentBack)
        change { $0.skipped(skip) }
    }

    mutating func attachFailed(_ interest: UInt64, _ failure: ServiceLinkRequestFailure = .timedOut) {
        for id in index.attachFailed(interest) { handle(.attachFailed(failure), of: id) }
    }

    mutating func pageRead(_ id: SubscribeID, _ page: SubscribePage) {
        handle(.pageRead(.success(page)), of: id)
    }

    mutating func readFailed(_ id: SubscribeID, _ failure: ServiceLinkRequestFailure) {
        handle(.pageRead(.failure(failure)), of: id)
    }

    mutating func presenceAnswered(_ id: SubscribeID, _ frames: ByteBuffer? = ByteBuffer()) {
        let answer = frames.map { PresenceAnswer.snapshot([RequestedPage(frames: $0)]) } ?? .unavailable
        handle(.presenceAnswered(answer), of: id)
    }

    mutating func presenceAnswered(
        _ id: SubscribeID, _ answer: PresenceAnswer, hasSetStates: Bool = false
    ) {
        handle(.presenceAnswered(answer, hasSetStates: hasSetStates), of: id)
    }

    mutating func storageAnswered(
        _ id: SubscribeID, _ outcome: ServiceLinkResult<ByteBuffer>
    ) {
        handle(.storageAnswered(outcome.map { RequestedPage(frames: $0) }), of: id)
    }

    mutating func proceed(_ id: SubscribeID) { handle(.proceed, of: id) }

    private mutating func handle(_ event: SubscribeEvent, of id: SubscribeID) {
        perform(index.handle(event, of: id, isWritable: isWritable))
    }

    mutating func leave(_ session: SessionKey, _ channel: ChannelKey = .test("a")) {
        change { $0.leave(session, channel) ?? [] }
    }

    mutating func change(_ event: (inout SubscriptionIndex) -> SubscribeActions) {
        perform(event(&index))
    }

    mutating func flush() {
        index.endTurn { batch, subscribers, _ in
            deliveries += connections.send(batch, to: subscribers)
        }
    }

    private mutating func perform(_ actions: SubscribeActions) {
        for action in actions {
            switch action {
            case .attach(let request): attaches.append(request)
            case .detach(let push, _): detaches.append(push)
            case .ask(let query):
                questions.append(query)
                if presenceAnswers { presenceAnswered(query.id) }
            case .collect(let query): collections.append(query)
            case .read(let query): reads.append(query)
            case .proceed(let id): proceed(id)
            case .awaitWritable(let id, _): waiting.append(id)
            case .retry(let id, _): retries.append(id)
            case .fanOut(let fanOut): deliveries += connections.send(fanOut.batch, to: fanOut.subscribers)
            case .answer(_, let requestID, let answer): answers[requestID] = answer
            case .send(let session, let page): connections[session.slot]?.send(page)
            case .gap(_, _, let position): gaps.append(position)
            case .gapForAll(let subscribers, _, _, let position):
                gaps.append(position)
                gapReceivers += subscribers.map(\.session)
            case .entered(let session, _): entered.append(session)
            case .began(let session, _, let start): begun.append((session, start))
            case .hasNotEntered(let session, _, _): notEntered.append(session)
            case .joinMissed(_, _, let states, let isContinued):
                joinsMissed.append(isContinued)
                statesHeld.append(states?.items ?? [])
            case .lacksSnapshot(let session, _): lacking.append(session)
            case .refreshed: refreshed += 1
            case .release: break
            }
        }
    }

    // MARK: All the way

    /// All the way to a subscriber; a new channel stands at 7. Returns the channel's number.
    @discardableResult
    mutating func subscribe(
        _ session: SessionKey, to channel: ChannelKey = .test("a"), features: SubscriptionFeatures = .message
    ) throws -> UInt64 {
        let before = attaches.count
        enter(session, channel, features: features)
        if attaches.count > before, let request = attaches.last { attached(request.interest, at: .at(7)) }
        let channelIndex = try #require(index.channels.index(of: channel))
        #expect(isLive(session, in: channel))
        return index.channels[channelIndex].interest
    }

    func isLive(_ session: SessionKey, in channel: ChannelKey = .test("a")) -> Bool {
        guard let channelIndex = index.channels.index(of: channel) else { return false }
        return if case .live = index.bySession[session, channelIndex] { true } else { false }
    }

    func position(_ channel: ChannelKey = .test("a")) -> StreamPosition? { index.position(of: channel) }

    // MARK: Entries

    mutating func gather(
        _ offset: UInt64, skipped: UInt64 = 0, interest: UInt64, from publisher: UInt64 = 99,
        feature: SubscriptionFeatures = .message
    ) {
        gather(
            run: offset...offset, skipped: skipped, interest: interest, from: publisher, feature: feature)
    }

    mutating func gather(
        run offsets: ClosedRange<UInt64>, skipped: UInt64 = 0, interest: UInt64, from publisher: UInt64 = 99,
        feature: SubscriptionFeatures = .message
    ) {
        Self.frames(offsets).withUnsafeReadableBytes { bytes in
            index.gather(
                DeliveryPush(
                    interest: interest, offset: offsets.lowerBound, offsetsBetween: skipped,
                    count: offsets.count, publisherSession: publisher, feature: feature,
                    frames: WireText(bytes)))
        }
    }

    static func frames(_ offsets: ClosedRange<UInt64>) -> ByteBuffer {
        offsets.reduce(into: ByteBuffer()) { frames, offset in
            frames.writeImmutableBuffer(Record(channel: .test("a"), position: .at(offset)).frame)
        }
    }

    /// The offsets that the session has been sent since the last call.
    func taken(_ session: SessionKey) -> [UInt64] {
        var frames = recorders[session]?.takeSent() ?? ByteBuffer()
        var offsets: [UInt64] = []
        while let record = Record(&frames) { offsets.append(record.position.offset) }
        return offsets
    }

    /// Forgets what was to be done so far.
    mutating func forget() {
        (attaches, detaches, questions, reads, waiting, retries) = ([], [], [], [], [], [])
        (answers, gaps, gapReceivers, entered, notEntered, lacking) = ([:], [], [], [], [], [])
        (joinsMissed, refreshed) = ([], 0)
    }
}

extension SubscribeAnswer {
    /// Where the session begins; nil for a refusal.
    var position: StreamPosition? {
        switch self {
        case .subscribed(let position, _, _, _), .loggedIn(let position, _),
            .userMetadataSubscribed(let position, _):
            position
        case .refused, .loginRefused: nil
        }
    }

    var refusal: ErrorCode? {
        switch self {
        case .refused(let error, _), .loginRefused(let error): error.code
        default: nil
        }
    }

    var hasGap: Bool {
        switch self {
        case .subscribed(_, _, let gap, _), .loggedIn(_, let gap), .userMetadataSubscribed(_, let gap): gap
        case .refused, .loginRefused: false
        }
    }
}

extension StreamPosition {
    static func at(_ offset: UInt64, epoch: UInt64 = 5) -> StreamPosition {
        StreamPosition(epoch: epoch, offset: offset)
    }
}
