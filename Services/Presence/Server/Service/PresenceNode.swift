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
        var messaging: [ServiceLinkAddress]
        var link: ServiceLinkConfiguration
        var states: StateLimits
        var leaseTimeToLive: Duration
        /// The timeout of every append.
        var appendTimeout: Duration = .seconds(5)
        /// Limit: what waits for messaging. Beyond it joins and state changes are refused.
        var backlog = Backlog()
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
    let events: EventAppender
    private let messagingProbe: ReadinessProbe?
    private var isSweeping = false
    var joins = PendingJoins()
    /// By channel: the joins that wait for the position of the channel's log.
    var headWaiters: [ChannelKey: [UInt64]] = [:]
    let reports: MembershipReports
    var heldSnapshots = HeldSnapshots()
    var leases = LeaseLinks()
    /// Which long answers to calls may be given over each link.
    var turns = AnswerTurns<CallPage>()

    init(
        _ settings: Settings, store: any PresenceStore, on eventLoop: any EventLoop,
        metrics: PresenceMetrics, messagingProbe: ReadinessProbe?, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        reports = MembershipReports(store, settings.states)
        self.eventLoop = eventLoop
        self.metrics = metrics
        self.messagingProbe = messagingProbe
        self.logger = logger
        events = EventAppender(
            MessagingAppender(
                to: settings.messaging, settings.link, node: "presence", timeout: settings.appendTimeout,
                endOfTurn: EndOfTurn.shared(on: eventLoop), logger: logger))
    }

    /// Connects the node to the store and to messaging. A started node lives until `shutdown`.
    func start() {
        store.observer = self
        store.start()
        messagingProbe?.notReady("no connection to messaging at \(events.messaging.addresses)")
        events.messaging.start(caller: self)
    }

    func shutdown() {
        events.messaging.shutdown()
        store.shutdown()
        store.observer = nil
    }

    /// The time in milliseconds since the machine started; it never goes back.
    var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    /// Does what is due. `PresenceLife` calls it several times a second.
    func sweep() {
        sweepStore()
        events.sendWaiting()
        while let join = joins.takeTimedOut(now: now) { join.fail(PendingJoin.timedOut) }
        heldSnapshots.forgetOld(now: now)
        events.positions.forgetIdle(now: now)
        metrics.show(store.totals)
        metrics.waiting.set(events.count)
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
        events.add(change, to: channel)
    }

    func leasesExpired(_ leases: Int) {
        metrics.expiredLeases.increment(by: leases)
        logger.notice("leases of edges have ended", metadata: ["leases": "\(leases)"])
    }

    func isOlder(_ link: EdgeLink) { leases.isOlder(link) }
}

extension PresenceNode: AppendCaller {
    func shardIsUp(_ shard: Int, isWhole: Bool) {
        if isWhole { messagingProbe?.ready() }
        events.sendWaiting()
    }

    func connectFailed(_ reason: ServiceLinkDownReason) {
        messagingProbe?.notReady("no connection to messaging at \(events.messaging.addresses): \(reason)")
    }

    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {
        connectFailed(reason)
        // Messaging may come back with other logs.
        events.positions.removeAll()
        for join in joins.finishWaiting(where: { !events.isUp($0) }) { join.fail(PendingJoin.unreachable) }
    }

    func messagingAppended(
        _ context: Int, _ outcome: ServiceLinkResult<AppendResponse>
    ) {
        switch events.answered(context) {
        case .event(let event): appended(event, outcome)
        case .head(let channel): headAnswered(channel, outcome.map(\.position))
        }
    }

    private func appended(
        _ append: EventOutbox.Append, _ outcome: ServiceLinkResult<AppendResponse>
    ) {
        switch outcome {
        case .success(let response):
            events.positions[append.channel] = response.position
            store.acknowledge(
                append.channel, of: append.source, through: append.sequence, at: response.position)
            settle(append.channel)
        case .failure(.refused(let error)) where !error.isRetryable:
            metrics.dropped.increment()
            logger.error("messaging refused an event", metadata: ["cause": "\(error)"])
            settle(append.channel)
        case .failure:
            metrics.repeated.increment()
            events.failed(append.channel)
        }
    }

    private func settle(_ channel: ChannelKey) {
        for join in events.settled(channel) { joinSettled(join) }
    }
}
