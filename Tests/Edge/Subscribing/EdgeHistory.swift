import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

/// One loop of an edge without its sockets. `SubscriptionIndex` decides, and what it wants done is done as
/// `Subscribing` does it. Everything else is up to a seed: which session asks what, when the link breaks, how
/// far an answer has come, whose client reads.
struct EdgeHistory {
    struct Events: Equatable {
        var admissions = 0
        var refusals = 0
        var pages = 0
        var losses = 0
        var timeouts = 0
        var entries = 0
        var gaps = 0
        var preparations = 0
        var returns = 0
        var refreshes = 0
        var writableWaits = 0
        var collections = 0
        var retries = 0
        /// Subscribes that the log moved on behind, and that needed no page nevertheless.
        var sparedPages = 0

        mutating func add(_ other: Events) {
            admissions += other.admissions
            refusals += other.refusals
            pages += other.pages
            losses += other.losses
            timeouts += other.timeouts
            entries += other.entries
            gaps += other.gaps
            preparations += other.preparations
            returns += other.returns
            refreshes += other.refreshes
            writableWaits += other.writableWaits
            collections += other.collections
            retries += other.retries
            sparedPages += other.sparedPages
        }
    }

    struct Request {
        let key: ChannelKey
        let features: SubscriptionFeatures
        let after: StreamPosition?
    }

    /// A subscribe that presence or storage has yet to answer for.
    struct Preparation {
        let id: SubscribeID
        let service: SubscriptionFeatures
        /// Only the snapshot is asked for, because it is big.
        var isCollection = false
    }

    private static let keys = ["a", "b", "c"].map(ChannelKey.test)

    private let seed: UInt64
    let what: String
    var random: SeededGenerator
    var index = SubscriptionIndex()
    var connections = SessionConnections()
    var messaging = FakeMessaging()
    var isUp = true
    var viewers: [UInt64: Viewer] = [:]
    /// What the requests asked for that have yet to be answered.
    var requests: [UInt64: Request] = [:]
    var openAttaches: [Int: UInt64] = [:]
    var openReads: [Int: SubscribeID] = [:]
    var openPreparations: [Preparation] = []
    /// Subscribes that go on when their client has read, or when some time has passed.
    var delayed: [SubscribeID] = []
    /// Where the channel stood when presence was asked for a subscribe that has needed no page so far.
    var asked: [SubscribeID: (session: SessionKey, key: ChannelKey, position: StreamPosition?)] = [:]
    var memories: [ChannelKey: [StreamPosition]] = [:]
    var interests: [UInt64: ChannelKey] = [:]
    var deliveries = 0
    /// Entries that came with pages, not by the fan-out.
    var pageEntries = 0
    var lastNumber = 0
    var isSettling = false
    var events = Events()

    init(seed: UInt64) {
        self.seed = seed
        what = "seed \(seed)"
        random = SeededGenerator(seed: seed)
    }

    mutating func step() {
        // Half of the histories are mostly quiet, so that catching up comes to its end.
        let isCalm = seed.isMultiple(of: 2) && random.chance(9, in: 10)
        switch Int.random(in: 0..<76, using: &random) {
        case 70..<76: delayedAny()
        case 60..<66: answerAny()
        case 66..<70: refreshAny()
        case 0..<14: publish()
        case 14..<24: messaging.perform()
        case 24..<38: receive()
        case 38..<43: flush()
        case 43..<51: subscribe()
        case 51, 52: unsubscribe()
        case 53: endSession(anyViewer())
        case 54 where !isCalm: loseLink(restarting: random.chance(1, in: 3))
        case 55 where !isCalm: messaging.trim(anyKey())
        case 56 where !isCalm: timeOut()
        case 57, 58: raiseLink()
        default: reattach(limit: 2)
        }
    }

    /// Everything that is under way comes to its end. Then all sessions leave, and nothing must be left of
    /// them.
    mutating func finish() {
        isSettling = true
        raiseLink()
        settle()
        for viewer in viewers.values {
            for key in viewer.channels {
                let head = messaging.head(of: key)
                viewer.expectNothingMissed(key, upTo: head, messaging.archive)
                #expect(
                    viewer.seen(key) == head, "\(what): session \(viewer.id) is not up to date on \(key.name)"
                )
            }
        }
        for id in viewers.keys.sorted() { viewers[id].map { endSession($0) } }
        settle()
        #expect(index.channelCount == 0, "\(what): places are left")
        #expect(messaging.attached.isEmpty, "\(what): messaging still has our interest")
        #expect(deliveries + pageEntries == events.entries, "\(what)")
    }

    mutating func settle() {
        while !messaging.calls.isEmpty || !messaging.events.isEmpty || !openPreparations.isEmpty
            || !delayed.isEmpty || reattach(limit: 10) > 0
        {
            while !openPreparations.isEmpty { answerAny() }
            while !delayed.isEmpty { delayedAny() }
            while !messaging.calls.isEmpty { messaging.perform() }
            while !messaging.events.isEmpty { receive() }
        }
        flush()
        #expect(openAttaches.isEmpty && openReads.isEmpty, "\(what)")
    }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func anyKey() -> ChannelKey { Self.keys.randomElement(using: &random) ?? .test("") }

    mutating func anyViewer() -> Viewer {
        let ids = viewers.keys.sorted()
        if ids.count < 5 || random.chance(1, in: 10) {
            let viewer = Viewer(id: UInt64(nextNumber()), what)
            viewers[viewer.id] = viewer
            connections[viewer.key.slot] = viewer.connection
            return viewer
        }
        return ids.randomElement(using: &random).flatMap { viewers[$0] } ?? Viewer(id: 0, what)
    }

    /// A position to continue from, more often one that can still be continued.
    mutating func anyMemory(of key: ChannelKey) -> StreamPosition? {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: nil
        case 1: memories[key]?.randomElement(using: &random)
        default: memories[key]?.last
        }
    }

    mutating func anyFeatures() -> SubscriptionFeatures {
        [
            [.message], [.message, .presence], [.message, .metadata], [.presence], [],
            [.message, .ownMessages], [.message, .presence, .ownMessages], [.presence, .ownMessages],
        ]
        .randomElement(using: &random) ?? []
    }

    /// Whether a session's client has read what was sent before.
    mutating func isWritable() -> Bool { isSettling || random.chance(4, in: 5) }
}

// MARK: - Clients

extension EdgeHistory {
    mutating func publish() {
        let publisher = viewers.keys.sorted().randomElement(using: &random) ?? 0
        let entry = FakeMessaging.Entry(
            publisherSession: random.chance(1, in: 3) ? 0 : publisher,
            feature: random.chance(1, in: 4) ? .presence : .message)
        messaging.publish(entry, to: anyKey(), behind: max(0, .random(in: -2...3, using: &random)))
    }

    mutating func subscribe() {
        let (viewer, key, features) = (anyViewer(), anyKey(), anyFeatures())
        // One subscribe to a channel at a time, unless the channel was unsubscribed meanwhile (M-8).
        guard !index.isSubscribing(viewer.key, to: key) else { return }
        if index.isSubscribed(viewer.key, to: key) { events.returns += 1 }
        let requestID = UInt64(nextNumber())
        let after = anyMemory(of: key)
        requests[requestID] = Request(key: key, features: features, after: after)
        let request = SubscribeRequest(
            session: viewer.key, requestID: requestID, channel: key, purpose: .subscribe,
            features: features.subtracting(.ownMessages), after: after,
            ownMessages: features.contains(.ownMessages))
        change { index, _ in index.enter(request) }
    }

    /// A subscriber gets a new snapshot of presence.
    mutating func refreshAny() {
        let (viewer, key) = (anyViewer(), anyKey())
        guard let channelIndex = index.channels.index(of: key) else { return }
        var isRefreshed = false
        change { index, _ in
            let actions = index.refresh(viewer.key, at: channelIndex)
            isRefreshed = actions != nil
            return actions ?? []
        }
        if isRefreshed { events.refreshes += 1 }
    }

    mutating func unsubscribe() {
        let (viewer, key) = (anyViewer(), anyKey())
        guard index.isSubscribed(viewer.key, to: key) else { return }
        leaves(viewer, key)
        change { index, _ in index.leave(viewer.key, key) ?? [] }
    }

    mutating func endSession(_ viewer: Viewer) {
        look()
        for key in viewer.channels { leaves(viewer, key) }
        change { index, _ in index.ended(viewer.key) }
        viewers[viewer.id] = nil
        connections[viewer.key.slot] = nil
        #expect(index.bySession.all(of: viewer.key).isEmpty, "\(what)")
        events.entries += viewer.entryCount
        events.gaps += viewer.gapCount
    }

    /// What arrived in this turn may come too late for the one who leaves.
    private mutating func leaves(_ viewer: Viewer, _ key: ChannelKey) {
        look()
        if let seen = viewer.seen(key) { memories[key, default: []].append(seen) }
        viewer.ends(key)
    }
}

// MARK: - The link

extension EdgeHistory {
    mutating func loseLink(restarting: Bool) {
        guard isUp else { return }
        isUp = false
        events.losses += 1
        messaging.loseLink()
        if restarting { messaging.restart() }
        let failuresFirst = random.chance(1, in: 2)
        if !failuresFirst { index.linkLost(0) }
        let (attaches, reads) = (openAttaches, openReads)
        openAttaches = [:]
        openReads = [:]
        for (_, interest) in attaches.sorted(by: { $0.key < $1.key }) {
            attachFailed(interest, .disconnected)
        }
        for (_, id) in reads.sorted(by: { $0.key < $1.key }) {
            handle(.pageRead(.failure(.disconnected)), of: id)
        }
        if failuresFirst { index.linkLost(0) }
    }

    mutating func raiseLink() {
        guard !isUp else { return }
        isUp = true
        reattach(limit: 2)
    }

    @discardableResult
    mutating func reattach(limit: Int) -> Int {
        guard isUp else { return 0 }
        let requests = index.reattach(0, limit: limit)
        #expect(requests.count <= limit)
        for request in requests { attach(request) }
        return requests.count
    }

    /// An answer doesn't come in time, though messaging may have done what was asked, or do it later.
    mutating func timeOut() {
        if let (number, interest) = openAttaches.min(by: { $0.key < $1.key }) {
            events.timeouts += 1
            openAttaches[number] = nil
            attachFailed(interest, .timedOut)
        } else if let (number, id) = openReads.min(by: { $0.key < $1.key }) {
            events.timeouts += 1
            openReads[number] = nil
            handle(.pageRead(.failure(.timedOut)), of: id)
        }
    }

    mutating func attachFailed(_ interest: UInt64, _ failure: ServiceLinkRequestFailure) {
        for id in index.attachFailed(interest) { handle(.attachFailed(failure), of: id) }
    }

    mutating func receive() {
        switch messaging.nextEvent() {
        case .delivery(let interest, let channel, let position, let skipped, let entry):
            Record(channel: channel, position: position).frame.withUnsafeReadableBytes { frame in
                index.gather(
                    DeliveryPush(
                        interest: interest, offset: position.offset, offsetsBetween: skipped, count: 1,
                        publisherSession: entry.publisherSession, feature: entry.feature,
                        frames: WireText(frame)))
            }
        case .skipped(let skip):
            change { index, _ in index.skipped(skip) }
        case .attached(let number, let response):
            guard let interest = openAttaches.removeValue(forKey: number) else { return }
            change { index, _ in index.attached(interest, response) }
        case .page(let number, let page):
            guard let id = openReads.removeValue(forKey: number) else { return }
            events.pages += 1
            let key = index.channel(of: id) ?? .test("left meanwhile")
            let frames = page.offsets.reduce(into: ByteBuffer()) { frames, offset in
                let position = StreamPosition(epoch: page.position.epoch, offset: offset)
                frames.writeImmutableBuffer(Record(channel: key, position: position).frame)
            }
            let read = SubscribePage(
                frames: frames, position: page.position, gap: page.gap, more: page.more)
            handle(.pageRead(.success(read)), of: id)
        case nil:
            break
        }
    }
}
