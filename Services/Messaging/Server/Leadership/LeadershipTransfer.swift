/// How far a leading node is with letting another one lead.
///
///     offered → leaving → handed over
///
/// While it is offered the node still leads, and its successor reads ahead what is in the journal. When
/// little is
/// left to read, the node takes nothing in any more (leaving) and writes what it has. Then the successor may
/// lead.
/// Until it does, the node that hands over is the only one with the shard in memory, so it keeps it, and goes
/// on if Redis is found to have lost something. Pure.
///
/// A node whose leadership another one has taken is in the same place at once: a Redis that was replaced may
/// answer for a moment longer, and what it gave then is lost with it. So the node keeps the shard in memory
/// until the same Redis has said for a lease that another node leads.
struct LeadershipTransfer {
    /// Limit: milliseconds for which a node that ends lets its successor read ahead. With more to read than
    /// that,
    /// the successor reads the rest while nobody leads.
    private static let readingTime: UInt64 = 5_000
    /// A successor that has read what was written so long ago reads no more slowly than this node writes, in
    /// milliseconds.
    private static let markInterval: UInt64 = 100

    /// Who is to lead; empty: any node.
    private(set) var successor: String
    /// Whether this node ends with it.
    let isLast: Bool
    /// Nothing is taken in any more.
    private(set) var isLeaving = false
    /// Redis has let the successor lead, or may have.
    private var mayBeTaken = false
    /// Whether Redis is asked how far the successor is, and hasn't answered yet.
    private var isAsked = false

    private let began: UInt64
    /// When the successor last showed that it reads, or this node began to leave or to wait, in milliseconds.
    private var movedAt: UInt64
    /// The last batch that the successor has read.
    private var ahead: UInt64 = 0
    /// The last batch that was written some time ago.
    private var mark: UInt64
    private var markAt: UInt64
    /// Since when Redis has been known to have lost something.
    private var lostSince: UInt64?
    /// Whether another node took the leadership without being asked.
    let isTaken: Bool

    init(to successor: String, isLast: Bool, written: UInt64, now: UInt64) {
        (self.successor, self.isLast) = (successor, isLast)
        (mark, began, movedAt, markAt) = (written, now, now, now)
        isTaken = false
    }

    /// Another node has taken the leadership.
    init(takenAt now: UInt64) {
        (successor, isLast, isTaken) = ("", false, true)
        (mark, began, movedAt, markAt) = (0, now, now, now)
        (isLeaving, mayBeTaken) = (true, true)
    }

    // MARK: - Offered

    enum Offer: Equatable {
        /// Ask how far the successor is.
        case ask
        case wait
        /// The successor doesn't read.
        case withdraw
        case leave
    }

    mutating func offer(_ limits: JournalLimits, now: UInt64) -> Offer {
        if successor.isEmpty || (isLast && now >= began + Self.readingTime) { return .leave }
        if now >= movedAt + limits.lease {
            guard isLast else { return .withdraw }
            successor = ""
            return .leave
        }
        guard !isAsked else { return .wait }
        isAsked = true
        return .ask
    }

    /// - Parameters:
    ///   - ahead: the last batch that the successor has read; nil if Redis doesn't say.
    ///   - written: the last batch that this node has written.
    /// - Returns: whether the successor has little left to read.
    mutating func heard(_ ahead: UInt64?, written: UInt64, now: UInt64) -> Bool {
        isAsked = false
        guard let ahead else { return false }
        if ahead > self.ahead { (self.ahead, movedAt) = (ahead, now) }
        if ahead >= mark { return true }
        if now >= markAt + Self.markInterval { (mark, markAt) = (written, now) }
        return false
    }

    // MARK: - Leaving

    mutating func leave(now: UInt64) {
        isLeaving = true
        movedAt = now
    }

    /// Everything is written.
    mutating func begin(now: UInt64) { movedAt = now }

    /// Whether what this node waits for takes too long.
    func isLate(_ limits: JournalLimits, now: UInt64) -> Bool { now >= movedAt + limits.lease }

    // MARK: - Handed over

    enum Outcome: Equatable {
        case ask
        /// The successor may lead from now on.
        case part
        /// Another node leads, or may and needs nothing of this one.
        case ended
        /// This node goes on, if Redis lets it.
        case stay
    }

    mutating func answered(_ answer: JournalAnswer.HandOver, _ limits: JournalLimits, now: UInt64) -> Outcome
    {
        switch answer {
        case .ended:
            lostSince = nil
            return isTaken && !isLate(limits, now: now) ? .ask : .ended
        case .lost:
            // If the successor leads already, it is the one to write again what Redis has lost. It gets the
            // time
            // to say so.
            let since = lostSince ?? now
            lostSince = since
            return !mayBeTaken || now >= since + limits.lease ? .stay : .ask
        case .unknown:
            movedAt = now
            return part()
        case .done:
            lostSince = nil
            if successor.isEmpty { return .ended }
            if !mayBeTaken { movedAt = now }
            guard isLate(limits, now: now) else { return part() }
        }
        // The successor doesn't come.
        guard isLast else { return .stay }
        successor = ""
        return .ask
    }

    private mutating func part() -> Outcome {
        defer { mayBeTaken = true }
        return mayBeTaken ? .ask : .part
    }
}
