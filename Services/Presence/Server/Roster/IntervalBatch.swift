import RTMWire

/// The changes that are collected in interval mode until the end of the period (P-22 to P-24). Pure.
///
/// A subscriber has to learn from the lists alone who is in the channel at the end, whatever it knew when the
/// period began or halfway through it. So a user who joined and departed stands in both lists (P-24) and is
/// gone, and a user who departed and joined again stands in `joined` alone.
///
/// Who came and went is announced at the end of the period, whatever it takes, because a name is short and
/// stands in the batch once. States are bounded (`ChangedStates`).
struct IntervalBatch: Sendable {
    /// Limit: bytes of names and states in one event. A fuller batch becomes several events.
    static let bytesMax = 32 * 1024
    /// Limit: users who came or went. The period of a fuller batch ends early.
    static let movesMax = 16_384

    enum LeaveCause: Sendable { case left, timedOut }

    private struct Change: Sendable {
        var joined = false
        var leaveCause: LeaveCause?

        /// The order in the lists: users who only joined come first, users who only timed out come last.
        var place: Int {
            switch (joined, leaveCause) {
            case (_, nil): 1
            case (true, .left): 2
            case (true, .timedOut): 3
            case (false, .left): 4
            case (false, .timedOut): 5
            }
        }
    }

    private var changes: [String: Change] = [:]
    private var states = ChangedStates()

    var isEmpty: Bool { changes.isEmpty && states.isEmpty }
    var isFull: Bool { changes.count >= Self.movesMax }

    mutating func joined(_ user: String) {
        let before = changes.updateValue(Change(joined: true), forKey: user)
        // Who departed within this batch is at the subscribers still with the states of before.
        if before?.leaveCause != nil { states.add(StateChange(isWhole: true), of: user) }
    }

    mutating func departed(_ user: String, _ leaveCause: LeaveCause) {
        changes[user, default: Change()].leaveCause = leaveCause
    }

    /// The user is gone, or hidden, and so are all states.
    mutating func forgetStates(of user: String) { states.forget(user) }

    mutating func statesChanged(_ change: StateChange, of user: String) { states.add(change, of: user) }

    /// Takes the batch as events. Afterwards it is empty, or holds states that wait for the next interval.
    ///
    /// - Parameter statesOf: the states that a user has now, in the order of their keys.
    mutating func take(statesBytesMax: Int, _ statesOf: (String) -> [StateItem]) -> [PresenceInterval] {
        var parts = Parts()
        let users = changes.sorted { ($0.value.place, $0.key) < ($1.value.place, $1.key) }
        for (user, change) in users where change.joined { parts.add(user, to: \.joined) }
        for (user, change) in users where change.leaveCause == .left { parts.add(user, to: \.left) }
        for (user, change) in users where change.leaveCause == .timedOut { parts.add(user, to: \.timedOut) }
        for change in states.take(bytesMax: statesBytesMax, statesOf) { parts.add(change) }
        changes = [:]
        return parts.all
    }

    private struct Parts {
        private(set) var all: [PresenceInterval] = []
        private var bytes = 0

        mutating func add(_ user: String, to list: WritableKeyPath<PresenceInterval, [String]>) {
            beginPartIfFull(user.utf8.count)
            all[all.count - 1][keyPath: list].append(user)
        }

        mutating func add(_ change: StateChange) {
            beginPartIfFull(change.cost)
            all[all.count - 1].states.append(change)
        }

        private mutating func beginPartIfFull(_ count: Int) {
            if all.isEmpty || bytes + count > IntervalBatch.bytesMax {
                all.append(PresenceInterval())
                bytes = 0
            }
            bytes += count + 2
        }
    }
}
