/// How far the transfer of a leadership to a successor has come.
///
/// While the leadership is offered, the node still serves, and its successor reads the journal ahead. When
/// little is left to read, the node drains: it takes no more requests and writes what it has. Then the
/// successor may lead. Until it does, the node is the only one with the shard in memory. So it keeps it, and
/// resumes if Redis has lost something. `ShardLeadership.Leader` has the states; this type has the times and
/// numbers that decide when the next one begins. Pure.
struct LeadershipTransfer {
    /// Limit: milliseconds for which a node that ends lets its successor read ahead. With more to read than
    /// that, the successor reads the rest while nobody leads.
    private static let readingTime: UInt64 = 5_000
    /// A successor that has read what was written so long ago reads no more slowly than this node writes, in
    /// milliseconds.
    private static let markInterval: UInt64 = 100

    /// Who is to lead; empty: any node.
    private(set) var successor: String
    /// Whether this node ends with the transfer.
    private let isLast: Bool
    /// Whether Redis is asked how far the successor has read, and hasn't answered yet.
    private var awaitsRedis = false

    private let began: UInt64
    /// When the successor last read something, or the present state of this node began, in milliseconds.
    private var progressAt: UInt64
    /// The last batch that the successor has read.
    private var ahead: UInt64 = 0
    /// The last batch that was written some time ago.
    private var mark: UInt64
    private var markAt: UInt64
    /// Since when Redis has been known to have lost something.
    private var lostSince: UInt64?

    init(to successor: String, isLast: Bool, written: UInt64, now: UInt64) {
        (self.successor, self.isLast) = (successor, isLast)
        (mark, began, progressAt, markAt) = (written, now, now, now)
    }

    /// Another node has become the leader without being asked.
    init(replacedAt now: UInt64) { self.init(to: "", isLast: false, written: 0, now: now) }

    // MARK: - While it is offered

    enum Step: Equatable {
        /// Ask how far the successor has read.
        case ask
        case wait
        /// The successor doesn't read.
        case withdraw
        case drain
    }

    mutating func nextStep(_ limits: JournalLimits, now: UInt64) -> Step {
        if successor.isEmpty || (isLast && now >= began + Self.readingTime) { return .drain }
        if isLate(limits, now: now) {
            guard isLast else { return .withdraw }
            successor = ""
            return .drain
        }
        guard !awaitsRedis else { return .wait }
        awaitsRedis = true
        return .ask
    }

    /// - Parameters:
    ///   - ahead: the last batch that the successor has read; nil if Redis didn't answer.
    ///   - written: the last batch that this node has written.
    /// - Returns: whether the successor has little left to read.
    mutating func offerAnswered(_ ahead: UInt64?, written: UInt64, now: UInt64) -> Bool {
        awaitsRedis = false
        guard let ahead else { return false }
        if ahead > self.ahead { (self.ahead, progressAt) = (ahead, now) }
        if ahead >= mark { return true }
        if now >= markAt + Self.markInterval { (mark, markAt) = (written, now) }
        return false
    }

    // MARK: - While the node drains and waits

    mutating func progressed(now: UInt64) { progressAt = now }

    /// Whether what this node waits for takes too long.
    func isLate(_ limits: JournalLimits, now: UInt64) -> Bool { now >= progressAt + limits.lease }

    enum Outcome: Equatable {
        case ask
        /// The successor may lead from now on.
        case transferred
        /// Another node leads, or may lead and needs nothing of this one.
        case stepDown
        /// This node resumes, if Redis lets it.
        case resume
    }

    mutating func answered(
        _ answer: JournalAnswer.Transfer, to leader: ShardLeadership.Leader, _ limits: JournalLimits,
        now: UInt64
    ) -> Outcome {
        let pending = leader.mayHaveSuccessor ? Outcome.ask : .transferred
        switch answer {
        case .ended:
            lostSince = nil
            return leader.isReplaced && !isLate(limits, now: now) ? .ask : .stepDown
        case .lost:
            // If the successor leads already, it is the one that writes again what Redis has lost. It gets
            // the time to report that.
            let since = lostSince ?? now
            lostSince = since
            return !leader.mayHaveSuccessor || now >= since + limits.lease ? .resume : .ask
        case .unknown:
            progressAt = now
            return pending
        case .done:
            lostSince = nil
            if successor.isEmpty { return .stepDown }
            if !leader.mayHaveSuccessor { progressAt = now }
            guard isLate(limits, now: now) else { return pending }
        }
        // The successor doesn't come.
        guard isLast else { return .resume }
        successor = ""
        return .ask
    }
}
