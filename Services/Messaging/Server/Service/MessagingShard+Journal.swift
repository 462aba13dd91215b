import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// What a shard with a journal needs beside it.
struct ShardJournal {
    let redis: RedisJournal
    let endOfTurn: EndOfTurn
    /// Holds back what nobody may know before it is written.
    let gate = OutputGate()
    /// What was read of the journal so far; nil while nothing is read.
    var replay: JournalReplay?
    var isDirty = false
    var checkpoint = CheckpointCursor()
    /// When the heads of the partitions were last recorded, in milliseconds.
    var headsAt: UInt64 = 0
}

/// The shard and its journal: nothing leaves the node before Redis has it.
extension MessagingShard {
    /// Whether callers find the shard's leader here. A shard without a journal has no other.
    var isLeader: Bool { journal?.redis.leadership.state.isLeader ?? true }

    /// What is announced to callers; nil while another node leads.
    var announcement: LeaderPush? {
        guard let journal else { return LeaderPush(term: 1, follows: 1) }
        let leadership = journal.redis.leadership
        guard leadership.isLeader, let term = leadership.writer?.term else { return nil }
        return term.announcement
    }

    func startJournal() { journal?.redis.start(delegate: self) }

    /// Whether so much waits for Redis that nothing may be added.
    var isJournalBehind: Bool { journal.map { $0.redis.backlog > $0.redis.limits.backlogMax } ?? false }

    /// - Throws: `.notConnected` (-10025) where another node leads. When too much waits for Redis,
    ///   `.channelPublishMessageFailed` (-11024) for a publish or an append, and `.channelSubscribeFailed`
    ///   (-11021) for an attach, because a login's attach is written, too.
    func checkLeadership(_ method: UInt32) throws(RTMError) {
        guard isLeader else { throw RTMError(.notConnected, "another messaging node leads this shard") }
        switch method {
        case MessagingMethod.read, MessagingMethod.list, MessagingMethod.feed, MessagingMethod.explain:
            return
        default: break
        }
        guard isJournalBehind else { return }
        throw RTMError(
            method == MessagingMethod.attach.number ? .channelSubscribeFailed : .channelPublishMessageFailed,
            "too much waits to be written to Redis; try again in a second", retryAfter: .seconds(1),
            limit: .init(
                name: "bytes that wait for the journal",
                value: UInt64(journal?.redis.limits.backlogMax ?? 0)))
    }

    /// To be called when something happened that belongs into the journal.
    func closeGate() {
        guard isLeader, broker.hasJournaled, let shardJournal = journal, !shardJournal.isDirty else { return }
        journal?.isDirty = true
        shardJournal.gate.close(shardJournal.redis.pendingNumber)
        shardJournal.endOfTurn.schedule(self)
    }

    func journalSweep(_ now: UInt64) {
        guard let shardJournal = journal, isLeader else { return }
        if now >= shardJournal.headsAt + 1_000 {
            journal?.headsAt = now
            broker.journalHeads(now: now)
            // A sweep visits ten channels in a millisecond.
            shardJournal.redis.keepBatches(
                forTwice: LogTable.recordInterval + UInt64(broker.channelCount / 10))
        }
        closeGate()
    }
}

extension MessagingShard: Flushable {
    package func flushAtEndOfTurn() {
        journal?.isDirty = false
        journal?.redis.record(broker.takeJournal())
    }
}

extension MessagingShard: JournalDelegate {
    /// How long users who were online at the node before count as online, in milliseconds: until then their
    /// edges have returned.
    private static let settlingTime: UInt64 = 10_000

    func didBeginRecovery(_ term: JournalTerm) {
        journal?.replay = JournalReplay(limits: limits, firstEpoch: term.epoch, secret: term.secret)
    }

    func didDiscardRecovery() { journal?.replay = nil }

    func didReadBatch(_ batch: UnsafeRawBufferPointer) throws(JournalFault) {
        try journal?.replay?.read(batch)
    }

    var hasReadHeads: Bool { journal?.replay?.begin != nil }

    func didBecomeLeader(_ term: JournalTerm, isAnew: Bool) {
        if !isAnew, let replay = journal?.replay {
            broker = Broker(continuing: replay, now: clock())
        } else {
            broker = newBroker(term)
        }
        journal?.replay = nil
        broker.keepJournal(settlingFor: Self.settlingTime, now: clock())
        announce(term.announcement)
        closeGate()
    }

    func didReinstate(_ term: JournalTerm) {
        broker.reinstate()
        announce(term.announcement)
    }

    private func newBroker(_ term: JournalTerm) -> Broker {
        Broker(limits: limits, firstEpoch: term.epoch, secret: term.secret, now: clock())
    }

    func takeRecords() -> ByteBuffer {
        journal?.isDirty = false
        return broker.takeJournal()
    }

    func didWriteBatches(through number: UInt64) {
        journal?.gate.open(through: number)
        for link in links.values { link.release(through: number) }
    }

    func makeCheckpointPage(isFirst: Bool) -> (bytes: ByteBuffer, isLast: Bool) {
        guard var checkpoint = journal?.checkpoint else { return (ByteBuffer(), true) }
        if isFirst { checkpoint = CheckpointCursor() }
        defer { journal?.checkpoint = checkpoint }
        return broker.checkpointPage(&checkpoint, now: clock())
    }

    func didBeginAwaitingSuccessor(_ reason: String) {
        closeLinks(reason)
        // Links that are opened from now on wait for nothing.
        journal?.gate.open(through: .max)
    }

    /// What was requested meanwhile stays without an answer, so the links end.
    func didResumeServing() { closeLinks("the messaging node remains the leader") }

    private func closeLinks(_ reason: String) {
        for link in links.values { link.close(saying: ServiceLinkGoAway(.draining, reason)) }
    }

    /// What waits behind the gate was never written, so the links that wait there are closed.
    func didStepDown(_ reason: String, closesLinks: Bool) {
        if closesLinks { closeLinks(reason) }
        journal?.replay = nil
        journal?.gate.open(through: .max)
        broker = newBroker(JournalTerm(term: 0, epoch: 1, secret: 0))
    }
}
