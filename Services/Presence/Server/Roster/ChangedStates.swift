import RTMWire

/// The users whose states have changed since subscribers last got them, with the keys that have changed
/// (P-22, P-23, L-51). Pure.
///
/// The values are read when the change is announced. So a user who changes a state a thousand times within a
/// period costs as much as one who changes it once, here and at every subscriber. What exceeds the bytes of
/// an interval waits for the next one. The users take turns in the order of their bytes, and nobody has a
/// second turn before all others who wait have had one. So a user who keeps changing large states holds up
/// the others by no more than these states.
struct ChangedStates: Sendable {
    /// Limit: keys that are remembered of one user. If more have changed, the user's states are announced
    /// whole.
    static let keysMax = 64

    /// `nil` as the set of keys stands for all states.
    private var users: [String: Set<String>?] = [:]
    /// The user who was announced last while others still wait.
    private var last: String?

    var isEmpty: Bool { users.isEmpty }

    mutating func add(_ change: StateChange, of user: String) {
        guard !change.isWhole else {
            users[user] = .some(nil)
            return
        }
        guard !change.items.isEmpty || !change.removed.isEmpty,
            var keys = users[user, default: []]
        else { return }
        keys.formUnion(change.items.lazy.map(\.key))
        keys.formUnion(change.removed)
        users[user] = .some(keys.count > Self.keysMax ? nil : keys)
    }

    /// The user has no states any more, and subscribers know that.
    mutating func forget(_ user: String) { users[user] = nil }

    /// Takes the changes of the next users: at least one, and not more than so many bytes.
    ///
    /// - Parameter statesOf: the states that a user has now, in the order of their keys.
    mutating func take(bytesMax: Int, _ statesOf: (String) -> [StateItem]) -> [StateChange] {
        var taken: [StateChange] = []
        var bytes = 0
        for user in turns() {
            guard let keys = users[user] else { continue }
            let change = Self.change(of: user, keys, statesOf(user))
            bytes += change.cost
            if bytes > bytesMax, !taken.isEmpty { break }
            taken.append(change)
        }
        for change in taken { users[change.userID] = nil }
        last = users.isEmpty ? nil : taken.last?.userID
        return taken
    }

    private func turns() -> [String] {
        let sorted = users.keys.sorted()
        guard let last, let next = sorted.firstIndex(where: { $0 > last }) else { return sorted }
        return Array(sorted[next...] + sorted[..<next])
    }

    private static func change(of user: String, _ keys: Set<String>?, _ states: [StateItem]) -> StateChange {
        guard let keys else { return StateChange(userID: user, items: states, isWhole: true) }
        let present = Set(states.lazy.map(\.key))
        return StateChange(
            userID: user, items: states.filter { keys.contains($0.key) },
            removed: keys.subtracting(present).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }
}

extension StateChange {
    /// How many bytes of an event the change counts as. The scripts in Redis count in the same way.
    var cost: Int {
        items.reduce(userID.utf8.count + 16) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
            + removed.reduce(0) { $0 + $1.utf8.count + 8 }
    }
}
