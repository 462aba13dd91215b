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
    var walk = CheckpointCursor()
    /// Another node is about to lead. What is asked meanwhile has no answer here: the links end at once.
    var isLeaving = false
    /// The lead of this node, which it has given up as long as another one takes it.
    var parted: LeadPush?
    /// When the journal was last told where the partitions stand, in milliseconds.
    var headsAt: UInt64 = 0
}

/// The shard and its journal: nothing leaves the node before Redis has what it says.
extension MessagingShard {
    /// Until the journal says that this node leads, it keeps no logs.
    func keep(_ redis: RedisJournal, _ endOfTurn: EndOfTurn) {
        lead = nil
        journal = ShardJournal(redis: redis, endOfTurn: endOfTurn)
        redis.start(keeper: self)
    }

    /// Whether so much waits for Redis that nothing may come to it.
    var isJournalBehind: Bool { journal.map { $0.redis.backlog > $0.redis.limits.backlogMax } ?? false }

    /// - Throws: `.notConnected` (-10025) where another node leads. When too much waits for Redis,
    ///   `.channelPublishMessageFailed` (-11024) for a publish or an append, and `.channelSubscribeFailed`
    ///   (-11021) for an attach, because a login's attach is written, too.
    func checkLead(_ method: UInt32) throws(RTMError) {
        guard lead != nil else { throw RTMError(.notConnected, "another messaging node leads this shard") }
        guard method != MessagingMethod.read, isJournalBehind else { return }
        throw RTMError(
            method == MessagingMethod.attach ? .channelSubscribeFailed : .channelPublishMessageFailed,
            "the journal waits for Redis", retryAfter: .seconds(1),
            limit: .init(
                name: "bytes that wait for the journal",
                value: UInt64(journal?.redis.limits.backlogMax ?? 0)))
    }

    /// To be called when something happened that belongs into the journal.
    func closeGate() {
        guard lead != nil, broker.hasJournaled, let use = journal, !use.isDirty else { return }
        journal?.isDirty = true
        use.gate.close(use.redis.gatheringNumber)
        use.endOfTurn.schedule(self)
    }

    func journalSweep(_ now: UInt64) {
        guard let use = journal, lead != nil else { return }
        if now >= use.headsAt + 1_000 {
            journal?.headsAt = now
            broker.journalHeads(now: now)
            // A sweep looks at ten channels in a millisecond.
            use.redis.keepsChannels(for: LogTable.tellInterval + UInt64(broker.channelCount / 10))
        }
        closeGate()
    }
}

extension MessagingShard: Flushable {
    package func flushAtEndOfTurn() {
        journal?.isDirty = false
        journal?.redis.gathered(broker.takeJournal())
    }
}

extension MessagingShard: JournalDelegate {
    /// How long users who were online at the node before count as online, in milliseconds: until then their
    /// edges have come back.
    private static let settlingTime: UInt64 = 10_000

    func journalReads(_ term: JournalTerm) {
        journal?.replay = JournalReplay(limits: limits, firstEpoch: term.epoch, secret: term.secret)
    }

    func journalForgets() { journal?.replay = nil }

    private func newBroker(_ term: JournalTerm) -> Broker {
        Broker(limits: limits, firstEpoch: term.epoch, secret: term.secret, now: clock())
    }

    func journalHas(_ batch: UnsafeRawBufferPointer) throws(JournalFault) { try journal?.replay?.read(batch) }

    func journalLeads(_ term: JournalTerm, isAnew: Bool) {
        if !isAnew, let replay = journal?.replay {
            broker = Broker(continuing: replay, now: clock())
        } else {
            broker = newBroker(term)
        }
        journal?.replay = nil
        broker.keepJournal(settlingFor: Self.settlingTime, now: clock())
        let lead = LeadPush(term: term.term, follows: term.follows)
        self.lead = lead
        for link in links.values { link.push(MessagingMethod.lead, lead) }
        closeGate()
    }

    var journalHasHeads: Bool { journal?.replay?.begin != nil }

    func journalGathers() -> ByteBuffer {
        journal?.isDirty = false
        return broker.takeJournal()
    }

    func journalHasWritten(_ number: UInt64) {
        journal?.gate.open(through: number)
        for link in links.values { link.release(through: number) }
    }

    func journalPart(isFirst: Bool) -> (bytes: ByteBuffer, isLast: Bool) {
        guard var walk = journal?.walk else { return (ByteBuffer(), true) }
        if isFirst { walk = CheckpointCursor() }
        defer { journal?.walk = walk }
        return broker.part(&walk, now: clock())
    }

    func journalLeaves() { journal?.isLeaving = true }

    func journalParts() {
        journal?.isLeaving = false
        journal?.parted = lead
        lead = nil
        closeLinks("another messaging node is about to lead")
        // Links that are opened from now on wait for nothing.
        journal?.gate.open(through: .max)
    }

    /// What was asked meanwhile stays without an answer, so the links end.
    func journalStays() {
        journal?.isLeaving = false
        lead = journal?.parted ?? lead
        journal?.parted = nil
        closeLinks("the messaging node stays after all")
    }

    private func closeLinks(_ reason: String) {
        for link in links.values { link.close(saying: ServiceLinkGoAway(.draining, reason)) }
    }

    /// What waits at the gate has never been, so the links end with it.
    func journalEnded(_ reason: String) {
        // A node that has parted has no links of the time in which it led.
        if lead != nil { closeLinks(reason) }
        lead = nil
        journal?.isLeaving = false
        journal?.parted = nil
        journal?.replay = nil
        journal?.gate.open(through: .max)
        broker = newBroker(JournalTerm(term: 0, follows: 0, epoch: 1, secret: 0))
    }
}
