import RTMWire

/// The changes that are collected in interval mode until the end of the period (P-22 to P-24). Pure.
///
/// A subscriber has to learn from the lists alone who is in the channel at the end, whatever it knew when the
/// period began or halfway through it. So a user who joined and departed stands in both lists (P-24) and is
/// gone, and a user who departed and joined again stands in `joined` alone.
struct IntervalBatch: Sendable {
    /// Limit: bytes of names and states in one event. A fuller batch becomes several events.
    static let bytesMax = 32 * 1024

    enum Departure: Sendable { case left, timedOut }

    private struct Change: Sendable {
        var joined = false
        var departure: Departure?

        /// The order in the lists: users who only joined come first, users who only timed out come last.
        var place: Int {
            switch (joined, departure) {
            case (_, nil): 1
            case (true, .left): 2
            case (true, .timedOut): 3
            case (false, .left): 4
            case (false, .timedOut): 5
            }
        }
    }

    private var changes: [String: Change] = [:]
    private var states: [UserState] = []

    var isEmpty: Bool { changes.isEmpty && states.isEmpty }

    /// Returns true if the user had departed within this batch: subscribers still have the states that the
    /// user had before.
    mutating func joined(_ user: String) -> Bool {
        changes.updateValue(Change(joined: true), forKey: user)?.departure != nil
    }

    mutating func departed(_ user: String, _ departure: Departure) {
        changes[user, default: Change()].departure = departure
    }

    mutating func statesChanged(_ user: UserState) { states.append(user) }

    /// Takes the batch as events. It is empty afterwards.
    mutating func take() -> [PresenceInterval] {
        defer { self = IntervalBatch() }
        var parts = Parts()
        let users = changes.sorted { ($0.value.place, $0.key) < ($1.value.place, $1.key) }
        for (user, change) in users where change.joined { parts.add(user, to: \.joined) }
        for (user, change) in users where change.departure == .left { parts.add(user, to: \.left) }
        for (user, change) in users where change.departure == .timedOut { parts.add(user, to: \.timedOut) }
        // A user who is gone has no states.
        for state in states where changes[state.userID]?.departure == nil { parts.add(state) }
        return parts.all
    }

    private struct Parts {
        private(set) var all: [PresenceInterval] = []
        private var bytes = 0

        mutating func add(_ user: String, to list: WritableKeyPath<PresenceInterval, [String]>) {
            makeRoom(user.utf8.count)
            all[all.count - 1][keyPath: list].append(user)
        }

        mutating func add(_ state: UserState) {
            makeRoom(state.encodedLength)
            all[all.count - 1].states.append(state)
        }

        private mutating func makeRoom(_ count: Int) {
            if all.isEmpty || bytes + count > IntervalBatch.bytesMax {
                all.append(PresenceInterval())
                bytes = 0
            }
            bytes += count + 2
        }
    }
}
