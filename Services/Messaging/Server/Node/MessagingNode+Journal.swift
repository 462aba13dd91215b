import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// What a node with a journal needs beside it.
struct JournalUse {
    let redis: RedisJournal
    let endOfTurn: EndOfTurn
    /// Holds back what nobody may know before it is written.
    let gate = OutputGate()
    /// What was read of the journal so far; nil while nothing is read.
    var replay: JournalReplay?
    var isDirty = false
    var walk = MemoryWalk()
    /// When the journal was last told where the partitions stand, in milliseconds.
    var headsAt: UInt64 = 0
}

/// The node and its journal: nothing leaves the node before Redis has what it says.
extension MessagingNode {
    /// Until the journal says that this node leads, it keeps no logs.
    func keep(_ redis: RedisJournal, _ endOfTurn: EndOfTurn) {
        lead = nil
        journal = JournalUse(redis: redis, endOfTurn: endOfTurn)
        redis.start(keeper: self)
    }

    /// - Throws: `.notConnected` (-10025) where another node leads, and `.channelPublishMessageFailed`
    ///   (-11024) for a publish or an append when too much waits for Redis.
    func checkLead(_ method: UInt32) throws(RTMError) {
        guard lead != nil else { throw RTMError(.notConnected, "another messaging node leads") }
        guard let redis = journal?.redis else { return }
        let isAppending = method == MessagingMethod.publish || method == MessagingMethod.append
        guard isAppending, redis.backlog > redis.limits.backlogMax else { return }
        throw RTMError(
            .channelPublishMessageFailed, "messages wait for the journal", retryAfter: .seconds(1),
            limit: .init(name: "bytes that wait for the journal", value: UInt64(redis.limits.backlogMax)))
    }

    /// To be called when something happened that belongs into the journal.
    func closeGate() {
        guard journal != nil, broker.hasJournaled, let use = journal, !use.isDirty else { return }
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

extension MessagingNode: Flushable {
    package func flushAtEndOfTurn() {
        journal?.isDirty = false
        journal?.redis.gathered(broker.takeJournal())
    }
}

extension MessagingNode: JournalKeeper {
    /// How long users who were online at the node before count as online, in milliseconds: until then their
    /// edges have come back.
    private static let settlingTime: UInt64 = 10_000

    func journalReads(_ term: JournalTerm) {
        journal?.replay = JournalReplay(limits: limits, firstEpoch: term.epoch, secret: term.secret)
    }

    private func newBroker(_ term: JournalTerm) -> EmbeddedBroker {
        EmbeddedBroker(limits: limits, firstEpoch: term.epoch, secret: term.secret)
    }

    func journalHas(_ batch: UnsafeRawBufferPointer) throws(JournalFault) { try journal?.replay?.read(batch) }

    func journalLeads(_ term: JournalTerm, isAnew: Bool) {
        if !isAnew, let replay = journal?.replay {
            broker = EmbeddedBroker(continuing: replay)
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
        if isFirst { walk = MemoryWalk() }
        defer { journal?.walk = walk }
        return broker.part(&walk, now: clock())
    }

    /// What waits at the gate has never been, so the links end with it.
    func journalEnded(_ reason: String) {
        lead = nil
        for link in links.values { link.close(saying: ServiceLinkGoAway(.draining, reason)) }
        journal?.gate.open(through: .max)
        broker = newBroker(JournalTerm(term: 0, follows: 0, epoch: 1, secret: 0))
    }
}
