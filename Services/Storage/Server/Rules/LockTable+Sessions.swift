import RTMModel
import RTMWire

/// What becomes of owners and of those who wait when sessions come and go. Nothing here is stored: an owner
/// that is away has still got its lock.
extension LockTable {
    /// K-11, K-6: a session has ended, or has left this channel.
    ///
    /// - Parameter now: milliseconds of a clock that never goes back.
    mutating func left(_ session: SessionID, now: UInt64, _ step: inout LockStep) {
        leave(now: now, &step) { $0.session == session }
    }

    /// The edge behind these sessions can't be reached; they have this much longer to be heard of again.
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

    /// A session of this user is in the channel: none of its ttls runs on.
    mutating func entered(_ user: String, _ place: SessionPlace) {
        for (name, lock) in locks where lock.owner?.user == user {
            locks[name]?.owner?.presence = .here(place)
        }
    }

    /// Sessions that keep locks by being there.
    var ownersHere: [SessionPlace] {
        locks.values.compactMap { lock in
            guard case .here(let place)? = lock.owner?.presence else { return nil }
            return place
        }
    }

    /// Whether it matters here what becomes of the session.
    func concerns(_ session: SessionID) -> Bool {
        ownersHere.contains { $0.session == session }
            || locks.values.contains { lock in
                lock.waiters.contains { $0.claimant.place.session == session }
            }
    }

    /// After a start of the service: nobody has been seen yet.
    mutating func suppose(everybodyAwaySince start: UInt64) {
        for (name, lock) in locks where lock.owner != nil {
            locks[name]?.owner?.presence = .away(until: start + lock.ttl)
        }
    }

    /// When the next ttl ends.
    var nextDeadline: UInt64? {
        locks.values.compactMap { lock in
            guard case .away(let deadline)? = lock.owner?.presence else { return nil }
            return deadline
        }.min()
    }

    /// Releases the locks whose ttl has ended.
    mutating func expire(now: UInt64, _ step: inout LockStep) {
        // By name, so that the same history has the same outcome.
        for name in locks.keys.sorted() {
            guard var lock = locks[name], case .away(let deadline)? = lock.owner?.presence, deadline <= now
            else { continue }
            release(&lock, &step)
            locks[name] = lock
        }
    }
}
