import Logging
import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// A presence node: it decodes what edges ask, asks the store, sends the store's answers, and appends the
/// store's events to the channels' logs.
///
/// The node and all its links live on one event loop. A join is answered when its events are in the log. So
/// the position in the answer is behind them, and nothing is missed or doubled between the snapshot and the
/// events that follow it (P-1).
final class PresenceNode {
    struct Settings: Sendable {
        var messaging: ServiceLinkAddress
        var link: ServiceLinkConfiguration
        var states: StateLimits
        var leaseTimeToLive: Duration
        /// The timeout of every append.
        var appendTimeout: Duration = .seconds(5)
        /// Limit: events of one channel that wait for messaging. Beyond it joins and state changes are
        /// refused.
        var backlogMax = 1_024
        var snapshots = SnapshotLimits()
    }

    let settings: Settings
    let store: any PresenceStore
    let metrics: PresenceMetrics
    let logger: Logger
    let arena = DecodeArena()
    /// Decodes the payload of a client's call while `arena` holds the call itself.
    let callArena = DecodeArena()
    private let eventLoop: any EventLoop
    let messaging: MessagingAppender<PresenceNode>
    private let messagingProbe: ReadinessProbe?
    private var isSweeping = false
    var outbox = EventOutbox()
    /// By channel: the log position of the last event that this node has appended. For an idle channel the
    /// position is asked for again.
    var positions = FadingTable<ChannelKey, StreamPosition>(lifetime: 3_600_000)
    /// Channels whose roster is gone while their events are on their way.
    private var emptied: Set<ChannelKey> = []
    var joins: [UInt64: PendingJoin] = [:]
    var lastJoin: UInt64 = 0
    var joinDeadlines = DeadlineQueue<UInt64>()
    /// By channel: the joins that wait for the position of the channel's log.
    var headWaiters: [ChannelKey: [UInt64]] = [:]
    var syncs: [SyncKey: Set<MemberKey>] = [:]
    var heldSnapshots = HeldSnapshots()

    init(
        _ settings: Settings, store: any PresenceStore, on eventLoop: any EventLoop,
        metrics: PresenceMetrics, messagingProbe: ReadinessProbe?, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        self.eventLoop = eventLoop
        self.metrics = metrics
        self.messagingProbe = messagingProbe
        self.logger = logger
        messaging = MessagingAppender(
            to: settings.messaging, settings.link, node: "presence", timeout: settings.appendTimeout,
            endOfTurn: EndOfTurn.shared(on: eventLoop), logger: logger)
    }

    /// Connects the node to the store and to messaging. A started node lives until `shutdown`.
    func start() {
        store.observer = self
        store.start()
        messagingProbe?.notReady("no connection to messaging at \(messaging.address)")
        messaging.start(caller: self)
    }

    func shutdown() {
        messaging.shutdown()
        store.shutdown()
        store.observer = nil
    }

    /// The time in milliseconds since the machine started; it never goes back.
    var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    /// Does what is due. `PresenceLife` calls it several times a second.
    func sweep() {
        sweepStore()
        for channel in messaging.isUp ? outbox.waiting : [] { sendNext(of: channel) }
        while let id = joinDeadlines.popDue(now: now) { joinTimedOut(id) }
        heldSnapshots.forgetOld(now: now)
        positions.forgetIdle(now: now)
        metrics.show(store.totals)
        metrics.waiting.set(outbox.count)
    }

    private func sweepStore() {
        guard !isSweeping else { return }
        isSweeping = true
        store.sweep { [self] outcome in
            isSweeping = false
            if case .failure(let error) = outcome {
                logger.debug("the sweep of the store failed", metadata: ["cause": "\(error)"])
            }
        }
    }

}

// MARK: - Events

extension PresenceNode: PresenceStoreObserver {
    func rosterChanged(_ channel: ChannelKey, _ change: NumberedEvents) {
        for (_, event) in change.events { metrics.count(event.event) }
        outbox.add(change, to: channel)
        if change.isEmpty { emptied.insert(channel) } else { emptied.remove(channel) }
        forgetIfOver(channel)
        sendNext(of: channel)
    }

    func leasesExpired(_ leases: Int) {
        metrics.expiredLeases.increment(by: leases)
        logger.notice("leases of edges have ended", metadata: ["leases": "\(leases)"])
    }

    private func sendNext(of channel: ChannelKey) {
        guard messaging.isUp, let append = outbox.next(of: channel) else { return }
        do throws(RTMError) {
            try send(append)
        } catch {
            // The next sweep tries again.
            outbox.failed(channel)
        }
    }

    private func send(_ append: EventOutbox.Append) throws(RTMError) {
        var run = ByteBuffer()
        append.event.event.eventField.withUnsafeReadableBytes { event in
            append.event.user.withWireText { user in
                EventRun.append(
                    AppendedEvent(
                        publisher: user, publisherSession: append.event.exceptSession, feature: .presence,
                        event: WireText(event), sequence: append.sequence), to: &run)
            }
        }
        let outcome = run.withUnsafeReadableBytes { run in
            Result { () throws(RTMError) in
                try messaging.append(
                    AppendRequest(channel: append.channel, source: append.source, events: EventRun(run)),
                    context: .event(append))
            }
        }
        try outcome.get()
    }
}

extension PresenceNode: AppendCaller {
    /// What messaging was asked to do.
    enum Append {
        case event(EventOutbox.Append)
        /// Report the position of the channel's log.
        case head(ChannelKey)
    }

    func messagingIsUp() {
        messagingProbe?.ready()
        for channel in outbox.waiting { sendNext(of: channel) }
    }

    func messagingIsDown(_ reason: ServiceLinkDownReason) {
        messagingProbe?.notReady("no connection to messaging at \(messaging.address): \(reason)")
        // Messaging may come back with other logs.
        positions.removeAll()
        failWaitingJoins()
    }

    func messagingAppended(_ append: Append, _ outcome: Result<AppendResponse, ServiceLinkRequestFailure>) {
        switch append {
        case .event(let event): appended(event, outcome)
        case .head(let channel): headAnswered(channel, outcome.map(\.position))
        }
    }

    private func appended(
        _ append: EventOutbox.Append, _ outcome: Result<AppendResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response):
            positions[append.channel] = response.position
            store.acknowledge(append.channel, through: append.sequence, at: response.position)
            settle(append.channel)
        case .failure(.refused(let error)) where !error.isRetryable:
            metrics.dropped.increment()
            logger.error("messaging refused an event", metadata: ["cause": "\(error)"])
            settle(append.channel)
        case .failure:
            metrics.repeated.increment()
            outbox.failed(append.channel)
        }
    }

    /// Forgets the position of a channel without a roster: nobody will ask for it.
    private func forgetIfOver(_ channel: ChannelKey) {
        guard emptied.contains(channel), outbox.last(of: channel) == nil else { return }
        emptied.remove(channel)
        positions[channel] = nil
    }

    private func settle(_ channel: ChannelKey) {
        let ready = outbox.settled(channel)
        forgetIfOver(channel)
        sendNext(of: channel)
        for join in ready { joinSettled(join) }
    }
}
