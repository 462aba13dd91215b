import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

/// One loop of an edge without its sockets: what the index says is done as `EdgeLoop` does it, and everything
/// else (which session asks what, when the link breaks, how far an answer has come) is up to a seed.
struct EdgeHistory {
    private struct CatchUp {
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

        mutating func add(_ other: Events) {
            admissions += other.admissions
            refusals += other.refusals
            catchUps += other.catchUps
            losses += other.losses
            timeouts += other.timeouts
            entries += other.entries
            gaps += other.gaps
        }
    }

    private static let keys = ["a", "b", "c"].map(ChannelKey.test)

    private let seed: UInt64
    private let what: String
    private var random: SeededGenerator
    private var index = SubscriptionIndex()
    private var messaging = FakeMessaging()
    private var isUp = true
    private var viewers: [UInt64: Viewer] = [:]
    private var openAttaches: [Int: UInt64] = [:]
    private var openReads: [Int: CatchUp] = [:]
    private var lastNumber = 0
    /// Where each channel stood at the last end of a turn.
    private var flushed: [ChannelKey: StreamPosition] = [:]
    private var memories: [ChannelKey: [StreamPosition]] = [:]
    private var interests: [UInt64: ChannelKey] = [:]
    private(set) var events = Events()

    init(seed: UInt64) {
        self.seed = seed
        what = "seed \(seed)"
        random = SeededGenerator(seed: seed)
    }

    mutating func step() {
        // Half of the histories are mostly quiet, so that catching up comes to its end.
        let isCalm = seed.isMultiple(of: 2) && random.chance(9, in: 10)
        switch Int.random(in: 0..<60, using: &random) {
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

    private mutating func settle() {
        while !messaging.calls.isEmpty || !messaging.events.isEmpty || reattach(limit: 10) > 0 {
            while !messaging.calls.isEmpty { messaging.perform() }
            while !messaging.events.isEmpty { hear() }
        }
        endTurn()
        #expect(openAttaches.isEmpty && openReads.isEmpty, "\(what)")
    }

    private var catchUpEntries = 0

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func anyKey() -> ChannelKey { Self.keys.randomElement(using: &random) ?? .test("") }

    private mutating func anyViewer() -> Viewer {
        let ids = viewers.keys.sorted()
        if ids.count < 5 || random.chance(1, in: 10) {
            let viewer = Viewer(id: UInt64(nextNumber()), what)
            viewers[viewer.id] = viewer
            return viewer
        }
        return ids.randomElement(using: &random).flatMap { viewers[$0] } ?? Viewer(id: 0, what)
    }

    /// A position to continue from, more often one that can still be continued.
    private mutating func anyMemory(of key: ChannelKey) -> StreamPosition? {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: nil
        case 1: memories[key]?.randomElement(using: &random)
        default: memories[key]?.last
        }
    }

    private mutating func anyFeatures() -> SubscriptionFeatures {
        [[.message], [.message, .presence], [.presence], []].randomElement(using: &random) ?? []
    }
}

// MARK: - Clients

extension EdgeHistory {
    private mutating func publish() {
        let publisher = viewers.keys.sorted().randomElement(using: &random) ?? 0
        let entry = FakeMessaging.Entry(
            publisherSession: random.chance(1, in: 3) ? 0 : publisher,
            feature: random.chance(1, in: 4) ? .presence : .message)
        messaging.publish(entry, to: anyKey())
    }

    private mutating func subscribe() {
        let (viewer, key, features) = (anyViewer(), anyKey(), anyFeatures())
        let place = index.place(of: key)
        if let place, viewer.session.subscriptions[place]?.place != nil {
            index.setFeatures(features, of: viewer.session, at: place)
            look()
            if let position = index.position(at: place) { expect(viewer, on: key, upTo: position) }
            viewer.changes(key, features)
            return
        }
        // One subscribe to a channel at a time, unless it was unsubscribed meanwhile (M-8).
        if let place, viewer.session.subscriptions[place] != nil { return }
        let pending = PendingSubscribe(
            session: viewer.session, requestID: UInt64(nextNumber()), features: features,
            after: anyMemory(of: key),
            purpose: .subscribe)
        switch index.enter(pending, key) {
        case .attach(let request): attach(request)
        case .wait: break
        case .proceed(let place): proceed(pending, at: place)
        }
    }

    private mutating func unsubscribe() {
        let (viewer, key) = (anyViewer(), anyKey())
        guard let place = index.place(of: key), viewer.session.subscriptions[place] != nil else { return }
        leave(viewer, key)
        detach(index.remove(viewer.session, at: place))
    }

    private mutating func endSession(_ viewer: Viewer) {
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
    private mutating func leave(_ viewer: Viewer, _ key: ChannelKey) {
        look()
        if let position = flushed[key] { expect(viewer, on: key, upTo: position) }
        if let seen = viewer.seen(key) { memories[key, default: []].append(seen) }
        viewer.ends(key)
    }
}

// MARK: - The link

extension EdgeHistory {
    private mutating func attach(_ request: AttachRequest) {
        #expect(
            interests[request.interest] ?? request.channel == request.channel,
            "\(what): one number for two channels")
        interests[request.interest] = request.channel
        guard isUp else { return attachFailed(request.interest) }
        let id = nextNumber()
        openAttaches[id] = request.interest
        messaging.call(.attach(id: id, request))
    }

    private mutating func detach(_ push: DetachPush?) {
        guard let push else { return }
        #expect(interests[push.interest] != nil, "\(what): a detach without an attach")
        if isUp { messaging.call(.detach(push)) }
    }

    private mutating func loseLink(restarting: Bool) {
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
        for (_, catchUp) in reads.sorted(by: { $0.key < $1.key }) {
            giveUp(catchUp.pending, at: catchUp.place)
        }
        if failuresFirst { index.linkLost() }
    }

    private mutating func raiseLink() {
        guard !isUp else { return }
        isUp = true
        reattach(limit: 2)
    }

    @discardableResult
    private mutating func reattach(limit: Int) -> Int {
        guard isUp else { return 0 }
        let requests = index.reattach(limit: limit)
        #expect(requests.count <= limit)
        for request in requests { attach(request) }
        return requests.count
    }

    /// An answer doesn't come in time, though messaging may have done what was asked, or do it later.
    private mutating func timeOut() {
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

    private mutating func hear() {
        switch messaging.nextEvent() {
        case .delivery(let interest, let channel, let position, let entry):
            Record(channel: channel, position: position).frame.withUnsafeReadableBytes { frame in
                index.gather(
                    DeliveryPush(
                        interest: interest, offset: position.offset,
                        publisherSession: entry.publisherSession, feature: entry.feature,
                        frame: WireText(frame)))
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

    private mutating func endTurn() {
        index.flush()
        look()
        for key in Self.keys { flushed[key] = index.place(of: key).flatMap { index.position(at: $0) } }
    }

    private func look() {
        for viewer in viewers.values { viewer.look(messaging.archive) }
    }

    private mutating func expect(_ viewer: Viewer, on key: ChannelKey, upTo position: StreamPosition) {
        guard viewer.isLive(key) else { return }
        // Where a log began anew while an attach timed out, the index may take an entry of the new log for the next one
        // of the old. The gap that is said then covers it.
        guard events.timeouts == 0 || position.epoch == messaging.head(of: key).epoch else { return }
        viewer.expectNothingMissed(key, upTo: position, messaging.archive)
    }
}

// MARK: - As the loop does it

extension EdgeHistory {
    private mutating func attached(_ interest: UInt64, _ response: AttachResponse) {
        let known = interests[interest].flatMap { index.place(of: $0) }.flatMap { index.position(at: $0) }
        guard let attached = index.attached(interest, response) else { return }
        let key = index.key(at: attached.place)
        look()
        for viewer in viewers.values { known.map { expect(viewer, on: key, upTo: $0) } }
        if let position = attached.gap {
            index.sendToAll(
                Record(channel: key, position: position, isGap: true).frame, at: attached.place)
            look()
        }
        for pending in attached.waiting { proceed(pending, at: attached.place) }
    }

    private mutating func attachFailed(_ interest: UInt64) {
        guard let (place, refused) = index.attachFailed(interest) else { return }
        for pending in refused { giveUp(pending, at: place) }
    }

    private mutating func proceed(_ pending: PendingSubscribe, at place: Int) {
        guard index.isCurrent(pending, at: place), let viewer = viewers[pending.session.id.rawValue] else {
            return giveUp(pending, at: place)
        }
        if let after = pending.after, after != index.position(at: place) {
            read(CatchUp(viewer: viewer, pending: pending, place: place, after: after))
        } else {
            goLive(pending, at: place)
        }
    }

    private mutating func goLive(
        _ pending: PendingSubscribe, at place: Int, behind page: StreamPosition? = nil
    ) {
        let key = index.key(at: place)
        let position = index.admit(pending, at: place)
        look()
        guard let position, let viewer = viewers[pending.session.id.rawValue] else {
            Issue.record("\(what): admitted without a position")
            return
        }
        if let page { #expect(position == page, "\(what): the session doesn't go live where its page ended") }
        viewer.begins(key, pending.features, at: position, isLive: true)
        events.admissions += 1
    }

    private mutating func giveUp(_ pending: PendingSubscribe, at place: Int) {
        let key = index.key(at: place)
        if index.isCurrent(pending, at: place) { viewers[pending.session.id.rawValue]?.ends(key) }
        detach(index.abandon(pending, at: place))
        events.refusals += 1
    }

    private mutating func read(_ catchUp: CatchUp) {
        let id = nextNumber()
        openReads[id] = catchUp
        messaging.call(
            .read(
                id: id,
                FakeMessaging.Read(
                    channel: index.key(at: catchUp.place), after: catchUp.after, session: catchUp.viewer.id,
                    features: catchUp.pending.features, entriesMax: .random(in: 1...3, using: &random))))
    }

    private mutating func readFailed(_ catchUp: CatchUp) {
        // Who has seen a part of what it missed goes on behind a gap.
        if catchUp.pending.isAnswered, index.isCurrent(catchUp.pending, at: catchUp.place) {
            goLive(catchUp.pending, at: catchUp.place)
        } else {
            giveUp(catchUp.pending, at: catchUp.place)
        }
    }

    private mutating func read(_ catchUp: CatchUp, _ page: FakeMessaging.Page) {
        let (viewer, place) = (catchUp.viewer, catchUp.place)
        var pending = catchUp.pending
        guard index.isCurrent(pending, at: place) else { return giveUp(pending, at: place) }
        if page.gap { return goLive(pending, at: place) }
        let key = index.key(at: place)
        if !pending.isAnswered { viewer.begins(key, pending.features, at: catchUp.after, isLive: false) }
        pending.isAnswered = true
        for offset in page.offsets {
            let position = StreamPosition(epoch: page.position.epoch, offset: offset)
            pending.session.send(Record(channel: key, position: position).frame)
            catchUpEntries += 1
        }
        look()
        viewer.expectNothingMissed(key, upTo: page.position, messaging.archive)
        if page.more {
            read(
                CatchUp(viewer: viewer, pending: pending, place: place, after: page.position))
        } else {
            events.catchUps += 1
            goLive(pending, at: place, behind: page.position)
        }
    }
}
