import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// Subscribing in one loop: it feeds `SubscriptionIndex` with what clients ask and other services answer,
/// performs what the index wants done, and hands the entries of each turn to their subscribers.
final class Subscribing {
    private let eventLoop: any EventLoop
    private let endOfTurn: EndOfTurn
    private let sessions: Sessions
    private let messaging: MessagingClient<ServiceEvents>
    private let snapshots: SnapshotReads
    private let reads: CatchUpReads
    private let memberships: Memberships
    private let locks: Locks
    private let metrics: EdgeMetrics
    private let wallClock: () -> UInt64
    /// Limit: channels that are attached again at the same time.
    private let reattachBatch: Int
    private var index = SubscriptionIndex()
    private var channelsReported = 0
    private var isScheduled = false
    /// What is traced of the entries of this turn.
    private var traced: [Tracer.Work] = []

    init(
        eventLoop: any EventLoop, endOfTurn: EndOfTurn, sessions: Sessions,
        messaging: MessagingClient<ServiceEvents>, snapshots: SnapshotReads, memberships: Memberships,
        locks: Locks, metrics: EdgeMetrics, wallClock: @escaping () -> UInt64, reattachBatch: Int
    ) {
        self.eventLoop = eventLoop
        self.endOfTurn = endOfTurn
        self.sessions = sessions
        self.messaging = messaging
        self.snapshots = snapshots
        reads = CatchUpReads(
            eventLoop: eventLoop, sessions: sessions, messaging: messaging, snapshots: snapshots)
        self.memberships = memberships
        self.locks = locks
        self.metrics = metrics
        self.wallClock = wallClock
        self.reattachBatch = reattachBatch
    }

    var channelCount: Int { index.channelCount }

    func isSubscribed(_ session: SessionKey, to channel: ChannelKey) -> Bool {
        index.isSubscribed(session, to: channel)
    }

    /// The channels of which the session is a member, or on its way to be. Whoever hears of the topics of a
    /// stream channel quietly doesn't publish there.
    func channelsOfMember(
        _ session: SessionKey
    ) -> [(channel: ChannelKey, features: SubscriptionFeatures)] {
        index.subscriptions(of: session, in: .message) + index.subscriptions(of: session, in: .stream)
            + index.subscriptions(of: session, in: .topics).filter { !$0.features.contains(.quiet) }
    }

    /// What the session gets of the channel; nil if it isn't subscribed.
    func features(of session: SessionKey, in channel: ChannelKey) -> SubscriptionFeatures? {
        index.features(of: session, in: channel)
    }

    /// The topics of a stream channel that the session is subscribed to, or on its way to be.
    func topics(of session: SessionKey, in channel: ChannelKey) -> [ChannelKey] {
        index.subscriptions(of: session, in: .topic).map(\.channel)
            .filter { TopicName($0.name)?.channel == channel.name }
    }
}

// MARK: - What clients ask

extension Subscribing {
    /// A subscribe has a chance only while the channel's log can be called.
    func checkIsPossible(_ channel: ChannelKey, _ code: ErrorCode) throws(RTMError) {
        if let outage = messaging.outage(of: channel) { throw .messagingUnreachable(code, for: outage) }
    }

    /// The login is answered when messages reach the user, so that "logged in" means "reachable".
    ///
    /// - Parameter after: how far a client that comes back has seen its inbox.
    func attachInbox(of session: Session, after: StreamPosition?, _ requestID: UInt64) {
        let owner = InboxOwner(
            session: session.key, instance: session.instance, attempt: session.attempt,
            isReturn: session.isReturn)
        enter(
            SubscribeRequest(
                session: session.key, requestID: requestID, channel: session.inbox, purpose: .login(owner),
                features: .message, after: after))
    }

    func enter(_ request: SubscribeRequest) { change { $0.enter(request) } }

    enum Room {
        case free
        /// A subscribe of the session to that channel has yet to be answered (M-8).
        case underWay
        /// The session has as many subscriptions as it may have.
        case full
    }

    /// Whether the session may subscribe to the channel.
    ///
    /// - Parameters:
    /// - count: how many channels count against the limit; nil stands for all of that type.
    /// - countMax: how many channels of that type it may be subscribed to.
    func room(for key: ChannelKey, of session: Session, _ count: Int? = nil, countMax: Int) -> Room {
        if index.isSubscribing(session.key, to: key) { return .underWay }
        if index.isSubscribed(session.key, to: key) { return .free }
        return count ?? index.count(of: session.key, in: key.type) < countMax ? .free : .full
    }

    /// Returns false if the session isn't subscribed to the channel.
    func leave(_ session: Session, _ key: ChannelKey) -> Bool {
        guard let actions = index.leave(session.key, key) else { return false }
        perform(actions)
        return true
    }

    func ended(_ session: Session, isLoggedOut: Bool) {
        change { $0.ended(session.key, isLoggedOut: isLoggedOut) }
    }
}

// MARK: - Performing

extension Subscribing {
    private func change(_ event: (inout SubscriptionIndex) -> [SubscribeAction]) { perform(event(&index)) }

    /// An event of one subscribe, with the room that its session has now.
    private func step(
        _ id: SubscribeID, _ event: (inout SubscriptionIndex, _ isWritable: Bool) -> [SubscribeAction]
    ) {
        guard let session = index.session(of: id) else { return }
        let isWritable = sessions[session]?.isWritable ?? true
        change { event(&$0, isWritable) }
    }

    private func proceed(_ id: SubscribeID) { step(id) { $0.proceed(id, isWritable: $1) } }

    private func perform(_ actions: [SubscribeAction]) {
        for action in actions { perform(action) }
        metrics.channelsChanged(by: index.channelCount - channelsReported)
        channelsReported = index.channelCount
    }

    private func perform(_ action: SubscribeAction) {
        switch action {
        case .attach(let request): messaging.attach(request)
        case .detach(let push, let channel): messaging.detach(push, of: channel)
        case .ask(let id, let questions): ask(id, questions)
        case .collect(let id, let questions): reads.begin(.snapshots(id, questions))
        case .read(let id, let question): reads.begin(.page(PendingRead(id: id, question: question)))
        case .proceed(let id): proceed(id)
        case .awaitWritable(let id, let session):
            sessions[session]?.connection?.whenWritable { [self] in proceed(id) }
        case .retry(let id, let delay):
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { self.proceed(id) }
        case .fanOut(let fanOut):
            metrics.delivered(sessions.connections.send(fanOut.batch, to: fanOut.subscribers))
        case .answer(let session, let requestID, let answer):
            if let session = sessions[session] { give(answer, to: session, requestID) }
        case .send(let session, let page):
            sessions[session]?.send(page)
        case .gap(let session, let channel, let position):
            sessions[session]?.send(ServerFrame(Gap(channel, position)).frame)
        case .release(let session, let topic): sessions[session]?.connection?.release(topic)
        case .gapForAll(let subscribers, let channelIndex, let channel, let position):
            sayGap(to: subscribers, at: channelIndex, channel, position)
        case .entered(let session, let channel):
            if let session = sessions[session] { locks.report(of: session, .entered, channel) }
        case .hasNotEntered(let session, let channel, let isContinued):
            if let session = sessions[session] {
                memberships.hasNotEntered(session, channel, isContinued: isContinued)
            }
        case .joinMissed: memberships.joinMissed()
        case .lacksSnapshot(let session, let channelIndex):
            memberships.lacksSnapshot(session, at: channelIndex)
        case .refreshed: memberships.refreshed()
        }
    }

    private func ask(_ id: SubscribeID, _ questions: SnapshotQuestions) {
        guard let session = sessions[questions.session] else { return }
        if questions.join != nil { session.isMember = true }
        snapshots.ask(id, questions, for: session)
    }

    private func give(_ answer: SubscribeAnswer, to session: Session, _ requestID: UInt64) {
        switch answer {
        case .loggedIn(let position, let gap):
            session.connection?.loginSucceeded(session, inbox: position, gap: gap, requestID)
        case .loginRefused(let error):
            session.connection?.refuseLogin(error, requestID)
        case .subscribed(let position, let unavailable, let gap):
            session.answer(requestID, Subscribed(position: position, unavailable: unavailable, gap: gap))
        case .userMetadataSubscribed(let position, let gap):
            session.answer(requestID, UserMetadataSubscribed(position: position, gap: gap))
        case .refused(let error):
            session.answer(requestID, error)
        }
    }

    private func sayGap(
        to subscribers: ContiguousArray<Subscriber>, at channelIndex: Int, _ channel: ChannelKey,
        _ position: StreamPosition
    ) {
        let frame = ServerFrame(Gap(channel, position)).frame
        metrics.gap()
        for subscriber in subscribers {
            let connection = sessions.connections[subscriber.session.slot]
            if channel.type == .topic { connection?.release(channelIndex) }
            connection?.send(frame)
            // Who came and went may have been told in what is lost.
            if subscriber.features.contains(.presence) {
                memberships.lacksSnapshot(subscriber.session, at: channelIndex)
            }
        }
    }
}

// MARK: - What presence and storage answer

extension Subscribing: SnapshotReader {
    func presenceAnswered(_ id: SubscribeID, _ answer: PresenceAnswer) {
        step(id) { $0.presenceAnswered(id, answer, isWritable: $1) }
        reads.snapshotCame(id)
    }

    func presenceRefused(_ id: SubscribeID, _ refusal: RTMError) {
        step(id) { $0.presenceRefused(id, refusal, isWritable: $1) }
    }

    func storageAnswered(_ id: SubscribeID, _ outcome: Result<ByteBuffer, ServiceLinkRequestFailure>) {
        step(id) { $0.storageAnswered(id, outcome, isWritable: $1) }
        reads.snapshotCame(id)
    }
}

// MARK: - New snapshots of presence

extension Subscribing: RefreshedSubscriptions {
    func subscriptionsToRefresh(of session: SessionKey) -> [Int] { index.subscriptionsToRefresh(of: session) }

    func refresh(_ session: SessionKey, at channelIndex: Int) -> Bool {
        guard let actions = index.refresh(session, at: channelIndex) else { return false }
        perform(actions)
        return true
    }
}

// MARK: - What messaging says

extension Subscribing {
    /// - Parameter shard: of messaging, in which the channel is.
    func attached(
        _ interest: UInt64, in shard: Int, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response):
            if let owner = index.owner(of: interest) { sessions[owner]?.ownership = response.claim }
            change { $0.attached(interest, response) }
            reattachNext(shard)
        case .failure(.refused(let error)) where error.code == .loginAborted:
            superseded(interest, by: 0)
            // A login that is refused in this way is still waiting for its inbox.
            attachFailed(interest, .refused(error))
            reattachNext(shard)
        case .failure(let failure):
            attachFailed(interest, failure)
            reattachLater(shard)
        }
    }

    func skipped(_ skip: SkipPush) { change { $0.skipped(skip) } }

    private func attachFailed(_ interest: UInt64, _ failure: ServiceLinkRequestFailure) {
        for id in index.attachFailed(interest) {
            step(id) { $0.attachFailed(id, failure, isWritable: $1) }
        }
    }

    /// A page of what a subscriber missed.
    func read(_ read: PendingRead, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>) {
        let id = read.id
        switch outcome {
        case .success(let response):
            let page = SubscribePage(
                frames: read.question.wanted(response.frames), position: response.position,
                gap: response.gap, more: response.more)
            step(id) { $0.pageRead(id, page, isWritable: $1) }
        case .failure(let failure):
            step(id) { $0.readFailed(id, failure, isWritable: $1) }
        }
        reads.ended(of: read.question.session)
    }

    /// The user has logged in elsewhere: the newer session stays, this one ends (S-10, S-11). When the same
    /// client has come back over another connection, nobody is told (S-12b).
    func superseded(_ interest: UInt64, by holder: UInt64) {
        guard let session = index.owner(of: interest).flatMap({ sessions[$0] }) else { return }
        guard holder == 0 || holder != session.instance else {
            session.connection?.replaced()
            return
        }
        session.connection?.disconnect(
            Disconnect(.superseded, "user \"\(session.userID)\" has logged in elsewhere"))
    }

    func messagingIsUp(_ shard: Int) {
        index.setShardCount(messaging.shards.all.count)
        reattach(shard, limit: reattachBatch)
    }

    func messagingIsDown(_ shard: Int) { index.linkLost(shard) }

    /// Takes channels up again that lost their attachment. Some are attached at once and each answer brings
    /// on the next, so the link's queue stays short however many channels there are.
    private func reattach(_ shard: Int, limit: Int) {
        guard messaging.shards.all[shard].isUp else { return }
        for request in index.reattach(shard, limit: limit) { messaging.attach(request) }
    }

    /// Every answer brings on one more, a refusal because of a newer session too: otherwise as many of those
    /// as are under way at once would leave the rest detached.
    private func reattachNext(_ shard: Int) {
        if index.hasDetached(shard) { reattach(shard, limit: 1) }
    }

    /// Messaging is there but refused or kept silent, so the next attempt comes after a while.
    private func reattachLater(_ shard: Int) {
        guard messaging.shards.all[shard].isUp, index.hasDetached(shard) else { return }
        eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
            self.reattach(shard, limit: self.reattachBatch)
        }
    }
}

// MARK: - The entries of a turn

extension Subscribing: Flushable {
    /// Entries of this turn go to their subscribers at its end.
    func delivered(_ delivery: DeliveryPush) {
        index.gather(delivery)
        if let work = endOfTurn.tracer?.hold() { traced.append(work) }
        guard !isScheduled else { return }
        isScheduled = true
        endOfTurn.schedule(self)
    }

    func flushAtEndOfTurn() {
        isScheduled = false
        var deliveries = 0
        var sampled: UInt64?
        index.endTurn { batch, subscribers in
            deliveries += sessions.connections.send(batch, to: subscribers)
            // One entry of a turn says enough about all of them.
            if sampled == nil { sampled = batch.frames.withUnsafeReadableBytes(PublicationTime.first) }
        }
        metrics.delivered(deliveries)
        if !traced.isEmpty { endTraces(deliveries) }
        if let sampled {
            metrics.deliveryWritten(after: Int64(clamping: wallClock()) - Int64(clamping: sampled))
        }
    }

    private func endTraces(_ deliveries: Int) {
        for work in traced {
            work.add("rtm.deliveries", "\(deliveries)")
            endOfTurn.tracer?.release(work)
        }
        traced.removeAll()
    }
}
