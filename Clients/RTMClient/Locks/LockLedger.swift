// Knows which locks this client holds, as far as it can know that, and what it has to say about them when a
// lost connection is back.
//
// The server keeps a lock for its owner over a loss, for as long as the lock's time to live (K-11). The owner
// comes back with the fencing token of each lock that it owned and keeps it, or learns that it lost it
// (K-12). The other way round, an answer that never arrived may have made this client the owner of a lock
// that it doesn't want any more. Such locks are released.

import RTMModel

struct LockLedger: Sendable {
    /// A lock that this client held when it lost its connection.
    struct Claim: Sendable, Hashable {
        var key: LockKey
        var token: UInt64
        /// The lock's time to live, as far as the client knows it.
        var ttl: Duration?
    }

    /// Limit: locks whose times to live are remembered. A channel has at most 32 locks (L-39).
    private static let ttlsMax = 4096

    /// An operation on a lock, which may be under way only once at a time (K-7).
    private struct Performance: Sendable, Hashable {
        var operation: Operation
        var key: LockKey
    }

    private var held: [LockKey: UInt64] = [:]
    /// Locks that may belong to this client on the server although nobody here wants them.
    private var unwanted: Set<LockKey> = []
    /// What snapshots, events and the app's own calls have said about locks.
    private var ttls: [LockKey: Duration] = [:]
    private var performances: Set<Performance> = []
    /// Claims that the server has still to answer.
    private var claimed: Set<LockKey> = []
    /// Refused claims that have not been reported to the app yet.
    private var lost: [Claim] = []

    /// Locks that are to be released: the answer to an acquisition was lost, or a release may not have
    /// happened.
    var leftovers: [LockKey] { unwanted.sorted() }

    func token(of key: LockKey) -> UInt64? { held[key] }

    // MARK: Calls

    /// - Throws: `.lockOperationPerforming` (-14003) while the same operation on the same lock is under way
    ///   (K-7).
    mutating func begin(_ operation: Operation, _ key: LockKey) throws(RTMError) {
        guard performances.insert(Performance(operation: operation, key: key)).inserted else {
            throw RTMError(
                .lockOperationPerforming,
                "\(operation.rawValue) of lock '\(key.name)' in channel '\(key.channel.name)' is already "
                    + "under way")
        }
    }

    mutating func end(_ operation: Operation, _ key: LockKey) {
        performances.remove(Performance(operation: operation, key: key))
    }

    mutating func acquired(_ key: LockKey, token: UInt64) {
        held[key] = token
        unwanted.remove(key)
    }

    /// The server says that this client doesn't have the lock.
    mutating func released(_ key: LockKey) {
        held[key] = nil
        unwanted.remove(key)
    }

    /// Nobody here wants the lock any more, and the server may think otherwise.
    mutating func disown(_ key: LockKey) {
        held[key] = nil
        unwanted.insert(key)
    }

    /// Whether an acquisition that nobody waited for is of use nevertheless.
    func isWanted(_ key: LockKey) -> Bool {
        held[key] != nil || performances.contains(Performance(operation: .acquireLock, key: key))
    }

    /// The session is over, and with it what a reconnect would restore.
    mutating func removeAll() { self = LockLedger() }

    // MARK: Coming back

    /// The client is logged in again.
    ///
    /// - Returns: what is to be claimed. What was claimed on an earlier connection without an answer is
    ///   claimed again.
    mutating func beginClaims() -> [Claim] {
        claimed = Set(held.keys)
        return held.map { Claim(key: $0.key, token: $0.value, ttl: ttls[$0.key]) }
            .sorted { $0.key < $1.key }
    }

    mutating func confirmed(_ claim: Claim, token: UInt64) {
        guard claimed.remove(claim.key) != nil else { return }
        held[claim.key] = token
    }

    mutating func refused(_ claim: Claim) {
        guard claimed.remove(claim.key) != nil, held.removeValue(forKey: claim.key) != nil else { return }
        lost.append(claim)
    }

    /// The server can't say whose the lock is. It counts as held until somebody says otherwise.
    mutating func undecided(_ claim: Claim) { claimed.remove(claim.key) }

    /// Takes the locks that were lost. The caller reports them to the app.
    mutating func takeLost() -> [Claim] {
        defer { lost = [] }
        return lost.sorted { $0.key < $1.key }
    }

    // MARK: Events

    /// The lock lives on for so long when its owner is gone; `nil` if there is no such lock any more.
    mutating func remember(_ ttl: Duration?, of key: LockKey) {
        if ttl == nil || ttls[key] != nil || ttls.count < Self.ttlsMax { ttls[key] = ttl }
    }

    /// A snapshot or an event shows a lock of a channel. Somebody may have taken it from this client. A lock
    /// that is being claimed is left to the answer to the claim.
    mutating func observed(_ lock: LockDetail, _ kind: LockEvent.Kind, in channel: ChannelID) {
        let key = LockKey(channel: channel, name: lock.name)
        remember(kind == .removed ? nil : lock.ttl, of: key)
        guard let token = held[key], !claimed.contains(key) else { return }
        switch kind {
        case .released, .removed: if lock.fencingToken >= token { held[key] = nil }
        case .acquired, .snapshot: if lock.fencingToken > token { held[key] = nil }
        case .set, .expired: break
        }
    }
}
