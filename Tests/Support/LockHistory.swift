/// What many callers have seen of one lock, each call from its begin to its answer by one clock, and
/// afterwards the question whether it can have had one owner at a time (K-4, K-5).
///
/// Whoever has the lock has it at the latest when he is told, and at the earliest until he asks for its
/// release; the fencing tokens claim the order of the owners.
package struct LockHistory: Sendable {
    /// From the question for the lock to the answer that it was given back.
    package struct Hold: Sendable {
        package let token: UInt64
        package let asked: ContinuousClock.Instant
        package let granted: ContinuousClock.Instant
        package let releasing: ContinuousClock.Instant
        package let released: ContinuousClock.Instant

        package init(
            token: UInt64, asked: ContinuousClock.Instant, granted: ContinuousClock.Instant,
            releasing: ContinuousClock.Instant, released: ContinuousClock.Instant = .now
        ) {
            self.token = token
            self.asked = asked
            self.granted = granted
            self.releasing = releasing
            self.released = released
        }
    }

    private var holds: [Hold] = []
    private var refusals: [(begin: ContinuousClock.Instant, end: ContinuousClock.Instant)] = []

    package init() {}

    package mutating func add(_ hold: Hold) { holds.append(hold) }

    /// Somebody was told that another one has the lock.
    package mutating func addRefusal(from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        refusals.append((begin, end))
    }

    package var holdCount: Int { holds.count }

    /// What doesn't fit one owner at a time; empty: everything does.
    package var violations: [String] {
        var found: [String] = []
        let inOrder = holds.sorted { $0.token < $1.token }
        for (earlier, later) in zip(inOrder, inOrder.dropFirst()) {
            if earlier.token == later.token { found.append("the token \(later.token) was given twice") }
        }
        var latest: Hold?
        for hold in inOrder {
            if let latest, hold.granted < latest.releasing {
                found.append("\(hold.token) was given while the owner of \(latest.token) had the lock")
            }
            if latest.map({ $0.releasing < hold.releasing }) ?? true { latest = hold }
        }
        for refusal in refusals
        where !holds.contains(where: { $0.asked < refusal.end && $0.released > refusal.begin }) {
            found.append("the lock was refused while nobody had it")
        }
        return found
    }
}
