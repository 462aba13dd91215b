/// Since when Redis has had no journal, and when one may begin there. Pure.
struct JournalAbsence {
    private var since: UInt64?
    private var hasSeenJournal = false

    mutating func ended() { (since, hasSeenJournal) = (nil, true) }

    mutating func found(now: UInt64) { since = since ?? now }

    /// A leader that lives writes its journal again as soon as it reaches Redis.
    func mayEnd(_ limits: JournalLimits, now: UInt64) -> Bool {
        since.map { now >= $0 + limits.lease + (hasSeenJournal ? limits.doubt : 0) } ?? false
    }
}
