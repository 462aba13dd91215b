import NIOCore

/// A node's part in keeping the journal: whether it leads, and what it does when Redis or another node says
/// otherwise.
///
///     following → taking → reading → leading → following …
///         ↑↓                            ↓
///     reading ahead                handing over → following …
///
/// A node that is asked to lead next reads the journal ahead, while the other one still leads
/// (`LeadershipTransfer`).
///
/// A node leads while its token is the one in Redis. Every batch is written under the token, so a node that
/// was stopped, or cut off, or paused, writes nothing after another one has taken the lead; and what it
/// hasn't written it neither acknowledges nor delivers. Time decides only when somebody may try, never who is
/// right. The type is pure.
struct ShardLeadership {
    private enum Phase {
        /// Another node leads, or nothing is known. `look` tells when to try.
        case following(look: UInt64)
        /// Redis was asked for the lead.
        case taking(token: UInt64)
        /// What other nodes wrote is being read; ahead, if another one still leads, and is about to let this
        /// one lead.
        case reading(isAhead: Bool)
        /// All was read. It counts if Redis, asked once more, is still the server that gave the lead.
        case confirming(isAsked: Bool)
        case leading
        /// Everything is written, and Redis is asked to let another node lead.
        ///
        /// - Parameter isAsked: whether it hasn't answered yet.
        case handingOver(isAsked: Bool)
        /// Redis is asked whether this node goes on, and what it has.
        case reinstating(token: UInt64, Step)
        case stopped
    }

    private enum Step {
        /// Redis may have lost something: how far has it got?
        case ask
        /// It has: begin with an empty journal, which is not whole.
        case empty
        /// Nobody knows what was acknowledged: begin with new logs.
        case begin
    }

    var limits: JournalLimits
    /// So long this node waits after a lease has ended before it takes the lead, in milliseconds.
    var patience: UInt64 = 0
    /// How far this node is with letting another one lead; nil if it goes on.
    private var handover: LeadershipTransfer?
    /// What this node has read, on its way to lead or as the successor of another one.
    private var reading: JournalReader?
    private var phase = Phase.following(look: 0)
    /// Nil while another node leads.
    private(set) var lead: JournalWriter?
    /// Whether Redis doesn't answer a reinstatement.
    private var isToBeReinstated = false
    private var absence = MissingJournal()

    init(_ limits: JournalLimits) { self.limits = limits }

    /// Whether this node keeps the logs.
    var isLeading: Bool {
        switch phase {
        case .leading, .handingOver, .reinstating(_, .ask), .reinstating(_, .empty): true
        case .following, .taking, .reading, .confirming, .reinstating(_, .begin), .stopped: false
        }
    }

    /// Nil while another node leads. Inlined where it is read, it stops the optimizer of Swift 6.3.
    var token: UInt64? { @inline(never) get { lead?.token } }
    /// The token under which the journal is being read.
    var readToken: UInt64? {
        if case .reading(isAhead: true) = phase { reading?.leader } else { token }
    }

    // MARK: - Time

    /// - Parameter random: a new random number, for a token.
    mutating func passed(now: UInt64, random: UInt64) -> [LeadershipEffect] {
        switch phase {
        case .following(let look):
            guard now >= look else { return [] }
            phase = .taking(token: random)
            return [take(random, begins: absence.mayEnd(limits, now: now))]
        // While the journal is being read, only the lease can be due.
        case .reading(isAhead: false), .confirming: return next(now: now)
        case .leading: return goOnHandingOver(now) + next(now: now)
        case .handingOver(isAsked: false): return askToHandOver()
        case .reinstating(let token, let step):
            guard isToBeReinstated else { return [] }
            return reinstate(token, step)
        case .taking, .reading, .handingOver, .stopped: return []
        }
    }

    private func take(_ token: UInt64, begins: Bool) -> LeadershipEffect {
        .take(token: token, begins: begins, patience: patience, ahead: reading?.place)
    }

    private mutating func next(now: UInt64) -> [LeadershipEffect] {
        if let append = lead?.next(limits, now: now) { return [.append(append)] }
        guard case .leading = phase, handover?.isLeaving == true, lead?.isWritten == true else { return [] }
        handover?.begin(now: now)
        return askToHandOver()
    }

    /// Something happened that belongs into the next batch.
    mutating func gather(_ bytes: ByteBuffer) { lead?.gathered(bytes) }

    /// Something happened that others must not hear of before it is written.
    mutating func gathered(_ bytes: ByteBuffer, now: UInt64) -> [LeadershipEffect] {
        gather(bytes)
        return if case .leading = phase { next(now: now) } else { [] }
    }

    // MARK: - Taking the lead

    mutating func taken(_ answer: JournalAnswer.Take, now: UInt64) -> [LeadershipEffect] {
        guard case .taking(let token) = phase else { return [] }
        switch answer {
        case .held:
            absence.ended()
            return follow(now)
        case .empty:
            absence.found(now: now)
            return follow(now)
        case .otherLayout(let layout):
            return follow(now) + [.refuse("the journal in Redis has \(layout)")]
        case .successor(let leader, let term, let last):
            absence.ended()
            return readAhead(of: leader, term, last: last, now: now)
        case .taken(let term, let last, let isWhole, let leader):
            absence.ended()
            let read = reading.take() ?? JournalReader(of: leader, now: now)
            let isContinued = isWhole && read.leader == leader && read.hasHeads
            let reading = isContinued ? read : JournalReader(of: leader, now: now)
            self.reading = reading
            lead = JournalWriter(term, token: token, written: last, kept: reading.kept, now: now)
            guard isWhole else { return beginAnew() }
            let preparation: [LeadershipEffect] = isContinued ? [] : [.prepare(term)]
            guard reading.last < last else { return preparation + begin() }
            self.reading?.end = last
            phase = .reading(isAhead: false)
            return preparation + [.read(token: token, after: reading.last)]
        }
    }

    private mutating func follow(_ now: UInt64) -> [LeadershipEffect] {
        lead = nil
        phase = .following(look: now + limits.look)
        return reading.take() == nil ? [] : [.forget]
    }

    /// Redis could not be asked.
    mutating func takeFailed(now: UInt64) -> [LeadershipEffect] {
        if case .taking = phase { follow(now) } else { [] }
    }

    /// Nobody knows any more what was acknowledged, so the logs begin anew, with other epochs.
    private mutating func beginAnew() -> [LeadershipEffect] {
        guard let token = lead?.token else { return [] }
        reading = nil
        lead?.term.beginAnew(JournalTerm.epoch(from: token))
        return reinstate(token &+ 1, .begin)
    }

    private mutating func begin() -> [LeadershipEffect] {
        (phase, reading) = (.leading, nil)
        return lead.map { [.lead($0.term)] } ?? []
    }

    /// A page of the journal was read.
    ///
    /// - Parameters:
    ///   - batches: the numbers and lengths of its batches; nil if Redis didn't answer.
    ///   - hasHeads: whether it is known by now where the partitions stand.
    ///   - random: a new random number, for a token.
    mutating func pageRead(
        _ batches: [(number: UInt64, bytes: Int)]?, hasHeads: Bool, now: UInt64, random: UInt64
    ) -> [LeadershipEffect] {
        guard case .reading(let isAhead) = phase, var reading else { return [] }
        guard let batches else { return follow(now) }
        if batches.isEmpty { return pageIsUnreadable(now: now) }
        guard reading.follows(batches) else { return readAnew(now: now) }
        reading.found(batches, hasHeads: hasHeads, now: now)
        self.reading = reading
        if isAhead, reading.isDone || reading.isToTell(limits, now: now) {
            phase = .taking(token: random)
            return [take(random, begins: false)]
        }
        guard reading.isDone else { return [.read(token: readToken ?? 0, after: reading.last)] }
        lead?.kept = reading.kept
        return hasHeads ? confirm(now: now) : beginAnew()
    }

    /// Between two pages the leader has cut off what comes next.
    private mutating func readAnew(now: UInt64) -> [LeadershipEffect] {
        guard case .reading(isAhead: false) = phase, let lead else { return follow(now) }
        reading?.begin()
        return [.prepare(lead.term), .read(token: lead.token, after: 0)]
    }

    /// Redis may have come back with older data between two pages.
    private mutating func confirm(now: UInt64) -> [LeadershipEffect] {
        let append = lead?.renew(limits, now: now)
        phase = .confirming(isAsked: append != nil)
        return append.map { [.append($0)] } ?? []
    }

    /// A page of the journal isn't there, or can't be understood.
    mutating func pageIsUnreadable(now: UInt64) -> [LeadershipEffect] {
        guard case .reading(let isAhead) = phase else { return [] }
        return isAhead ? follow(now) : beginAnew()
    }

    // MARK: - Reading ahead

    private mutating func readAhead(
        of leader: UInt64, _ term: JournalTerm, last: UInt64, now: UInt64
    ) -> [LeadershipEffect] {
        var actions: [LeadershipEffect] = []
        if reading?.leader != leader {
            reading = JournalReader(of: leader, now: now)
            actions = [.prepare(term)]
        }
        reading?.told(now: now)
        // The leader waits for this node, so it asks again soon.
        guard let position = reading?.last, position < last else {
            phase = .following(look: now)
            return actions
        }
        reading?.end = last
        phase = .reading(isAhead: true)
        return actions + [.read(token: leader, after: position)]
    }

    // MARK: - Batches

    mutating func appended(
        _ append: JournalAppend, _ answer: JournalAnswer.Append, now: UInt64, random: UInt64
    ) -> [LeadershipEffect] {
        guard append.token == token else { return [] }
        switch answer {
        case .ended: return taken(now)
        case .unknown:
            lead?.unanswered()
            return []
        case .doubt:
            lead?.unanswered()
            guard case .leading = phase else { return follow(now) }
            return stay() + reinstate(random, .ask)
        case .done:
            return written(lead?.done(now: now), now: now)
        }
    }

    private mutating func written(_ written: JournalWriter.Written?, now: UInt64) -> [LeadershipEffect] {
        if case .confirming(let isAsked) = phase { return isAsked ? begin() : confirm(now: now) }
        guard case .leading = phase else { return [] }
        switch written {
        case .gathered(let number): return [.release(number)] + next(now: now)
        case .rewritten(isWhole: false): return [.rewrite(isFirst: false)]
        case .rewritten(isWhole: true): return rewritten(now: now)
        case .renewed, nil: return next(now: now)
        }
    }

    /// Another node has taken the leadership. If Redis turns out to have forgotten that, this node goes on.
    private mutating func taken(_ now: UInt64) -> [LeadershipEffect] {
        guard isLeading else { return end(now) }
        handover = LeadershipTransfer(takenAt: now)
        lead?.unanswered()
        phase = .handingOver(isAsked: false)
        return [.part]
    }

    private mutating func end(_ now: UInt64, _ reason: String = "another node leads") -> [LeadershipEffect] {
        (lead, handover, reading) = (nil, nil, nil)
        phase = .following(look: now)
        return [.stepDown(reason)]
    }

    // MARK: - Handing over

    /// Lets another node lead, as soon as it has read the journal and everything is written.
    ///
    /// - Parameters:
    ///   - successor: empty: any.
    ///   - isLast: whether this node ends then, and can't wait for a successor that doesn't come.
    mutating func handOver(to successor: String, isLast: Bool, now: UInt64) -> [LeadershipEffect] {
        guard case .leading = phase, handover == nil, let lead, !lead.isRewriting else { return [] }
        handover = LeadershipTransfer(to: successor, isLast: isLast, written: lead.written, now: now)
        return goOnHandingOver(now)
    }

    private mutating func goOnHandingOver(_ now: UInt64) -> [LeadershipEffect] {
        guard var handover, let token else { return [] }
        // Redis takes too long to have everything.
        if handover.isLeaving { return handover.isLate(limits, now: now) ? stay() : [] }
        let offer = handover.offer(limits, now: now)
        self.handover = handover
        switch offer {
        case .ask: return [.offer(token: token, to: handover.successor)]
        case .wait: return []
        case .withdraw:
            self.handover = nil
            return []
        case .leave: return leave(now)
        }
    }

    /// - Parameters:
    ///   - successor: to whom.
    ///   - token: under which it was offered.
    ///   - ahead: the last batch that the successor has read; nil if Redis doesn't say.
    mutating func offered(
        to successor: String, under token: UInt64, _ ahead: UInt64?, now: UInt64
    ) -> [LeadershipEffect] {
        guard case .leading = phase, let lead, lead.token == token, handover?.successor == successor,
            handover?.isLeaving == false
        else { return [] }
        let isNear = handover?.heard(ahead, written: lead.written, now: now) ?? false
        return isNear ? leave(now) : []
    }

    private mutating func leave(_ now: UInt64) -> [LeadershipEffect] {
        handover?.leave(now: now)
        return [.leave] + next(now: now)
    }

    private mutating func askToHandOver() -> [LeadershipEffect] {
        guard let lead, let handover else { return [] }
        phase = .handingOver(isAsked: true)
        return [.handOver(token: lead.token, last: lead.written, to: handover.successor)]
    }

    /// - Parameter random: a new random number, for a token.
    mutating func handedOver(
        _ answer: JournalAnswer.HandOver, now: UInt64, random: UInt64
    ) -> [LeadershipEffect] {
        let isTaken = handover?.isTaken == true
        guard case .handingOver = phase, let outcome = handover?.answered(answer, limits, now: now) else {
            return []
        }
        phase = .handingOver(isAsked: false)
        switch outcome {
        case .ask: return []
        case .part: return [.part]
        case .ended: return end(now, "another node \(isTaken ? "leads" : "was asked to lead")")
        case .stay: return stay() + reinstate(random, .ask)
        }
    }

    /// Redis has lost something, and this node is the only one that can tell it again; or Redis is too slow.
    private mutating func stay() -> [LeadershipEffect] { handover.take()?.isLeaving == true ? [.stay] : [] }

    // MARK: - When Redis has lost something

    private mutating func reinstate(_ token: UInt64, _ step: Step) -> [LeadershipEffect] {
        phase = .reinstating(token: token, step)
        isToBeReinstated = false
        guard let lead else { return [] }
        return [
            .reinstate(token: token, before: lead.token, empties: step != .ask, isWhole: step == .begin)
        ]
    }

    /// - Parameter random: a new random number, for a token.
    mutating func reinstated(
        _ answer: JournalAnswer.Reinstate, now: UInt64, random: UInt64
    ) -> [LeadershipEffect] {
        guard case .reinstating(let token, let step) = phase, let written = lead?.written else { return [] }
        switch (answer, step) {
        case (.ended, .ask), (.ended, .empty): return taken(now)
        case (.ended, .begin): return end(now)
        case (.unknown, _):
            isToBeReinstated = true
            return []
        case (.done, .begin):
            lead?.emptied(token)
            lead?.rewritten()
            phase = .leading
            return lead.map { [.leadAnew($0.term)] } ?? []
        case (.done(written), .ask):
            lead?.reinstated(token)
            phase = .leading
            return next(now: now)
        case (.done(let last), .ask) where last > 0:
            lead?.reinstated(token)
            return reinstate(random, .empty)
        case (.done, .ask), (.done, .empty):
            lead?.emptied(token)
            phase = .leading
            return [.rewrite(isFirst: true)]
        }
    }

    /// A part of what is in memory, for a journal that was lost.
    mutating func rewrite(_ part: ByteBuffer, isLast: Bool, now: UInt64) -> [LeadershipEffect] {
        guard case .leading = phase else { return [] }
        if let append = lead?.rewrite(part, isLast: isLast, limits, now: now) { return [.append(append)] }
        return isLast ? rewritten(now: now) : []
    }

    private mutating func rewritten(now: UInt64) -> [LeadershipEffect] {
        lead?.rewritten()
        return next(now: now)
    }

    /// Somebody knows of a later lead than this one, of which Redis knows nothing any more: it came back with
    /// older data. What was acknowledged under that lead is lost.
    mutating func heard(of term: UInt64, now: UInt64) -> [LeadershipEffect] {
        guard isLeading, let token, let next = lead?.term.outbidding(term) else { return [] }
        handover = nil
        lead = JournalWriter(next, token: token, written: 0, now: now)
        return [.stepDown("Redis has forgotten a later lead")] + beginAnew()
    }

    // MARK: - The end

    mutating func stop() {
        phase = .stopped
        (lead, reading) = (nil, nil)
    }
}

/// Since when Redis has had no journal, and when one may begin there. Pure.
struct MissingJournal {
    private var since: UInt64?
    private var hasSeenJournal = false

    mutating func ended() { (since, hasSeenJournal) = (nil, true) }

    mutating func found(now: UInt64) { since = since ?? now }

    /// A leader that lives writes its journal again as soon as it reaches Redis.
    func mayEnd(_ limits: JournalLimits, now: UInt64) -> Bool {
        since.map { now >= $0 + limits.lease + (hasSeenJournal ? limits.doubt : 0) } ?? false
    }
}
