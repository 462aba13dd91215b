import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// What the threads have done: answers go to the callers, events to the outbox.
extension StorageShard {
    /// A group of writes has ended. Bans that were listed go first, as an operator may have lifted one in the
    /// same group. The answers go before what settles locks, so a waiter learns its ticket before the ticket
    /// is called.
    func written(_ outcome: WriteOutcome) {
        for ban in outcome.bans { push(ban) }
        if outcome.hasListedBans, bans.listed() {
            for link in links.values { link.push(StorageMethod.banned, BanList.end) }
        }
        if outcome.hasNotListedBans { bans.notListed() }
        for answered in outcome.answers {
            switch answered.result {
            case .success(let answer): answer.deliver(to: answered.request, of: answered.link, at: self)
            case .failure(let error):
                if let link = links[answered.link] { refuse(answered.request, error, link) }
            }
        }
        metrics.historyStored.increment(by: outcome.historyStored)
        for settled in outcome.settled { report(settled) }
        if let failure = outcome.failure, leadership.serves, !outcome.tenure.contains(.lost(isPlanned: true))
        {
            metrics.failures[.init(cause: failure.kind)].increment()
        }
        if let expired = outcome.expired { expireHistory(after: expired) }
        if let size = outcome.size { metrics.report(size, of: self) }
        if let removed = outcome.eventsExpired {
            metrics.eventsExpired.increment(by: removed)
            // There are probably more.
            if removed >= Self.eventsRemovedMax { removeEvents() }
            mayHaveEvents = removed > 0 || !eventRetention.isEmpty
        }
        collected(outcome)
        report(outcome.inbox)
        outbox.notKept(outcome.notAnnounced)
        for change in outcome.tenure { take(leadership.changed(change)) }
        outbox.committed(outcome.events)
    }

    /// Counts what was taken out of the inbox. Of a page of refused messages one is named, because whoever
    /// publishes to a wrong app mostly does it again and again.
    private func report(_ inbox: InboxOutcome) {
        if inbox.published > 0 { cleaningPace?.used() }
        metrics.inboxPublished.increment(by: inbox.published)
        metrics.historyStored.increment(by: inbox.stored)
        metrics.inboxNotStored.increment(by: inbox.notStored)
        metrics.inboxRefused.increment(by: inbox.refused.count)
        guard let first = inbox.refused.first else { return }
        logger.warning(
            "messages from SQL are refused",
            metadata: [
                "count": .stringConvertible(inbox.refused.count), "id": .stringConvertible(first.id),
                "app": "\(first.channel.appID)", "channel": "\(first.channel.name)",
                "reason": "\(first.error.reason)",
            ])
    }

    private func report(_ settled: LockStep.Settled) {
        guard let link = links[settled.link] else { return }
        switch settled.outcome {
        case .failure(let error):
            link.push(StorageMethod.lockGranted, LockGrantedPush(ticket: settled.ticket, error: error))
        case .success(let token):
            LockAcquired(fencingToken: token).field.withUnsafeReadableBytes { bytes in
                _ = link.push(
                    StorageMethod.lockGranted,
                    LockGrantedPush(ticket: settled.ticket, response: WireText(bytes)))
            }
        }
    }

    func read(_ outcomes: [ReadOutcome]) {
        for outcome in outcomes { outcome.deliver(self) }
        // The answers are in the links' queues now, and count there.
        for outcome in outcomes { turns.ended(outcome.read.answerBytesMax, of: outcome.read.link) }
        for link in Set(outcomes.map(\.read.link)) { if let link = links[link] { readNext(for: link) } }
    }

    func answer(_ id: UInt64, _ link: UInt64, _ result: Result<some WireEncodable, RTMError>) {
        guard let link = links[link] else { return }
        switch result {
        case .success(let answer): link.respond(to: id, answer)
        case .failure(let error): refuse(id, error, link)
        }
    }
}
