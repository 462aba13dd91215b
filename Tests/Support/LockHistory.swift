/// The observations that many callers made of one lock, with the begin and the answer of each call by one
/// clock. Afterwards the question is whether the lock can have had one owner at a time (K-4, K-5).
///
/// An owner has the lock at the latest from the answer to its acquire, and at least until it asks for the
/// release. The fencing tokens state the order of the owners.
package struct LockHistory: Sendable {
    /// The time from the request for the lock to the answer to its release.
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

    /// A caller learned that another one owns the lock.
    package mutating func addRefusal(from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        refusals.append((begin, end))
    }

    package var holdCount: Int { holds.count }

    /// The observations that contradict one owner at a time; empty if there are none.
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
