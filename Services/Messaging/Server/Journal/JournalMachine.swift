import NIOCore

/// A node's part in keeping the journal: whether it leads, and what it does when Redis or another node says
/// otherwise.
///
///     following → taking → reading → leading → following …
///                                       ↓
///                                  handing over → following …
///
/// A node leads while its token is the one in Redis. Every batch is written under the token, so a node that
/// was stopped, or cut off, or paused, writes nothing after another one has taken the lead; and what it
/// hasn't written it neither acknowledges nor delivers. Time decides only when somebody may try, never who is
/// right. The type is pure.
struct JournalMachine {
    private enum Phase {
        /// Another node leads, or nothing is known. `look` tells when to try.
        case following(look: UInt64)
        /// Redis was asked for the lead.
        case taking(token: UInt64)
        /// What other nodes wrote is being read.
        case reading(position: UInt64, last: UInt64)
        /// All was read. It counts if Redis, asked once more, is still the server that gave the lead.
        case confirming(isAsked: Bool)
        case leading
        /// Everything is written, and Redis was asked to let another node lead.
        case handingOver
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
    /// The node that is to lead as soon as everything is written; nil if this one goes on.
    private var heir: String?
    /// When this node began to wait for that, in milliseconds.
    private var leavingSince: UInt64 = 0
    private var phase = Phase.following(look: 0)
    /// Nil while another node leads.
    private var lead: JournalLead?
    /// Whether Redis doesn't answer a reinstatement.
    private var isToBeReinstated = false
    /// Since when Redis has had no journal.
    private var emptySince: UInt64?
    private var hasSeenJournal = false

    init(_ limits: JournalLimits) { self.limits = limits }

    /// Whether this node keeps the logs.
    var isLeading: Bool {
        switch phase {
        case .leading, .handingOver, .reinstating(_, .ask), .reinstating(_, .empty): true
        case .following, .taking, .reading, .confirming, .reinstating(_, .begin), .stopped: false
        }
    }

    /// Under this number others wait for what gathers.
    var gatheringNumber: UInt64 { lead?.gatheringNumber ?? 0 }
    /// Nil while another node leads. Inlined where it is read, it stops the optimizer of Swift 6.3.
    var token: UInt64? { @inline(never) get { lead?.token } }
    var term: JournalTerm? { lead?.term }
    /// Bytes that Redis hasn't got yet.
    var backlog: Int { lead?.backlog ?? 0 }

    // MARK: - Time

    /// - Parameter random: a new random number, for a token.
    mutating func passed(now: UInt64, random: UInt64) -> [JournalAction] {
        switch phase {
        case .following(let look):
            guard now >= look else { return [] }
            phase = .taking(token: random)
            // A leader that lives writes its journal again as soon as it reaches Redis.
            let wait = hasSeenJournal ? 3 * limits.lease : limits.lease
            let begins = emptySince.map { now >= $0 + wait } ?? false
            return [.take(token: random, begins: begins, patience: patience)]
        // While the journal is being read, only the lease can be due.
        case .reading, .confirming: return next(now: now)
        case .leading: return (now >= leavingSince + limits.lease ? stay() : []) + next(now: now)
        case .reinstating(let token, let step):
            guard isToBeReinstated else { return [] }
            return reinstate(token, step)
        case .taking, .handingOver, .stopped: return []
        }
    }

    private mutating func next(now: UInt64) -> [JournalAction] {
        if let append = lead?.next(limits, now: now) { return [.append(append)] }
        guard case .leading = phase, let heir, let lead, lead.isWritten else { return [] }
        phase = .handingOver
        return [.handOver(token: lead.token, last: lead.written, to: heir)]
    }

    /// Something happened that belongs into the next batch.
    mutating func gather(_ bytes: ByteBuffer) { lead?.gathered(bytes) }

    /// Something happened that others must not hear of before it is written.
    mutating func gathered(_ bytes: ByteBuffer, now: UInt64) -> [JournalAction] {
        gather(bytes)
        guard case .leading = phase else { return [] }
        return next(now: now)
    }

    // MARK: - Taking the lead

    mutating func taken(_ answer: JournalAnswer.Take, now: UInt64) -> [JournalAction] {
        guard case .taking(let token) = phase else { return [] }
        switch answer {
        case .held:
            hasSeenJournal = true
            emptySince = nil
            return follow(now)
        case .empty:
            emptySince = emptySince ?? now
            return follow(now)
        case .otherLayout(let layout):
            return follow(now) + [.refuse("the journal in Redis has \(layout)")]
        case .taken(let term, let last, let isWhole):
            hasSeenJournal = true
            emptySince = nil
            lead = JournalLead(term, token: token, written: last, now: now)
            guard isWhole else { return beginAnew() }
            guard last > 0 else { return begin() }
            phase = .reading(position: 0, last: last)
            return [.read(token: token, after: 0)]
        }
    }

    private mutating func follow(_ now: UInt64) -> [JournalAction] {
        lead = nil
        phase = .following(look: now + limits.look)
        return []
    }

    /// Redis could not be asked.
    mutating func takeFailed(now: UInt64) {
        guard case .taking = phase else { return }
        _ = follow(now)
    }

    /// Nobody knows any more what was acknowledged, so the logs begin anew, with other epochs.
    private mutating func beginAnew() -> [JournalAction] {
        guard let token = lead?.token else { return [] }
        lead?.term.epoch = JournalTerm.epoch(from: token)
        if let term = lead?.term.term { lead?.term.follows = term }
        return reinstate(token &+ 1, .begin)
    }

    private mutating func begin() -> [JournalAction] {
        phase = .leading
        return lead.map { [.lead($0.term)] } ?? []
    }

    /// A page of the journal was read.
    ///
    /// - Parameters:
    ///   - batches: the numbers and lengths of its batches; nil if Redis didn't answer.
    ///   - hasHeads: whether it is known by now where the partitions stand.
    mutating func pageRead(
        _ batches: [(number: UInt64, bytes: Int)]?, hasHeads: Bool, now: UInt64
    ) -> [JournalAction] {
        guard case .reading(let position, let last) = phase else { return [] }
        guard let batches else { return follow(now) }
        for batch in batches { lead?.found(batch.number, bytes: batch.bytes, now: now) }
        guard let end = batches.last?.number else { return beginAnew() }
        if end >= last { return hasHeads ? confirm(now: now) : beginAnew() }
        phase = .reading(position: max(position, end), last: last)
        return [.read(token: token ?? 0, after: end)]
    }

    /// Redis may have come back with older data between two pages.
    private mutating func confirm(now: UInt64) -> [JournalAction] {
        let append = lead?.renew(limits, now: now)
        phase = .confirming(isAsked: append != nil)
        return append.map { [.append($0)] } ?? []
    }

    /// A page of the journal can't be understood.
    mutating func pageIsUnreadable() -> [JournalAction] {
        guard case .reading = phase else { return [] }
        return beginAnew()
    }

    // MARK: - Batches

    mutating func appended(
        _ append: JournalAppend, _ answer: JournalAnswer.Append, now: UInt64, random: UInt64
    ) -> [JournalAction] {
        guard append.token == token else { return [] }
        switch answer {
        case .ended: return end(now)
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

    private mutating func written(_ written: JournalLead.Written?, now: UInt64) -> [JournalAction] {
        if case .confirming(let isAsked) = phase { return isAsked ? begin() : confirm(now: now) }
        guard case .leading = phase else { return [] }
        switch written {
        case .gathered(let number): return [.release(number)] + next(now: now)
        case .rewritten(isWhole: false): return [.rewrite(isFirst: false)]
        case .rewritten(isWhole: true): return rewritten(now: now)
        case .renewed, nil: return next(now: now)
        }
    }

    private mutating func end(_ now: UInt64) -> [JournalAction] {
        (lead, heir) = (nil, nil)
        phase = .following(look: now)
        return [.stepDown("another node leads")]
    }

    // MARK: - Handing over

    /// Lets another node lead, as soon as everything is written. Nothing more is to be taken in until then.
    mutating func handOver(to heir: String, now: UInt64) -> [JournalAction] {
        guard case .leading = phase, self.heir == nil, let lead, !lead.isRewriting else { return [] }
        self.heir = heir
        leavingSince = now
        return [.leave] + next(now: now)
    }

    mutating func handedOver(_ answer: JournalAnswer.HandOver, now: UInt64) -> [JournalAction] {
        guard case .handingOver = phase else { return [] }
        heir = nil
        guard answer == .done else {
            // If it was done all the same and nobody has taken the lead yet, the next batch takes it back.
            phase = .leading
            return [.stay] + next(now: now)
        }
        lead = nil
        phase = .following(look: now + limits.look)
        return [.stepDown("another node was asked to lead")]
    }

    /// Redis has lost something, and this node is the only one that can tell it again; or Redis is too slow.
    private mutating func stay() -> [JournalAction] { heir.take() == nil ? [] : [.stay] }

    // MARK: - When Redis has lost something

    private mutating func reinstate(_ token: UInt64, _ step: Step) -> [JournalAction] {
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
    ) -> [JournalAction] {
        guard case .reinstating(let token, let step) = phase, let written = lead?.written else { return [] }
        switch (answer, step) {
        case (.ended, _): return end(now)
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
    mutating func rewrite(_ part: ByteBuffer, isLast: Bool, now: UInt64) -> [JournalAction] {
        guard case .leading = phase else { return [] }
        if let append = lead?.rewrite(part, isLast: isLast, limits, now: now) { return [.append(append)] }
        return isLast ? rewritten(now: now) : []
    }

    private mutating func rewritten(now: UInt64) -> [JournalAction] {
        lead?.rewritten()
        return next(now: now)
    }

    /// Somebody knows of a later lead than this one, of which Redis knows nothing any more: it came back with
    /// older data. What was acknowledged under that lead is lost.
    mutating func heard(of term: UInt64, now: UInt64) -> [JournalAction] {
        guard isLeading, let token, var next = self.term, next.follows < term, next.term != term else {
            return []
        }
        next.term = max(next.term, term) + 1
        heir = nil
        lead = JournalLead(next, token: token, written: 0, now: now)
        return [.stepDown("Redis has forgotten a later lead")] + beginAnew()
    }

    // MARK: - The end

    mutating func stop() {
        phase = .stopped
        lead = nil
    }
}
