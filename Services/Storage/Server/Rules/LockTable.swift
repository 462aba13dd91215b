import RTMModel
import RTMWire

/// The locks of one channel, each under its own name (K-1). Pure: every call reports what has happened, in
/// order, in a `LockStep`.
///
/// A lock belongs to a user. While one of the user's sessions is in the channel the ttl doesn't run. It runs
/// from the time when that session ends or leaves the channel (K-11), and a user who comes back within it
/// stays the owner. Waiters stand in line, and newcomers stand behind them (K-5).
///
/// Each acquisition gets a fencing token from a counter that never goes back: a former owner who doesn't know
/// that it has lost the lock holds an older token than the present one. A user who comes back as another
/// client object (another `instance`) and acquires a lock that it owns already gets a new token as well,
/// because the old object may still be at work.
package struct LockTable: Sendable, Hashable {
    /// A session, and the link over which it is reached.
    package struct SessionPlace: Sendable, Hashable {
        let session: SessionID
        let link: UInt64
    }

    /// A user's session that asks for a lock.
    struct Claimant: Sendable, Hashable {
        let user: String
        let instance: UInt64
        let place: SessionPlace
    }

    package enum Presence: Sendable, Hashable {
        /// The owner is in the channel, and the ttl doesn't run.
        case here(SessionPlace)
        /// The owner is away. The lock is released at this time unless the owner comes back.
        case away(until: UInt64)
    }

    package struct Owner: Sendable, Hashable {
        package let user: String
        package var instance: UInt64
        var presence: Presence

        package init(user: String, instance: UInt64, presence: Presence) {
            (self.user, self.instance, self.presence) = (user, instance, presence)
        }
    }

    package struct Waiter: Sendable, Hashable {
        let claimant: Claimant
        let ticket: UInt64
    }

    package struct Lock: Sendable, Hashable {
        package let name: String
        package let ttlSeconds: UInt32
        package var owner: Owner?
        /// The fencing token of the latest acquisition; 0 before the first.
        package var token: UInt64 = 0
        var waiters: [Waiter] = []

        package init(
            name: String, ttlSeconds: UInt32, owner: Owner? = nil, token: UInt64 = 0, waiters: [Waiter] = []
        ) {
            self.name = name
            self.ttlSeconds = ttlSeconds
            self.owner = owner
            self.token = token
            self.waiters = waiters
        }

        var detail: LockDetail {
            LockDetail(name: name, owner: owner?.user ?? "", ttlSeconds: ttlSeconds, fencingToken: token)
        }

        var ttl: UInt64 { UInt64(ttlSeconds) * 1000 }
    }

    /// Limit: how many may wait for one lock.
    static let waitersMax = 10_000

    package var locks: [String: Lock] = [:]

    package init() {}

    /// All locks of the channel by name (K-10).
    var details: [LockDetail] { locks.values.map(\.detail).sorted { $0.name < $1.name } }

    /// Whether the table holds only what is stored, so that it may leave memory.
    var isIdle: Bool { locks.values.allSatisfy { $0.owner == nil && $0.waiters.isEmpty } }

    // MARK: What clients ask

    /// Creates a free lock (K-2). A channel has at most 32 locks (L-39). A ttl outside 10 to 300 seconds
    /// becomes the nearest bound (L-40).
    mutating func set(_ name: String, ttlSeconds: UInt32, _ step: inout LockStep) throws(RTMError) {
        guard locks[name] == nil else {
            throw RTMError(.lockAlreadyExist, "the lock \"\(name)\" exists already")
        }
        guard locks.count < Limits.locksMax else {
            throw RTMError(
                .lockOperationFailed, "the channel has \(locks.count) locks already",
                limit: .init(name: "locks per channel", value: UInt64(Limits.locksMax)))
        }
        let ttl = Limits.clamp(Int(ttlSeconds), to: Limits.lockTTL)
        let lock = Lock(name: name, ttlSeconds: UInt32(ttl))
        locks[name] = lock
        step.happened(.set, lock.detail)
    }

    /// Removes a lock, even while it is held (K-3). Its owner loses it, and the waiters get `.lockNotExist`
    /// (-14008).
    mutating func remove(_ name: String, _ step: inout LockStep) throws(RTMError) {
        var lock = try existing(name)
        locks[name] = nil
        for waiter in lock.waiters { step.settle(waiter, .failure(Self.missing(name))) }
        lock.owner = nil
        step.happened(.removed, lock.detail)
    }

    enum Acquisition: Sendable, Hashable {
        case acquired(token: UInt64)
        /// The caller waits; the answer comes later with the ticket.
        case waiting
    }

    /// Gives the lock to the caller if it is free. If another user has it, the caller waits in line with
    /// `retry` (K-4, K-5); a session that waits already gets `.lockOperationPerforming` (-14003, K-7).
    mutating func acquire(
        _ name: String, for claimant: Claimant, retry: Bool, ticket: UInt64, _ step: inout LockStep
    ) throws(RTMError) -> Acquisition {
        var lock = try existing(name)
        if let owner = lock.owner, owner.user == claimant.user {
            if owner.instance == claimant.instance {
                lock.owner?.presence = .here(claimant.place)
                locks[name] = lock
                return .acquired(token: lock.token)
            }
        } else if lock.owner != nil {
            guard retry else { throw RTMError(.lockAcquireFailed, "another user holds \"\(name)\"") }
            try line(up: Waiter(claimant: claimant, ticket: ticket), for: &lock, &step)
            locks[name] = lock
            return .waiting
        }
        give(&lock, to: claimant, &step)
        locks[name] = lock
        return .acquired(token: lock.token)
    }

    /// Puts a waiter at the end of the line. A user stands in a line once. In another session it keeps its
    /// place, because the session before has ended or is about to end.
    private func line(
        up waiter: Waiter, for lock: inout Lock, _ step: inout LockStep
    ) throws(RTMError) {
        let user = waiter.claimant.user
        if let place = lock.waiters.firstIndex(where: { $0.claimant.user == user }) {
            guard lock.waiters[place].claimant.place.session != waiter.claimant.place.session else {
                throw RTMError(.lockOperationPerforming, "this session already waits for \"\(lock.name)\"")
            }
            step.settle(lock.waiters[place], .failure(Self.sessionLeft))
            lock.waiters[place] = waiter
            return
        }
        guard lock.waiters.count < Self.waitersMax else {
            throw RTMError(
                .lockOperationFailed, "too many sessions wait for \"\(lock.name)\"",
                limit: .init(name: "waiters of a lock", value: UInt64(Self.waitersMax)))
        }
        lock.waiters.append(waiter)
    }

    static var sessionLeft: RTMError {
        RTMError(.lockOperationFailed, "the session left before its turn")
    }

    /// An owner that comes back keeps its token, or learns that it has lost the lock (K-12).
    mutating func reclaim(
        _ name: String, token: UInt64, for claimant: Claimant
    ) throws(RTMError) -> Acquisition {
        guard var lock = locks[name], lock.owner?.user == claimant.user, lock.token == token else {
            throw RTMError(.lockNotAcquired, "\"\(name)\" was released or removed meanwhile")
        }
        lock.owner = Owner(
            user: claimant.user, instance: claimant.instance, presence: .here(claimant.place))
        locks[name] = lock
        return .acquired(token: token)
    }

    /// Releases the lock if this user owns it (K-8).
    mutating func release(_ name: String, by user: String, _ step: inout LockStep) throws(RTMError) {
        var lock = try existing(name)
        guard lock.owner?.user == user else {
            throw RTMError(.lockNotAcquired, "this user doesn't own \"\(name)\"")
        }
        release(&lock, &step)
        locks[name] = lock
    }

    /// A caller that doesn't want the lock any more gives up its place in line, or the lock that it has got
    /// meanwhile. It need not know which of the two it has. A lock of another client object of the same user
    /// stays.
    mutating func withdraw(from name: String, _ claimant: Claimant, _ step: inout LockStep) {
        guard var lock = locks[name] else { return }
        let session = claimant.place.session
        if let place = lock.waiters.firstIndex(where: { $0.claimant.place.session == session }) {
            let waiter = lock.waiters.remove(at: place)
            step.settle(
                waiter, .failure(RTMError(.lockOperationFailed, "the session left the queue")))
        }
        if let owner = lock.owner, owner.user == claimant.user, owner.instance == claimant.instance {
            release(&lock, &step)
        }
        locks[name] = lock
    }

    /// Takes the lock from its owner if `owner` names the present owner (K-9).
    mutating func revoke(_ name: String, owner: String, _ step: inout LockStep) throws(RTMError) {
        var lock = try existing(name)
        guard let present = lock.owner?.user, present == owner else {
            throw RTMError(.lockNotAcquired, "that user doesn't own \"\(name)\"")
        }
        release(&lock, &step)
        locks[name] = lock
    }

    /// Checks that a write under this lock comes from the present owner (D-20).
    func checkOwner(_ name: String, user: String, token: UInt64) throws(RTMError) {
        guard let lock = locks[name], lock.owner?.user == user else {
            throw RTMError(.storageLockNotAcquired, "this user doesn't own the lock \"\(name)\"")
        }
        guard token == 0 || token == lock.token else {
            throw RTMError(
                .storageLockNotAcquired, "the lock \"\(name)\" was acquired again after this token was given")
        }
    }

    // MARK: Owners

    private func existing(_ name: String) throws(RTMError) -> Lock {
        guard let lock = locks[name] else { throw Self.missing(name) }
        return lock
    }

    private static func missing(_ name: String) -> RTMError {
        RTMError(.lockNotExist, "there is no lock \"\(name)\"")
    }

    private func give(_ lock: inout Lock, to claimant: Claimant, _ step: inout LockStep) {
        lock.owner = Owner(
            user: claimant.user, instance: claimant.instance, presence: .here(claimant.place))
        lock.token = step.nextToken()
        step.happened(.acquired, lock.detail)
    }

    /// Takes the lock from its owner and gives it to the first waiter in line.
    func release(_ lock: inout Lock, _ step: inout LockStep) {
        step.happened(.released, lock.detail)
        lock.owner = nil
        guard !lock.waiters.isEmpty else { return }
        let next = lock.waiters.removeFirst()
        give(&lock, to: next.claimant, &step)
        step.settle(next, .success(lock.token))
    }
}
