/// What a node has read of the journal so far. Pure.
struct JournalReader {
    /// The token under which it was written. Under another one the journal may be another.
    let leader: UInt64
    private(set) var last: UInt64 = 0
    /// The last batch that there was.
    var end: UInt64 = 0
    private(set) var kept = JournalKept()
    /// Whether it is known by now where the partitions stand.
    private(set) var hasHeads = false

    /// When the leader was last told how far this node is, in milliseconds.
    private var toldAt: UInt64

    init(of leader: UInt64, now: UInt64) { (self.leader, toldAt) = (leader, now) }

    var isDone: Bool { last >= end }

    /// Nothing is read yet.
    mutating func begin() { (last, kept, hasHeads) = (0, JournalKept(), false) }

    /// Whether a page goes on where the last one ended.
    func follows(_ batches: [(number: UInt64, bytes: Int)]) -> Bool {
        last == 0 || batches.first.map { $0.number == last + 1 } ?? true
    }

    mutating func found(_ batches: [(number: UInt64, bytes: Int)], hasHeads: Bool, now: UInt64) {
        for batch in batches { kept.add(batch.number, bytes: batch.bytes, now: now) }
        last = batches.last?.number ?? last
        self.hasHeads = hasHeads
    }

    mutating func told(now: UInt64) { toldAt = now }

    /// A leader doesn't wait for a successor of whom it hears nothing.
    func isToTell(_ limits: JournalLimits, now: UInt64) -> Bool { now >= toldAt + limits.renewal }

    /// What this node could lead with; nil if there is something missing.
    var place: JournalPosition? { hasHeads ? JournalPosition(leader: leader, last: last) : nil }
}
