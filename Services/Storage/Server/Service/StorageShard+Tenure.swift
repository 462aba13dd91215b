import Logging
import NIOCore
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// What begins and ends with the shard's tenure.
extension StorageShard {
    /// Everything begins that needs no caller.
    func start() {
        outbox.start(on: eventLoop, sends: leadership.serves)
        if leadership.serves { listBans() }
    }

    func stop() {
        collector.stop()
        outbox.stop()
    }

    /// Reads who is shut out. Links that are open already get the list then.
    func listBans() { bans.asked(isQueued: queues.writes.put(StorageWrite(BanListing()))) }

    func take(_ action: StorageLeadership.Action) {
        switch action {
        case .none: break
        case .becomeLeader: becomeLeader()
        case .beginAnew: beginAnew()
        case .follow(let isPlanned): follow(isPlanned)
        }
    }

    /// Callers report their sessions when they learn that this node leads. Who is banned, and the events that
    /// the node before has not sent, are read from the store.
    private func becomeLeader() {
        logger.notice("this storage node leads")
        metrics.leading.add(1)
        bans = BanList(isComplete: false)
        if let push = leadership.announcement { announce(push) }
        outbox.beginAnew(term: leadership.announcement?.term)
        listBans()
        collector.collect(Set(eventRetention.keys), on: eventLoop)
    }

    /// Callers leave by themselves when they learn who leads next. Until then they are refused, and come back
    /// in a moment.
    private func follow(_ isPlanned: Bool) {
        metrics.lost(self)
        outbox.pause()
        collector.collect([], on: eventLoop)
        guard isPlanned else {
            logger.warning("another storage node leads: all links are closed")
            return closeLinks()
        }
        logger.notice("this storage node has given the shard to another one")
        let left = Array(links.values)
        eventLoop.assumeIsolated().scheduleTask(in: Self.transferTime) {
            for link in left { link.close() }
        }
    }

    /// How long callers have to learn of the next leader before they lose their links.
    static let transferTime = TimeAmount.milliseconds(500)

    private func closeLinks() { for link in links.values { link.close() } }

    /// The writer has forgotten which sessions there are and who waits for locks. Callers report that when
    /// they connect, so they connect again, as after a restart of storage. Bans and events that were in doubt
    /// are read from the store.
    private func beginAnew() {
        logger.warning("storage has begun anew with what the database holds: all links are closed")
        outbox.beginAnew(term: leadership.announcement?.term)
        listBans()
        closeLinks()
    }
}
