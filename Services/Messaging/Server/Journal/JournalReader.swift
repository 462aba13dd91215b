/// What a node has read of the journal so far. Pure.
struct JournalReader {
    /// The leader token under which it was written. Under another one the journal may be another.
    let leaderToken: UInt64
    private(set) var last: UInt64 = 0
    /// The last batch that the journal had.
    var end: UInt64 = 0
    private(set) var kept = JournalKept()
    /// Whether the heads of the partitions are among what was read.
    private(set) var hasHeads = false

    /// When this node last reported to the leader how far it has read, in milliseconds.
    private var reportedAt: UInt64

    init(under leaderToken: UInt64, now: UInt64) { (self.leaderToken, reportedAt) = (leaderToken, now) }

    var isDone: Bool { last >= end }

    /// The journal is read from its beginning.
    mutating func restart() { (last, kept, hasHeads) = (0, JournalKept(), false) }

    /// Whether a page begins where the last one ended.
    func follows(_ batches: [(number: UInt64, bytes: Int)]) -> Bool {
        last == 0 || batches.first.map { $0.number == last + 1 } ?? true
    }

    mutating func read(_ batches: [(number: UInt64, bytes: Int)], hasHeads: Bool, now: UInt64) {
        for batch in batches { kept.add(batch.number, bytes: batch.bytes, now: now) }
        last = batches.last?.number ?? last
        self.hasHeads = hasHeads
    }

    mutating func reported(now: UInt64) { reportedAt = now }

    /// A leader doesn't wait for a successor that reports nothing.
    func isReportDue(_ limits: JournalLimits, now: UInt64) -> Bool { now >= reportedAt + limits.renewal }

    /// What this node could lead with; nil if the heads are missing.
    var position: JournalPosition? { hasHeads ? JournalPosition(leaderToken: leaderToken, last: last) : nil }
}
