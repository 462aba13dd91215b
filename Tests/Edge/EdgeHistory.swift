import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

/// One loop of an edge without its sockets: what the index says is done as `EdgeLoop` does it, and everything
/// else (which session asks what, when the link breaks, how far an answer has come) is up to a seed.
struct EdgeHistory {
    struct CatchUp {
        let viewer: Viewer
        var pending: PendingSubscribe
        let place: Int
        let after: StreamPosition
    }

    struct Events: Equatable {
        var admissions = 0
        var refusals = 0
        var catchUps = 0
        var losses = 0
        var timeouts = 0
        var entries = 0
        var gaps = 0
        var preparations = 0
        var returns = 0

        mutating func add(_ other: Events) {
            admissions += other.admissions
            refusals += other.refusals
            catchUps += other.catchUps
            losses += other.losses
            timeouts += other.timeouts
            entries += other.entries
            gaps += other.gaps
            preparations += other.preparations
            returns += other.returns
        }
    }

    private static let keys = ["a", "b", "c"].map(ChannelKey.test)

    private let seed: UInt64
    let what: String
    var random: SeededGenerator
    var index = SubscriptionIndex()
    var messaging = FakeMessaging()
    var isUp = true
    var viewers: [UInt64: Viewer] = [:]
    var openAttaches: [Int: UInt64] = [:]
    var openReads: [Int: CatchUp] = [:]
    /// Subscribes for which presence and storage have yet to answer.
    var openPreparations: [Int: (pending: PendingSubscribe, place: Int)] = [:]
    var lastNumber = 0
    /// Where each channel stood at the last end of a turn.
    var flushed: [ChannelKey: StreamPosition] = [:]
    var memories: [ChannelKey: [StreamPosition]] = [:]
    var interests: [UInt64: ChannelKey] = [:]
    /// Entries that came with pages, not through the index.
    var catchUpEntries = 0
    var events = Events()

    init(seed: UInt64) {
        self.seed = seed
        what = "seed \(seed)"
        random = SeededGenerator(seed: seed)
    }

    mutating func step() {
        // Half of the histories are mostly quiet, so that catching up comes to its end.
        let isCalm = seed.isMultiple(of: 2) && random.chance(9, in: 10)
        switch Int.random(in: 0..<66, using: &random) {
        case 60..<66: prepareAny()
        case 0..<14: publish()
        case 14..<24: messaging.perform()
        case 24..<38: hear()
        case 38..<43: endTurn()
        case 43..<50: subscribe()
        case 50..<53: unsubscribe()
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
        #expect(index.deliveries + catchUpEntries == events.entries, "\(what)")
    }

    mutating func settle() {
        while !messaging.calls.isEmpty || !messaging.events.isEmpty || !openPreparations.isEmpty
            || reattach(limit: 10) > 0
        {
            while !openPreparations.isEmpty { prepareAny() }
            while !messaging.calls.isEmpty { messaging.perform() }
            while !messaging.events.isEmpty { hear() }
        }
        endTurn()
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
        [[.message], [.message, .presence], [.presence], []].randomElement(using: &random) ?? []
    }
}

// MARK: - Clients

extension EdgeHistory {
    mutating func publish() {
        let publisher = viewers.keys.sorted().randomElement(using: &random) ?? 0
        let entry = FakeMessaging.Entry(
            publisherSession: random.chance(1, in: 3) ? 0 : publisher,
            feature: random.chance(1, in: 4) ? .presence : .message)
        messaging.publish(entry, to: anyKey())
    }

    mutating func subscribe() {
        let (viewer, key, features) = (anyViewer(), anyKey(), anyFeatures())
        var pending = PendingSubscribe(
            session: viewer.session, requestID: UInt64(nextNumber()), features: features,
            after: anyMemory(of: key),
            purpose: .subscribe)
        if let place = index.place(of: key), viewer.session.subscriptions[place] != nil {
            // One subscribe to a channel at a time, unless it was unsubscribed meanwhile (M-8).
            guard let paused = index.pause(viewer.session, at: place) else { return }
            look()
            expect(viewer, on: key, upTo: paused.position)
            viewer.pauses(key)
            pending.after = paused.position
            pending.isReturn = true
            events.returns += 1
        }
        switch index.enter(pending, key) {
        case .attach(let request): attach(request)
        case .wait: break
        case .proceed(let place): proceed(pending, at: place)
        }
    }

    mutating func unsubscribe() {
        let (viewer, key) = (anyViewer(), anyKey())
        guard let place = index.place(of: key), viewer.session.subscriptions[place] != nil else { return }
        leave(viewer, key)
        detach(index.remove(viewer.session, at: place))
    }

    mutating func endSession(_ viewer: Viewer) {
        for key in viewer.channels { leave(viewer, key) }
        viewers[viewer.id] = nil
        viewer.session.end()
        let detached = index.removeAll(viewer.session)
        #expect(viewer.session.subscriptions.isEmpty && viewer.session.liveSubscriptions == 0, "\(what)")
        for push in detached.sorted(by: { $0.interest < $1.interest }) { detach(push) }
        events.entries += viewer.entryCount
        events.gaps += viewer.gapCount
    }

    /// What was handed out before is judged now; what arrived in this turn may come too late for the one who
    /// leaves.
    mutating func leave(_ viewer: Viewer, _ key: ChannelKey) {
        look()
        if let position = flushed[key] { expect(viewer, on: key, upTo: position) }
        if let seen = viewer.seen(key) { memories[key, default: []].append(seen) }
        viewer.ends(key)
    }
}

// MARK: - The link

extension EdgeHistory {
    mutating func attach(_ request: AttachRequest) {
        #expect(
            interests[request.interest] ?? request.channel == request.channel,
            "\(what): one number for two channels")
        interests[request.interest] = request.channel
        guard isUp else { return attachFailed(request.interest) }
        let id = nextNumber()
        openAttaches[id] = request.interest
        messaging.call(.attach(id: id, request))
    }

    mutating func detach(_ push: DetachPush?) {
        guard let push else { return }
        #expect(interests[push.interest] != nil, "\(what): a detach without an attach")
        if isUp { messaging.call(.detach(push)) }
    }

    mutating func loseLink(restarting: Bool) {
        guard isUp else { return }
        isUp = false
        events.losses += 1
        messaging.loseLink()
        if restarting { messaging.restart() }
        let failuresFirst = random.chance(1, in: 2)
        if !failuresFirst { index.linkLost() }
        let (attaches, reads) = (openAttaches, openReads)
        openAttaches = [:]
        openReads = [:]
        for (_, interest) in attaches.sorted(by: { $0.key < $1.key }) { attachFailed(interest) }
        for (_, catchUp) in reads.sorted(by: { $0.key < $1.key }) { readFailed(catchUp) }
        if failuresFirst { index.linkLost() }
    }

    mutating func raiseLink() {
        guard !isUp else { return }
        isUp = true
        reattach(limit: 2)
    }

    @discardableResult
    mutating func reattach(limit: Int) -> Int {
        guard isUp else { return 0 }
        let requests = index.reattach(limit: limit)
        #expect(requests.count <= limit)
        for request in requests { attach(request) }
        return requests.count
    }

    /// An answer doesn't come in time, though messaging may have done what was asked, or do it later.
    mutating func timeOut() {
        if let (id, interest) = openAttaches.min(by: { $0.key < $1.key }) {
            events.timeouts += 1
            openAttaches[id] = nil
            attachFailed(interest)
        } else if let (id, catchUp) = openReads.min(by: { $0.key < $1.key }) {
            events.timeouts += 1
            openReads[id] = nil
            readFailed(catchUp)
        }
    }

    mutating func hear() {
        switch messaging.nextEvent() {
        case .delivery(let interest, let channel, let position, let entry):
            Record(channel: channel, position: position).frame.withUnsafeReadableBytes { frame in
                index.gather(
                    DeliveryPush(
                        interest: interest, offset: position.offset, count: 1,
                        publisherSession: entry.publisherSession, feature: entry.feature,
                        frames: WireText(frame)))
            }
        case .attached(let id, let response):
            guard let interest = openAttaches.removeValue(forKey: id) else { return }
            attached(interest, response)
        case .page(let id, let page):
            guard let catchUp = openReads.removeValue(forKey: id) else { return }
            read(catchUp, page)
        case nil:
            break
        }
    }

    mutating func endTurn() {
        index.flush()
        look()
        for key in Self.keys { flushed[key] = index.place(of: key).flatMap { index.position(at: $0) } }
    }

    func look() {
        for viewer in viewers.values { viewer.look(messaging.archive) }
    }

    mutating func expect(_ viewer: Viewer, on key: ChannelKey, upTo position: StreamPosition) {
        guard viewer.isLive(key) else { return }
        // Where a log began anew while an attach timed out, the index may take an entry of the new log for
        // the next one of the old. The gap that is said then covers it.
        guard events.timeouts == 0 || position.epoch == messaging.head(of: key).epoch else { return }
        viewer.expectNothingMissed(key, upTo: position, messaging.archive)
    }
}
