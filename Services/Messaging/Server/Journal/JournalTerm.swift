/// A term of a shard's leadership, as Redis gave it.
struct JournalTerm: Equatable {
    /// Grows with each change of the leader.
    var term: UInt64
    /// The term whose logs this one continues; of new logs: the term itself.
    var follows: UInt64
    /// The epoch of the first partition.
    var epoch: UInt64
    /// The key of `NameHash`, by which channels and clients are numbered; the next leader needs the same one.
    var secret: UInt64

    /// Whether the term began with new logs.
    var hasNewLogs: Bool { follows == term }

    /// The term of new logs that supersedes a later one; nil if this term continues that one's logs, or is
    /// it.
    func superseding(_ later: UInt64) -> JournalTerm? {
        guard follows < later, term != later else { return nil }
        var next = self
        next.term = max(term, later) + 1
        return next
    }

    /// The term begins with new logs.
    mutating func startAnew(_ epoch: UInt64) { (self.epoch, follows) = (epoch, term) }

    /// Clients in JavaScript read numbers exactly only below 2^53.
    static func epoch(from random: UInt64) -> UInt64 { random >> 13 | 1 }
}

/// How far a node has read the journal.
struct JournalPosition: Equatable {
    /// The leader token under which it was written.
    let leaderToken: UInt64
    /// The last batch.
    let last: UInt64
}
