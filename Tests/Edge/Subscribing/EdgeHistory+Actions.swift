import NIOCore
import RTMModel
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

/// Performing what the index wants done, and judging what the sessions are sent.
extension EdgeHistory {
    mutating func change(
        _ event: (inout SubscriptionIndex, _ isWritable: Bool) -> SubscribeActions
    ) {
        let isWritable = isWritable()
        perform(event(&index, isWritable))
        lookWhoIsLive()
    }

    mutating func handle(_ event: SubscribeEvent, of id: SubscribeID) {
        change { $0.handle(event, of: id, isWritable: $1) }
    }

    mutating func flush() {
        index.endTurn { batch, subscribers, _ in
            deliveries += connections.send(batch, to: subscribers)
        }
        look()
        for viewer in viewers.values {
            for key in viewer.channels where viewer.isLive(key) { expectUpToDate(viewer, on: key) }
        }
    }

    private mutating func perform(_ actions: SubscribeActions) {
        for action in actions { perform(action) }
    }

    private mutating func perform(_ action: SubscribeAction) {
        switch action {
        case .attach(let request): attach(request)
        case .detach(let push, _): detach(push)
        case .ask(let query): ask(query)
        case .collect(let query): collect(query)
        case .read(let query): read(query)
        case .proceed(let id): handle(.proceed, of: id)
        case .awaitWritable(let id, _):
            events.writableWaits += 1
            delayed.append(id)
        case .retry(let id, _):
            events.retries += 1
            delayed.append(id)
        case .fanOut(let fanOut): deliveries += connections.send(fanOut.batch, to: fanOut.subscribers)
        case .answer(let session, let requestID, let answer): give(answer, to: session, requestID)
        case .send(let session, let page):
            var rest = page.frames
            while Record(&rest) != nil { pageEntries += 1 }
            connections[session.slot]?.send(page)
        case .gap(let session, let channel, let position):
            send(Record(channel: channel, position: position, isGap: true), to: session)
        case .gapForAll(let subscribers, _, let channel, let position):
            let gap = Record(channel: channel, position: position, isGap: true)
            for subscriber in subscribers { send(gap, to: subscriber.session) }
        case .entered, .began, .hasNotEntered, .joinMissed, .lacksSnapshot, .refreshed, .release: break
        }
    }

    private func send(_ record: Record, to session: SessionKey) {
        connections[session.slot]?.send(record.frame)
    }

    mutating func attach(_ request: AttachRequest) {
        #expect(
            interests[request.interest] ?? request.channel == request.channel,
            "\(what): one number for two channels")
        interests[request.interest] = request.channel
        guard isUp else { return attachFailed(request.interest, .disconnected) }
        let number = nextNumber()
        openAttaches[number] = request.interest
        messaging.call(.attach(id: number, request))
    }

    private mutating func detach(_ push: DetachPush) {
        #expect(interests[push.interest] != nil, "\(what): a detach without an attach")
        if isUp { messaging.call(.detach(push)) }
    }

    private mutating func read(_ query: PageQuery) {
        asked[query.id] = nil
        let number = nextNumber()
        openReads[number] = query.id
        messaging.call(
            .read(
                id: number,
                FakeMessaging.Read(
                    channel: query.channel, after: query.after, session: query.session.id.rawValue,
                    features: query.features, entriesMax: .random(in: 1...3, using: &random))))
    }

    private mutating func ask(_ query: SnapshotQuery) {
        asked[query.id] = (query.session, query.channel, index.position(of: query.channel))
        openPreparations.append(Preparation(id: query.id, service: .presence))
        if !query.stored.isEmpty { openPreparations.append(Preparation(id: query.id, service: .metadata)) }
    }

    private mutating func collect(_ query: SnapshotQuery) {
        events.collections += 1
        #expect(query.join == nil && query.wantsRoster, "\(what): only presence had a big snapshot")
        openPreparations.append(Preparation(id: query.id, service: .presence, isCollection: true))
    }

    // MARK: What comes later

    /// Presence or storage answers for one of them, with a snapshot or not.
    mutating func answerAny() {
        guard let number = openPreparations.indices.randomElement(using: &random) else { return }
        let preparation = openPreparations.remove(at: number)
        let isThere = random.chance(4, in: 5)
        let isBig = !preparation.isCollection && random.chance(1, in: 4)
        events.preparations += 1
        if preparation.service == .presence {
            let answer: PresenceAnswer =
                isThere ? (isBig ? .bigSnapshot : .snapshot([])) : .unavailable
            handle(.presenceAnswered(answer), of: preparation.id)
        } else {
            handle(
                .storageAnswered(
                    isThere ? .success(RequestedPage(frames: ByteBuffer())) : .failure(.timedOut)),
                of: preparation.id)
        }
    }

    /// A client has read, or some time has passed.
    mutating func delayedAny() {
        guard let number = delayed.indices.randomElement(using: &random) else { return }
        let id = delayed.remove(at: number)
        handle(.proceed, of: id)
    }

    // MARK: Judging

    private mutating func give(_ answer: SubscribeAnswer, to session: SessionKey, _ requestID: UInt64) {
        guard let request = requests.removeValue(forKey: requestID) else {
            Issue.record("\(what): request \(requestID) is answered a second time")
            return
        }
        switch answer {
        case .subscribed(let position, _, let gap, _):
            look()
            let viewer = viewers[session.id.rawValue]
            // A position is ignored by whoever is subscribed already.
            let after = viewer?.seen(request.key) ?? request.after
            viewer?.begins(request.key, request.features, at: position)
            guard gap else { return }
            viewer?.expectReason(
                request.key, after: after, position, messaging.archive, lostUpTo: messaging.starts)
        case .refused:
            events.refusals += 1
        case .loggedIn, .loginRefused, .userMetadataSubscribed:
            Issue.record("\(what): nobody asked for that")
        }
    }

    func look() {
        for viewer in viewers.values { viewer.look(messaging.archive, lostUpTo: messaging.starts) }
    }

    /// Who has become a subscriber, or was taken out to come in again, has missed nothing up to there.
    private mutating func lookWhoIsLive() {
        look()
        for viewer in viewers.values {
            for key in viewer.channels {
                guard let channelIndex = index.channels.index(of: key) else { continue }
                let isLive = if case .live = index.bySession[viewer.key, channelIndex] { true } else { false }
                guard isLive != viewer.isLive(key) else { continue }
                viewer.isLive(key, isLive)
                expectUpToDate(viewer, on: key)
                if isLive { events.admissions += 1 }
            }
        }
        countSparedPages()
    }

    private mutating func countSparedPages() {
        for (id, began) in asked where index.session(of: id) == nil {
            asked[id] = nil
            guard let channelIndex = index.channels.index(of: began.key), let position = began.position,
                case .live = index.bySession[began.session, channelIndex],
                let now = index.position(of: began.key)
            else { continue }
            if now.epoch == position.epoch, now.offset > position.offset { events.sparedPages += 1 }
        }
    }

    private func expectUpToDate(_ viewer: Viewer, on key: ChannelKey) {
        guard let position = index.position(of: key) else { return }
        viewer.expectNothingMissed(key, upTo: position, messaging.archive)
    }
}
