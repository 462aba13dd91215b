import NIOCore

/// Whether this node leads a shard, and what it does when Redis or another node contradicts that. Decision
/// 0016 has the diagram of the states, with the event of every arrow.
///
/// Each leadership has a random number, its leader token. A node is the leader while its leader token is the
/// one in Redis, and every batch is written under it. So a node that was stopped, cut off or paused writes
/// nothing after another one has become the leader, and what it hasn't written it neither acknowledges nor
/// delivers. Time decides only when a node may try, never who is right.
///
/// Each event is a method, takes the time and a random number where it needs them, and returns the actions
/// that `RedisJournal` carries out. All others read the answer here and store it nowhere. The type is pure.
struct ShardLeadership {
    enum State: Equatable {
        /// Another node leads, or nothing is known.
        ///
        /// - Parameter nextAttempt: when this node asks Redis for the leadership, in milliseconds.
        case follower(nextAttempt: UInt64)
        /// Redis was asked for the leadership.
        case candidate(leaderToken: UInt64)
        /// The journal is being read.
        ///
        /// - Parameter isAhead: whether another node still leads, and has named this one as its successor.
        case recovering(isAhead: Bool)
        /// The whole journal was read. It counts if Redis, asked once more, is still the server that gave the
        /// leadership.
        case confirming(awaitsRedis: Bool)
        case leader(Leader)
        /// Redis may have lost something: this node asks to lead under a new leader token.
        case rebuilding(leaderToken: UInt64, Rebuilding)
        case stopped
    }

    enum Leader: Equatable {
        /// Requests are answered. Meanwhile a transfer may be offered to a successor, which reads ahead.
        case serving
        /// No request is taken any more, and what has happened is written.
        ///
        /// - Parameter awaitsRedis: whether everything is written, and Redis was asked to let the successor
        ///   lead.
        case draining(awaitsRedis: Bool)
        /// The successor may lead. Until it does, this node keeps the shard in memory, and asks Redis
        /// again and again.
        case transferring(awaitsRedis: Bool)
        /// Another node has become the leader without being asked. A Redis that was replaced may answer for a
        /// moment longer, and what it gave then is lost with it. So this node keeps the shard in memory until
        /// the same Redis has answered for a lease that another node leads.
        case replaced(awaitsRedis: Bool)
    }

    enum Rebuilding: Equatable {
        /// Redis is asked for its last batch.
        case comparing
        /// Redis has lost a batch: the journal is emptied, and isn't whole until the checkpoint is written.
        case emptying
        /// Nobody knows what was acknowledged: the logs begin anew, with other epochs.
        case startingAnew
    }

    private(set) var state = State.follower(nextAttempt: 0)
    var limits: JournalLimits
    /// How long this node waits after a lease has ended before it asks for the leadership, in milliseconds.
    var electionDelay: UInt64 = 0
    /// What this node has written. It exists from the moment Redis gives the leadership until this node
    /// follows or stops.
    private(set) var writer: JournalWriter?
    /// What this node has read, on its way to lead or as the successor of another node.
    private var reader: JournalReader?
    /// The transfer that is offered or under way; nil in other states than `leader`.
    private var transfer: LeadershipTransfer?
    /// Whether Redis has left a reinstatement without an answer.
    private var isReinstatementDue = false
    /// Another node became the leader, Redis was replaced since, and that node was silent for a lease.
    private var isAfterSilence = false
    private var missingJournal = MissingJournal()
    private var newest = NewestJournal()
    private var contest: Contest?

    init(_ limits: JournalLimits) { self.limits = limits }

    // MARK: - What others read

    var isLeader: Bool { state.isLeader }
    var keepsLogs: Bool { state.keepsLogs }

    /// Nil while another node leads. Inlined where it is read, it stops the optimizer of Swift 6.3.
    var leaderToken: UInt64? { @inline(never) get { writer?.leaderToken } }

    /// The leader token under which the journal is being read.
    var readToken: UInt64? {
        if case .recovering(isAhead: true) = state { reader?.leaderToken } else { leaderToken }
    }

    /// Whether batches are written now.
    private var isWriting: Bool {
        state == .leader(.serving) || state == .leader(.draining(awaitsRedis: false))
    }

    // MARK: - Time

    /// - Parameter random: a new random number, for a leader token.
    mutating func timePassed(now: UInt64, random: UInt64) -> [LeadershipAction] {
        if let contest, state == .leader(.serving), let writer,
            contest.isDecided(renewedAt: writer.renewedAt, now: now)
        {
            return supersede(contest.term, now: now)
        }
        switch state {
        case .follower(let nextAttempt):
            guard now >= nextAttempt else { return [] }
            return requestLeadership(random, createsJournal: missingJournal.mayBegin(limits, now: now))
        // While the journal is being read, only the lease can be due.
        case .recovering(isAhead: false), .confirming: return next(now: now)
        case .leader(.serving): return continueOffer(now) + next(now: now)
        case .leader(.draining(awaitsRedis: false)):
            // Redis takes too long to have everything.
            return (transfer?.isLate(limits, now: now) == true ? resume() : []) + next(now: now)
        case .leader(.transferring(awaitsRedis: false)), .leader(.replaced(awaitsRedis: false)):
            return askForTransfer()
        case .rebuilding(let leaderToken, let step):
            guard isReinstatementDue else { return [] }
            return reinstate(leaderToken, step)
        case .candidate, .recovering, .leader, .stopped: return []
        }
    }

    private mutating func next(now: UInt64) -> [LeadershipAction] {
        if let append = writer?.next(limits, now: now) { return [.append(append)] }
        guard case .leader(.draining(awaitsRedis: false)) = state, writer?.isWritten == true else {
            return []
        }
        transfer?.progressed(now: now)
        return askForTransfer()
    }

    /// Something happened that belongs to the next batch.
    mutating func recorded(_ bytes: ByteBuffer) { writer?.gathered(bytes) }

    /// Something happened that must not leave the node before it is written.
    mutating func recorded(_ bytes: ByteBuffer, now: UInt64) -> [LeadershipAction] {
        recorded(bytes)
        return isWriting ? next(now: now) : []
    }

    // MARK: - Election

    private mutating func requestLeadership(
        _ leaderToken: UInt64, createsJournal: Bool
    ) -> [LeadershipAction] {
        state = .candidate(leaderToken: leaderToken)
        return [
            .requestLeadership(
                leaderToken: leaderToken, createsJournal: createsJournal, electionDelay: electionDelay,
                readUntil: reader?.position)
        ]
    }

    mutating func leadershipRequestAnswered(_ answer: JournalAnswer.LeadershipRequest, now: UInt64)
        -> [LeadershipAction]
    {
        guard case .candidate(let leaderToken) = state else { return [] }
        switch answer {
        case .held(_, let term, let last):
            missingJournal.found()
            newest.seen(term: term, last: last)
            return follow(now)
        case .empty:
            missingJournal.missed(now: now)
            return follow(now)
        case .otherLayout(let layout):
            return follow(now) + [.refuse("the journal in Redis has \(layout)")]
        case .successor(let leaderToken, let term, let last):
            missingJournal.found()
            newest.seen(term: term.term, last: last)
            return readAhead(under: leaderToken, term, last: last, now: now)
        case .granted(let term, let last, let isWhole, let tokenBefore):
            missingJournal.found()
            let isWhole = isWhole && !newest.isAhead(of: term.lineage.terms.first ?? term.term, last: last)
            let read = reader.take() ?? JournalReader(under: tokenBefore, now: now)
            let isContinued = isWhole && read.leaderToken == tokenBefore && read.hasHeads
            let reader = isContinued ? read : JournalReader(under: tokenBefore, now: now)
            self.reader = reader
            writer = JournalWriter(term, leaderToken: leaderToken, written: last, kept: reader.kept, now: now)
            guard isWhole else { return startAnew() }
            let preparation: [LeadershipAction] = isContinued ? [] : [.beginRecovery(term)]
            guard reader.last < last else { return preparation + becomeLeader() }
            self.reader?.end = last
            state = .recovering(isAhead: false)
            return preparation + [.readJournal(leaderToken: leaderToken, after: reader.last)]
        }
    }

    private mutating func follow(_ now: UInt64) -> [LeadershipAction] {
        (writer, contest) = (nil, nil)
        state = .follower(nextAttempt: now + limits.attemptInterval)
        return reader.take() == nil ? [] : [.discardRecovery]
    }

    /// Redis could not be asked.
    mutating func leadershipRequestFailed(now: UInt64) -> [LeadershipAction] {
        if case .candidate = state { follow(now) } else { [] }
    }

    /// Nobody knows any more what was acknowledged, so the logs begin anew, with other epochs.
    private mutating func startAnew() -> [LeadershipAction] {
        guard let leaderToken = writer?.leaderToken else { return [] }
        reader = nil
        writer?.term.startAnew(JournalTerm.epoch(from: leaderToken))
        return reinstate(leaderToken &+ 1, .startingAnew)
    }

    private mutating func becomeLeader(isAnew: Bool = false) -> [LeadershipAction] {
        (state, reader) = (.leader(.serving), nil)
        return writer.map { [.becomeLeader($0.term, isAnew: isAnew)] } ?? []
    }

    // MARK: - Recovery

    /// A page of the journal was read.
    ///
    /// - Parameters:
    ///   - batches: the numbers and lengths of its batches; nil if Redis didn't answer.
    ///   - hasHeads: whether the batches read so far have the heads of the partitions.
    ///   - random: a new random number, for a leader token.
    mutating func pageRead(
        _ batches: [(number: UInt64, bytes: Int)]?, hasHeads: Bool, now: UInt64, random: UInt64
    ) -> [LeadershipAction] {
        guard case .recovering(let isAhead) = state, var reader else { return [] }
        guard let batches else { return follow(now) }
        if batches.isEmpty { return pageUnreadable(now: now) }
        guard reader.follows(batches) else { return readAgain(now: now) }
        reader.read(batches, hasHeads: hasHeads, now: now)
        self.reader = reader
        if isAhead, reader.isDone || reader.isReportDue(limits, now: now) {
            return requestLeadership(random, createsJournal: false)
        }
        guard reader.isDone else { return [.readJournal(leaderToken: readToken ?? 0, after: reader.last)] }
        writer?.kept = reader.kept
        return hasHeads ? confirm(now: now) : startAnew()
    }

    /// Between two pages the leader has cut off what comes next.
    private mutating func readAgain(now: UInt64) -> [LeadershipAction] {
        guard case .recovering(isAhead: false) = state, let writer else { return follow(now) }
        reader?.restart()
        return [.beginRecovery(writer.term), .readJournal(leaderToken: writer.leaderToken, after: 0)]
    }

    /// Redis may have come back with older data between two pages.
    private mutating func confirm(now: UInt64) -> [LeadershipAction] {
        let append = writer?.renew(limits, now: now)
        state = .confirming(awaitsRedis: append != nil)
        return append.map { [.append($0)] } ?? []
    }

    /// A page of the journal is missing, or can't be decoded.
    mutating func pageUnreadable(now: UInt64) -> [LeadershipAction] {
        guard case .recovering(let isAhead) = state else { return [] }
        return isAhead ? follow(now) : startAnew()
    }

    private mutating func readAhead(
        under leaderToken: UInt64, _ term: JournalTerm, last: UInt64, now: UInt64
    ) -> [LeadershipAction] {
        var actions: [LeadershipAction] = []
        if reader?.leaderToken != leaderToken {
            reader = JournalReader(under: leaderToken, now: now)
            actions = [.beginRecovery(term)]
        }
        reader?.reported(now: now)
        // The leader waits for this node, so it asks again soon.
        guard let position = reader?.last, position < last else {
            state = .follower(nextAttempt: now)
            return actions
        }
        reader?.end = last
        state = .recovering(isAhead: true)
        return actions + [.readJournal(leaderToken: leaderToken, after: position)]
    }

    // MARK: - Batches

    mutating func appendAnswered(
        _ append: JournalAppend, _ answer: JournalAnswer.Append, now: UInt64, random: UInt64
    ) -> [LeadershipAction] {
        guard append.leaderToken == leaderToken else { return [] }
        switch answer {
        case .ended(let term) where isLater(term): return replaced(now)
        case .unknown:
            writer?.unanswered()
            return []
        case .doubt, .ended:
            writer?.unanswered()
            guard isWriting else { return follow(now) }
            isAfterSilence = false
            return resume() + reinstate(random, .comparing)
        case .done:
            return written(writer?.done(now: now), now: now)
        }
    }

    private mutating func written(_ written: JournalWriter.Written?, now: UInt64) -> [LeadershipAction] {
        if case .confirming(let awaitsRedis) = state {
            return awaitsRedis ? becomeLeader() : confirm(now: now)
        }
        guard isWriting else { return [] }
        switch written {
        case .gathered(let number): return [.releaseOutput(number)] + next(now: now)
        case .checkpoint(isLast: false): return [.writeCheckpoint(isFirst: false)]
        case .checkpoint(isLast: true): return checkpointWritten(now: now)
        case .renewed, nil: return next(now: now)
        }
    }

    /// Whether a leadership of this term is one after this node's. Otherwise a Redis that names it has gone
    /// back in time.
    private func isLater(_ term: UInt64) -> Bool { writer.map { term > $0.term.term } ?? true }

    /// Another node has become the leader. If Redis turns out to have forgotten that, this node resumes.
    private mutating func replaced(_ now: UInt64) -> [LeadershipAction] {
        guard keepsLogs else { return stepDown(now) }
        transfer = LeadershipTransfer(replacedAt: now)
        writer?.unanswered()
        state = .leader(.replaced(awaitsRedis: false))
        return [.awaitSuccessor("another node leads")]
    }

    private mutating func stepDown(
        _ now: UInt64, _ reason: String = "another node leads"
    ) -> [LeadershipAction] {
        let wasLeader = isLeader
        if let writer { newest.seen(term: writer.term.term, last: writer.written) }
        (writer, transfer, reader, contest) = (nil, nil, nil, nil)
        state = .follower(nextAttempt: now)
        return [.stepDown(reason, closesLinks: wasLeader)]
    }

    // MARK: - Leadership transfer

    /// Lets another node lead, as soon as it has read the journal and everything is written.
    ///
    /// - Parameters:
    ///   - successor: empty: any node.
    ///   - isLast: whether this node ends then, and can't wait for a successor that doesn't come.
    mutating func transferRequested(
        to successor: String, isLast: Bool, now: UInt64
    ) -> [LeadershipAction] {
        guard state == .leader(.serving), transfer == nil, let writer, !writer.isWritingCheckpoint else {
            return []
        }
        transfer = LeadershipTransfer(to: successor, isLast: isLast, written: writer.written, now: now)
        return continueOffer(now)
    }

    private mutating func continueOffer(_ now: UInt64) -> [LeadershipAction] {
        guard var transfer, let leaderToken else { return [] }
        let step = transfer.nextStep(limits, now: now)
        self.transfer = transfer
        switch step {
        case .ask: return [.offerLeadership(leaderToken: leaderToken, to: transfer.successor)]
        case .wait: return []
        case .withdraw:
            self.transfer = nil
            return []
        case .drain: return drain(now)
        }
    }

    /// - Parameters:
    ///   - successor: who was offered the leadership.
    ///   - token: under which it was offered.
    ///   - ahead: the last batch that the successor has read; nil if Redis didn't answer.
    mutating func offerAnswered(
        to successor: String, under leaderToken: UInt64, _ ahead: UInt64?, now: UInt64
    ) -> [LeadershipAction] {
        guard state == .leader(.serving), let writer, writer.leaderToken == leaderToken,
            transfer?.successor == successor
        else { return [] }
        let isCaughtUp = transfer?.offerAnswered(ahead, written: writer.written, now: now) ?? false
        return isCaughtUp ? drain(now) : []
    }

    private mutating func drain(_ now: UInt64) -> [LeadershipAction] {
        transfer?.progressed(now: now)
        state = .leader(.draining(awaitsRedis: false))
        return next(now: now)
    }

    private mutating func askForTransfer() -> [LeadershipAction] {
        guard let writer, let transfer, case .leader(let leader) = state else { return [] }
        state = .leader(leader.awaitingRedis(true))
        return [
            .transferLeadership(leaderToken: writer.leaderToken, last: writer.written, to: transfer.successor)
        ]
    }

    /// - Parameter random: a new random number, for a leader token.
    mutating func transferAnswered(
        _ answer: JournalAnswer.Transfer, now: UInt64, random: UInt64
    ) -> [LeadershipAction] {
        var answer = answer
        if case .ended(let term) = answer, !isLater(term) { answer = .lost }
        guard case .leader(let leader) = state, leader != .serving, leader != .draining(awaitsRedis: false),
            let outcome = transfer?.answered(answer, to: leader, limits, now: now)
        else { return [] }
        switch outcome {
        case .ask:
            state = .leader(leader.awaitingRedis(false))
            return []
        case .transferred:
            state = .leader(.transferring(awaitsRedis: false))
            return [.awaitSuccessor("another node is about to lead")]
        case .stepDown:
            return stepDown(now, "another node \(leader.isReplaced ? "leads" : "was asked to lead")")
        case .resume:
            isAfterSilence = leader.isReplaced
            return resume() + reinstate(random, .comparing)
        }
    }

    /// Redis has lost something, and only this node can write it again; or Redis is too slow.
    private mutating func resume() -> [LeadershipAction] {
        transfer = nil
        guard state != .leader(.serving) else { return [] }
        state = .leader(.serving)
        return [.resumeServing]
    }

    // MARK: - When Redis has lost something

    private mutating func reinstate(_ leaderToken: UInt64, _ step: Rebuilding) -> [LeadershipAction] {
        state = .rebuilding(leaderToken: leaderToken, step)
        isReinstatementDue = false
        guard let writer else { return [] }
        return [
            .reinstate(
                leaderToken: leaderToken, before: writer.leaderToken, empties: step != .comparing,
                isWhole: step == .startingAnew)
        ]
    }

    /// - Parameter random: a new random number, for a leader token.
    mutating func reinstatementAnswered(
        _ answer: JournalAnswer.Reinstatement, now: UInt64, random: UInt64
    ) -> [LeadershipAction] {
        guard case .rebuilding(let leaderToken, let step) = state, let written = writer?.written else {
            return []
        }
        switch (answer, step) {
        // That node leads later and is gone, so the newest isn't what this one has in memory.
        case (.ended, .comparing) where isAfterSilence: return stepDown(now)
        case (.ended, .comparing), (.ended, .emptying): return replaced(now)
        case (.ended, .startingAnew): return stepDown(now)
        case (.forked(let term), _):
            writer?.term.begunAnew(term)
            return startAnew(
                under: leaderToken, "another node has written to an earlier state of the journal", now: now)
        case (.unknown, _):
            isReinstatementDue = true
            return []
        case (.done(_, let term), .startingAnew):
            writer?.term.begunAnew(term)
            writer?.emptied(leaderToken)
            writer?.checkpointWritten()
            return becomeLeader(isAnew: true)
        case (.done(written, let term), .comparing):
            writer?.reinstated(leaderToken)
            return serveAgain(under: term) + next(now: now)
        case (.done(let last, _), .comparing) where last > 0:
            writer?.reinstated(leaderToken)
            return reinstate(random, .emptying)
        case (.done(_, let term), .comparing), (.done(_, let term), .emptying):
            writer?.emptied(leaderToken)
            return serveAgain(under: term) + [.writeCheckpoint(isFirst: true)]
        }
    }

    private mutating func serveAgain(under term: UInt64) -> [LeadershipAction] {
        writer?.term.reinstated(term)
        state = .leader(.serving)
        return writer.map { [.announceTerm($0.term)] } ?? []
    }

    /// The next page of the checkpoint was made from memory, for a journal that was lost.
    mutating func checkpointPageMade(_ page: ByteBuffer, isLast: Bool, now: UInt64) -> [LeadershipAction] {
        guard isWriting else { return [] }
        if let append = writer?.writeCheckpoint(page, isLast: isLast, limits, now: now) {
            return [.append(append)]
        }
        return isLast ? checkpointWritten(now: now) : []
    }

    private mutating func checkpointWritten(now: UInt64) -> [LeadershipAction] {
        writer?.checkpointWritten()
        return next(now: now)
    }

    /// A caller knows a term that this node's logs don't continue. What was acknowledged in it isn't here, so
    /// new logs have to begin, unless this node is the one that was replaced and hasn't learned that yet.
    ///
    /// Two nodes that learn of each other must not supersede each other in turn. So a node first has the
    /// master looked for, and waits until Redis has prolonged its lease there: for a lease if the other term
    /// is later, and a quarter of it otherwise.
    mutating func laterTermReported(_ term: UInt64, now: UInt64) -> [LeadershipAction] {
        guard keepsLogs, let own = writer?.term, own.superseding(term) != nil else { return [] }
        let wait = own.term > term ? limits.renewal : limits.lease
        let isNew = contest == nil
        contest = Contest(
            term: max(contest?.term ?? 0, term), reportedAt: contest?.reportedAt ?? now,
            wait: contest?.wait ?? wait)
        return isNew ? [.searchMaster] : []
    }

    private mutating func supersede(_ term: UInt64, now: UInt64) -> [LeadershipAction] {
        contest = nil
        guard let leaderToken, let next = writer?.term.superseding(term) else { return [] }
        writer?.term = next
        return startAnew(under: leaderToken, "Redis has forgotten another leader", now: now)
    }

    /// What this node has in memory doesn't count any more.
    private mutating func startAnew(under leaderToken: UInt64, _ reason: String, now: UInt64)
        -> [LeadershipAction]
    {
        guard let term = writer?.term else { return [] }
        let wasLeader = isLeader
        (transfer, contest) = (nil, nil)
        writer = JournalWriter(term, leaderToken: leaderToken, written: 0, now: now)
        return [.stepDown(reason, closesLinks: wasLeader)] + startAnew()
    }

    // MARK: - The end

    mutating func stop() {
        state = .stopped
        (writer, reader) = (nil, nil)
    }
}

extension ShardLeadership.State {
    /// Whether callers find the leader here.
    var isLeader: Bool {
        switch self {
        case .leader(.serving), .leader(.draining), .rebuilding(_, .comparing), .rebuilding(_, .emptying):
            true
        case .leader(.transferring), .leader(.replaced), .rebuilding(_, .startingAnew), .follower, .candidate,
            .recovering, .confirming, .stopped:
            false
        }
    }

    /// Whether this node has the logs in memory: as the leader, or until another node has them.
    var keepsLogs: Bool { isLeader || isAwaitingSuccessor }

    /// Whether requests stay without an answer, because the links end in a moment.
    var isDraining: Bool { if case .leader(.draining) = self { true } else { false } }

    /// Whether another node leads or may lead, and this one keeps the shard in memory until that is certain.
    var isAwaitingSuccessor: Bool {
        switch self {
        case .leader(.transferring), .leader(.replaced): true
        default: false
        }
    }
}

extension ShardLeadership.Leader {
    /// The same state, in which Redis is asked, or has answered.
    fileprivate func awaitingRedis(_ awaitsRedis: Bool) -> Self {
        switch self {
        case .serving: .serving
        case .draining: .draining(awaitsRedis: awaitsRedis)
        case .transferring: .transferring(awaitsRedis: awaitsRedis)
        case .replaced: .replaced(awaitsRedis: awaitsRedis)
        }
    }

    var isReplaced: Bool { if case .replaced = self { true } else { false } }

    /// Whether the successor may lead already.
    var mayHaveSuccessor: Bool {
        switch self {
        case .serving, .draining: false
        case .transferring, .replaced: true
        }
    }
}

/// A caller knows of another leader, whose logs this one doesn't continue. Pure.
private struct Contest {
    /// The latest term that was reported.
    let term: UInt64
    /// When the first one was reported, and how long the node waits from then on; in milliseconds.
    let reportedAt: UInt64
    let wait: UInt64

    /// Whether this node supersedes the other one: it has waited, and Redis has prolonged its lease since the
    /// report.
    func isDecided(renewedAt: UInt64, now: UInt64) -> Bool {
        now >= reportedAt + wait && renewedAt > reportedAt
    }
}

/// Since when Redis has had no journal, and when a new one may begin. Pure.
private struct MissingJournal {
    private var since: UInt64?
    private var hasSeenJournal = false

    mutating func found() { (since, hasSeenJournal) = (nil, true) }

    mutating func missed(now: UInt64) { since = since ?? now }

    /// A leader that lives writes its journal again as soon as it reaches Redis.
    func mayBegin(_ limits: JournalLimits, now: UInt64) -> Bool {
        since.map { now >= $0 + limits.lease + (hasSeenJournal ? limits.lossReportTime : 0) } ?? false
    }
}
