import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Subscribing in one loop, the shell around `SubscriptionIndex` and its machines: it feeds them with what
/// clients ask and other services answer, performs the actions that come back, and hands the entries of each
/// turn to their subscribers.
final class Subscribing {
    private let eventLoop: any EventLoop
    private let endOfTurn: EndOfTurn
    private let sessions: Sessions
    private let messaging: MessagingClient
    private let snapshots: SnapshotReads
    private let reads: CatchUpReads
    private let memberships: Memberships
    private let locks: LockRequests
    private let metrics: EdgeMetrics
    private let refusals: RefusalLog
    private let wallClock: () -> UInt64
    /// Limit: channels that are attached again at the same time.
    private let reattachBatch: Int
    private var subscriptions = SubscriptionIndex()
    /// What has become of subscriptions lately.
    private(set) var facts: SubscriptionFacts
    private var channelsReported = 0
    private var isScheduled = false
    /// The subscriptions to which presence of this turn was not sent (P-28).
    private var withheld: [(session: SessionKey, channelIndex: Int)] = []
    /// What arrives, while that is measured (`TopQuestions`).
    var arrivals: LoudCounts<UInt64>?
    /// What is traced of the entries of this turn.
    private var traced: [Tracer.Work] = []

    init(
        eventLoop: any EventLoop, endOfTurn: EndOfTurn, sessions: Sessions,
        messaging: MessagingClient, snapshots: SnapshotReads, pages: PageTurns, memberships: Memberships,
        locks: LockRequests, metrics: EdgeMetrics, refusals: RefusalLog,
        wallClock: @escaping () -> UInt64, reattachBatch: Int
    ) {
        self.eventLoop = eventLoop
        self.endOfTurn = endOfTurn
        self.sessions = sessions
        self.messaging = messaging
        self.snapshots = snapshots
        reads = CatchUpReads(
            eventLoop: eventLoop, sessions: sessions, messaging: messaging, snapshots: snapshots,
            memory: pages)
        self.memberships = memberships
        self.locks = locks
        self.metrics = metrics
        self.refusals = refusals
        self.wallClock = wallClock
        facts = SubscriptionFacts(now: wallClock())
        self.reattachBatch = reattachBatch
        snapshots.subscribing = self
        reads.subscribing = self
    }

    var channelCount: Int { subscriptions.channelCount }

    func isSubscribed(_ session: SessionKey, to channel: ChannelKey) -> Bool {
        subscriptions.isSubscribed(session, to: channel)
    }

    /// The channels of which the session is a member, or on its way to be. A quiet
    /// subscriber of the topics of a stream channel doesn't publish there.
    func channelsOfMember(
        _ session: SessionKey
    ) -> [(channel: ChannelKey, features: SubscriptionFeatures)] {
        subscriptions.subscriptions(of: session, in: .message)
            + subscriptions.subscriptions(of: session, in: .stream)
            + subscriptions.subscriptions(of: session, in: .topics).filter { !$0.features.contains(.quiet) }
    }

    /// What the session gets of the channel; nil if it isn't subscribed.
    func features(of session: SessionKey, in channel: ChannelKey) -> SubscriptionFeatures? {
        subscriptions.features(of: session, in: channel)
    }

    /// The topics of a stream channel that the session is subscribed to, or on its way to be.
    func topics(of session: SessionKey, in channel: ChannelKey) -> [ChannelKey] {
        subscriptions.subscriptions(of: session, in: .topic).map(\.channel)
            .filter { TopicName($0.name)?.channel == channel.name }
    }
}

// MARK: - What operators see

extension Subscribing {
    func overview(of session: SessionKey, limit: Int) -> (channels: [SubscriptionOverview], count: Int) {
        subscriptions.overview(of: session, limit: limit)
    }

    func subscriberCount(of channel: ChannelKey) -> Int {
        subscriptions.channels.index(of: channel).map { subscriptions.channels[$0].subscribers.count } ?? 0
    }

    /// A channel as a session gets it; nil if the session isn't subscribed. Also its own inbox.
    func explain(_ channel: ChannelKey, of session: SessionKey) -> (
        channel: ExplainedChannel, features: SubscriptionFeatures, isLive: Bool
    )? {
        subscriptions.explain(channel, of: session)
    }

    /// A channel as the loop has it; nil if nobody here is subscribed.
    func explain(_ channel: ChannelKey) -> ExplainedChannel? {
        subscriptions.channels.index(of: channel).map { ExplainedChannel(subscriptions.channels[$0]) }
    }

    /// Nil for each channel that is gone.
    func keys(of interests: [UInt64]) -> [ChannelKey?] {
        interests.map { interest in
            subscriptions.channels.index(of: interest).map { subscriptions.channels[$0].key }
        }
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
        begin(
            SubscribeRequest(
                session: session.key, requestID: requestID, channel: session.inbox, purpose: .login(owner),
                features: .message, after: after))
    }

    func begin(_ request: SubscribeRequest) { change { $0.enter(request) } }

    /// Whether a session may have one more subscription.
    enum Capacity {
        case free
        /// A subscribe of the session to that channel has yet to be answered (M-8).
        case isSubscribing
        /// The session has as many subscriptions as it may have.
        case full
    }

    /// Whether the session may subscribe to the channel.
    ///
    /// - Parameters:
    ///   - count: how many channels count against the limit; nil stands for all of that type.
    ///   - countMax: how many channels of that type it may be subscribed to.
    func capacity(
        for key: ChannelKey, of session: Session, _ count: Int? = nil, countMax: Int
    ) -> Capacity {
        if subscriptions.isSubscribing(session.key, to: key) { return .isSubscribing }
        if subscriptions.isSubscribed(session.key, to: key) { return .free }
        return count ?? subscriptions.count(of: session.key, in: key.type) < countMax ? .free : .full
    }

    /// Returns false if the session isn't subscribed to the channel.
    func leave(_ session: Session, _ key: ChannelKey) -> Bool {
        let position = subscriptions.channels.positionHandedOut(of: key)
        let channelIndex = subscriptions.channels.index(of: key)
        guard let actions = subscriptions.leave(session.key, key) else { return false }
        perform(actions)
        if let channelIndex { memberships.left(session.key, channelIndex) }
        note(.unsubscribed, of: session, key, at: position)
        return true
    }

    func ended(_ session: Session, isLoggedOut: Bool) {
        change { $0.ended(session.key, isLoggedOut: isLoggedOut) }
    }
}

// MARK: - Performing

extension Subscribing {
    private func change(_ event: (inout SubscriptionIndex) -> SubscribeActions) {
        perform(event(&subscriptions))
    }

    /// Something happens to one subscribe, whose session is writable now or isn't.
    private func handle(_ event: SubscribeEvent, of id: SubscribeID) {
        guard let session = subscriptions.session(of: id) else { return }
        let isWritable = sessions[session]?.isWritable ?? true
        perform(subscriptions.handle(event, of: id, isWritable: isWritable))
    }

    private func perform(_ actions: SubscribeActions) {
        actions.each(perform)
        metrics.channelsChanged(by: subscriptions.channelCount - channelsReported)
        channelsReported = subscriptions.channelCount
    }

    private func perform(_ action: SubscribeAction) {
        switch action {
        case .attach(let request): messaging.attach(request)
        case .detach(let push, let channel): messaging.detach(push, of: channel)
        case .ask(let query): ask(query)
        case .collect(let query): reads.begin(.snapshots(query))
        case .read(let query): reads.begin(.page(query))
        case .proceed(let id): handle(.proceed, of: id)
        case .awaitWritable(let id, let session):
            sessions[session]?.connection?.whenWritable { [self] in handle(.proceed, of: id) }
        case .retry(let id, let delay):
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
                self.handle(.proceed, of: id)
            }
        case .fanOut(let fanOut):
            metrics.delivered(send(fanOut.batch, to: fanOut.subscribers, at: fanOut.channelIndex))
            awaitSnapshots()
        case .answer(let session, let requestID, let answer):
            if let session = sessions[session] { give(answer, to: session, requestID) }
        case .send(let session, let page):
            sessions[session]?.send(page)
        case .gap(let session, let channel, let position):
            sessions[session]?.send(ServerFrame(Gap(channel, position)).frame)
        case .release(let session, let topic): sessions[session]?.connection?.release(topic)
        case .gapForAll(let subscribers, let channelIndex, let channel, let position):
            announceGap(to: subscribers, at: channelIndex, channel, position)
        case .entered(let session, let channel):
            if let session = sessions[session] { locks.report(of: session, .entered, channel) }
        case .began(let session, let channel, let start):
            guard let session = sessions[session] else { break }
            note(.subscribed(after: start.after, gap: start.gap), of: session, channel, at: start.position)
        case .hasNotEntered(let session, let channel, let isContinued):
            if let session = sessions[session] {
                memberships.hasNotEntered(session, channel, isContinued: isContinued)
            }
        case .joinMissed(let session, let channel, let states, let isContinued):
            memberships.joinMissed(session, channel, states, isContinued: isContinued)
        case .lacksSnapshot(let session, let channelIndex):
            memberships.lacksSnapshot(session, at: channelIndex)
        case .refreshed(let session, let channelIndex): memberships.refreshed(session, at: channelIndex)
        }
    }

    private func note(
        _ kind: SubscriptionFacts.Kind, of session: Session, _ channel: ChannelKey,
        at position: StreamPosition?
    ) {
        facts.append(
            .init(
                kind: kind, channel: channel, userID: session.userID, session: session.id.rawValue,
                at: wallClock(), position: position))
    }

    private func ask(_ query: SnapshotQuery) {
        guard let session = sessions[query.session] else { return }
        if query.join != nil { session.isMember = true }
        guard let answer = snapshots.ask(query, for: session) else { return }
        snapshotArrived(.presenceAnswered(answer), of: query.id)
    }

    private func give(_ answer: SubscribeAnswer, to session: Session, _ requestID: UInt64) {
        switch answer {
        case .loggedIn(let position, let gap):
            session.connection?.loginSucceeded(session, inbox: position, gap: gap, requestID)
        case .loginRefused(let error):
            session.connection?.refuseLogin(error, requestID)
        case .subscribed(let position, let unavailable, let gap, let hasSetStates):
            session.answer(
                requestID,
                Subscribed(
                    position: position, unavailable: unavailable, gap: gap, hasSetStates: hasSetStates))
        case .userMetadataSubscribed(let position, let gap):
            session.answer(requestID, UserMetadataSubscribed(position: position, gap: gap))
        case .refused(let error, let channel):
            refusals.refused(
                .subscribe, of: session, channel.type, channel.name, error, now: endOfTurn.now)
            session.answer(requestID, error)
        }
    }

    private func announceGap(
        to subscribers: ShortList<Subscriber>, at channelIndex: Int, _ channel: ChannelKey,
        _ position: StreamPosition
    ) {
        let frame = ServerFrame(Gap(channel, position)).frame
        metrics.gap()
        for subscriber in subscribers {
            let connection = sessions.connections[subscriber.session.slot]
            if channel.type == .topic { connection?.release(channelIndex) }
            connection?.send(frame)
            // The entries that are lost may have announced who came and went.
            if subscriber.features.contains(.presence) {
                memberships.lacksSnapshot(subscriber.session, at: channelIndex)
            }
        }
    }
}

// MARK: - What presence and storage answer

extension Subscribing {
    /// The join that presence has answered.
    func joined(_ context: Int) -> SnapshotReads.PendingJoin { snapshots.joined(context) }

    func joined(_ id: SubscribeID, _ outcome: ServiceLinkResult<JoinResponse>) {
        var hasSetStates = false
        if case .success(let response) = outcome { hasSetStates = response.hasSetStates }
        snapshotArrived(
            .presenceAnswered(SnapshotReads.answer(outcome), hasSetStates: hasSetStates), of: id)
    }

    func rosterRead(_ channel: ChannelKey, _ outcome: ServiceLinkResult<RosterResponse>) {
        guard let (readers, answer) = snapshots.rosterRead(channel, outcome) else { return }
        for id in readers { snapshotArrived(.presenceAnswered(answer), of: id) }
        snapshots.readRosters()
    }

    func snapshotRead(_ context: Int, _ outcome: ServiceLinkResult<SnapshotResponse>) {
        let read = snapshots.storedRead(context)
        let page = outcome.map { response in
            read.share.settle(response.frames.bytes.count)
            return RequestedPage(frames: ByteBuffer(bytes: response.frames.bytes), charge: read.share)
        }
        snapshotArrived(.storageAnswered(page), of: read.id)
    }

    /// There was no memory for what is stored.
    func snapshotRefused(_ id: SubscribeID, _ error: RTMError) {
        snapshotArrived(.storageAnswered(.failure(.refused(error))), of: id)
    }

    private func snapshotArrived(_ event: SubscribeEvent, of id: SubscribeID) {
        handle(event, of: id)
        reads.snapshotArrived(id)
    }
}

// MARK: - New snapshots of presence

extension Subscribing: RefreshedSubscriptions {
    func subscriptionsToRefresh(of session: SessionKey) -> [Int] {
        subscriptions.subscriptionsToRefresh(of: session)
    }

    func refresh(_ session: SessionKey, at channelIndex: Int) -> Bool {
        guard let actions = subscriptions.refresh(session, at: channelIndex) else { return false }
        perform(actions)
        return true
    }
}

// MARK: - What messaging answers

extension Subscribing {
    /// - Parameter shard: of messaging, in which the channel is.
    func attached(
        _ interest: UInt64, in shard: Int, _ outcome: ServiceLinkResult<AttachResponse>
    ) {
        switch outcome {
        case .success(let response):
            if let owner = subscriptions.owner(of: interest) {
                sessions[owner]?.ownership = response.ownership
            }
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

    func skipped(_ skip: SkipPush) {
        let channel = subscriptions.channels.index(of: skip.interest).map { subscriptions.channels[$0] }
        change { $0.skipped(skip) }
        guard let channel, let position = channel.position, channel.isMoved(by: skip) else { return }
        facts.append(
            .init(
                kind: .gap(after: position), channel: channel.key, userID: "", session: 0, at: wallClock(),
                position: skip.position))
    }

    private func attachFailed(_ interest: UInt64, _ failure: ServiceLinkRequestFailure) {
        for id in subscriptions.attachFailed(interest) { handle(.attachFailed(failure), of: id) }
    }

    /// A page of what a subscriber missed.
    func read(_ context: Int, _ outcome: ServiceLinkResult<ReadResponse>) {
        let read = reads.answered(context)
        let page = outcome.map { response in
            let frames = read.query.wanted(response.frames)
            read.share.settle(frames.readableBytes)
            return SubscribePage(
                frames: frames, position: response.position, gap: response.gap, more: response.more,
                charge: read.share)
        }
        pageRead(page, read.query)
    }

    /// There was no memory for a page.
    func pageRefused(_ query: PageQuery, _ error: RTMError) {
        pageRead(.failure(.refused(error)), query)
    }

    private func pageRead(
        _ page: ServiceLinkResult<SubscribePage>, _ query: PageQuery
    ) {
        handle(.pageRead(page), of: query.id)
        reads.ended(of: query.session)
    }

    /// The user has logged in elsewhere: the newer session stays, this one ends (S-10, S-11). When the same
    /// client has come back over another connection, nothing is announced (S-12b).
    func superseded(_ interest: UInt64, by instance: UInt64) {
        guard let session = subscriptions.owner(of: interest).flatMap({ sessions[$0] }) else { return }
        guard instance == 0 || instance != session.instance else {
            session.connection?.replaced()
            return
        }
        session.connection?.disconnect(
            Disconnect(.superseded, "user \"\(session.userID)\" has logged in elsewhere"))
    }

    func messagingIsUp(_ shard: Int) {
        subscriptions.setShardCount(messaging.shards.all.count)
        reattach(shard, limit: reattachBatch)
    }

    func messagingIsDown(_ shard: Int) { subscriptions.linkLost(shard) }

    /// Takes channels up again that lost their attachment. Some are attached at once and each answer brings
    /// on the next, so the link's queue stays short however many channels there are.
    private func reattach(_ shard: Int, limit: Int) {
        guard messaging.shards.all[shard].isUp else { return }
        for request in subscriptions.reattach(shard, limit: limit) { messaging.attach(request) }
    }

    /// Every answer brings on one more, a refusal because of a newer session too: otherwise as many of those
    /// as are under way at once would leave the rest detached.
    private func reattachNext(_ shard: Int) {
        if subscriptions.hasDetached(shard) { reattach(shard, limit: 1) }
    }

    /// Messaging is there but refused or kept silent, so the next attempt comes after a while.
    private func reattachLater(_ shard: Int) {
        guard messaging.shards.all[shard].isUp, subscriptions.hasDetached(shard) else { return }
        eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
            self.reattach(shard, limit: self.reattachBatch)
        }
    }
}

// MARK: - The entries of a turn

extension Subscribing: Flushable {
    /// Entries of this turn go to their subscribers at its end.
    func delivered(_ delivery: DeliveryPush) {
        subscriptions.gather(delivery)
        if arrivals != nil { count(delivery) }
        if let work = endOfTurn.tracer?.hold() { traced.append(work) }
        guard !isScheduled else { return }
        isScheduled = true
        endOfTurn.schedule(self)
    }

    private func count(_ delivery: DeliveryPush) {
        guard let index = subscriptions.channels.index(of: delivery.interest),
            subscriptions.channels[index].key.appID == arrivals?.appID
        else { return }
        let (entries, subscribers) = (delivery.count, subscriptions.channels[index].subscribers.count)
        arrivals?.add(delivery.interest, weight: UInt64(entries * subscribers), amount: UInt64(entries))
    }

    func flushAtEndOfTurn() {
        isScheduled = false
        var deliveries = 0
        var sampled: UInt64?
        subscriptions.endTurn { batch, subscribers, channelIndex in
            deliveries += send(batch, to: subscribers, at: channelIndex)
            // One entry of a turn says enough about all of them.
            if sampled == nil { sampled = batch.frames.withUnsafeReadableBytes(PublicationTime.first) }
        }
        metrics.delivered(deliveries)
        awaitSnapshots()
        if !traced.isEmpty { endTraces(deliveries) }
        if let sampled {
            metrics.deliveryWritten(after: Int64(clamping: wallClock()) - Int64(clamping: sampled))
        }
    }

    /// Hands a batch to its subscribers. Others decide how much presence there is, so it is no reason to cut
    /// off a client that is behind: when no more of it may wait for the client, it is left out, and a
    /// snapshot follows (P-28).
    private func send(
        _ batch: DeliveryBatch, to subscribers: ShortList<Subscriber>, at channelIndex: Int
    ) -> Int {
        let presenceBytes = batch.presenceBytes
        guard presenceBytes > 0 else { return sessions.connections.send(batch, to: subscribers) }
        let behind = subscribers.filter { !reservePresence(of: $0, at: channelIndex, presenceBytes) }
        guard !behind.isEmpty else { return sessions.connections.send(batch, to: subscribers) }
        withheld += behind.map { ($0.session, channelIndex) }
        metrics.presenceWithheld(behind.count)
        let limited = Set(behind)
        let adapted = subscribers.map { limited.contains($0) ? $0.withoutPresence : $0 }
        return sessions.connections.send(batch, to: ShortList(adapted))
    }

    /// Returns whether the subscriber gets the presence of a batch. Who wants none misses nothing.
    private func reservePresence(of subscriber: Subscriber, at channelIndex: Int, _ bytes: Int) -> Bool {
        guard subscriber.features.contains(.presence) else { return true }
        return !memberships.awaitsSnapshot(subscriber.session, at: channelIndex)
            && sessions.connections[subscriber.session.slot]?.reservePresence(bytes) != false
    }

    /// Snapshots are asked for when the table of subscriptions may change again.
    private func awaitSnapshots() {
        for (session, channelIndex) in withheld { memberships.presenceWithheld(session, at: channelIndex) }
        withheld.removeAll()
    }

    private func endTraces(_ deliveries: Int) {
        for work in traced {
            work.add("rtm.deliveries", "\(deliveries)")
            endOfTurn.tracer?.release(work)
        }
        traced.removeAll()
    }
}
