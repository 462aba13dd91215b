import RTMModel
import RTMWire

/// What happens to owners and waiters when sessions come and go. None of it is stored: an owner who is away
/// still owns its lock.
extension LockTable {
    /// A session has ended or has left this channel: the ttl of its locks begins (K-11), and it stops waiting
    /// (K-6).
    ///
    /// - Parameter now: milliseconds of a clock that never goes back.
    mutating func left(_ session: SessionID, now: UInt64, _ step: inout LockStep) {
        leave(now: now, &step) { $0.session == session }
    }

    /// The edge behind these sessions can't be reached. They have `grace` more milliseconds to come back.
    mutating func lostLink(_ link: UInt64, grace: UInt64, now: UInt64, _ step: inout LockStep) {
        leave(now: now + grace, &step) { $0.link == link }
    }

    private mutating func leave(
        now: UInt64, _ step: inout LockStep, _ isGone: (SessionPlace) -> Bool
    ) {
        for (name, lock) in locks {
            var lock = lock
            if case .here(let place)? = lock.owner?.presence, isGone(place) {
                let deadline = now + lock.ttl
                lock.owner?.presence = .away(until: deadline)
            }
            let gone = lock.waiters.filter { isGone($0.claimant.place) }
            for waiter in gone {
                step.settle(waiter, .failure(Self.sessionLeft))
            }
            if !gone.isEmpty { lock.waiters.removeAll { isGone($0.claimant.place) } }
            locks[name] = lock
        }
    }

    /// A session of this user is in the channel, so the ttl of its locks stops running.
    mutating func entered(_ user: String, _ place: SessionPlace) {
        for (name, lock) in locks where lock.owner?.user == user {
            locks[name]?.owner?.presence = .here(place)
        }
    }

    /// Sessions that keep locks by being in the channel.
    var ownersHere: [SessionPlace] {
        locks.values.compactMap { lock in
            guard case .here(let place)? = lock.owner?.presence else { return nil }
            return place
        }
    }

    /// Whether the end of the session matters to this table.
    func concerns(_ session: SessionID) -> Bool {
        ownersHere.contains { $0.session == session }
            || locks.values.contains { lock in
                lock.waiters.contains { $0.claimant.place.session == session }
            }
    }

    /// Treats all owners as away: after a start of the service no session has been seen yet.
    mutating func suppose(everybodyAwaySince start: UInt64) {
        for (name, lock) in locks where lock.owner != nil {
            locks[name]?.owner?.presence = .away(until: start + lock.ttl)
        }
    }

    /// When the next ttl ends, or nil if none is running.
    var nextDeadline: UInt64? {
        locks.values.compactMap { lock in
            guard case .away(let deadline)? = lock.owner?.presence else { return nil }
            return deadline
        }.min()
    }

    /// Releases the locks whose ttl has ended.
    mutating func expire(now: UInt64, _ step: inout LockStep) {
        // The order of the names ensures that the same history has the same outcome.
        for name in locks.keys.sorted() {
            guard var lock = locks[name], case .away(let deadline)? = lock.owner?.presence, deadline <= now
            else { continue }
            release(&lock, &step)
            locks[name] = lock
        }
    }
}
