// Which locks this client holds, as far as it can know, and what has to be said about them when a lost
// connection is back.
//
// The server keeps a lock for its owner over a loss, for as long as the lock's time to live (K-11). So the
// owner comes back with the fencing token of each lock that it held and goes on with it, or learns that it
// lost it (K-12). The other way round, an answer that never arrived may have made this client the owner of a
// lock that nobody here wants any more: those are given back.

import RTMModel

struct LockLedger: Sendable {
    /// A lock that this client held when it lost its connection.
    struct Claim: Sendable, Hashable {
        var key: LockKey
        var token: UInt64
    }

    /// K-7: what is under way once at a time.
    private struct Performance: Sendable, Hashable {
        var operation: Operation
        var key: LockKey
    }

    private var held: [LockKey: UInt64] = [:]
    /// May belong to this client on the server, against its will.
    private var unwanted: Set<LockKey> = []
    private var performances: Set<Performance> = []
    /// Claims that the server has still to answer.
    private var claimed: Set<LockKey> = []
    /// Refused claims, until they are told.
    private var lost: [Claim] = []

    /// Acquisitions that may have taken place unheard, and releases that may not have: to be given back.
    var leftovers: [LockKey] { unwanted.sorted() }

    func token(of key: LockKey) -> UInt64? { held[key] }

    // MARK: Calls

    /// - Throws: -14003 while the same operation on the same lock is under way (K-7).
    mutating func begin(_ operation: Operation, _ key: LockKey) throws(RTMError) {
        guard performances.insert(Performance(operation: operation, key: key)).inserted else {
            throw RTMError(
                .lockOperationPerforming,
                "\(operation.rawValue) of lock '\(key.name)' in channel '\(key.channel)' is already under way"
            )
        }
    }

    mutating func end(_ operation: Operation, _ key: LockKey) {
        performances.remove(Performance(operation: operation, key: key))
    }

    mutating func acquired(_ key: LockKey, token: UInt64) {
        held[key] = token
        unwanted.remove(key)
    }

    /// The server says that this client doesn't have it.
    mutating func released(_ key: LockKey) {
        held[key] = nil
        unwanted.remove(key)
    }

    /// Nobody here wants the lock any more, and the server may think otherwise.
    mutating func letGo(_ key: LockKey) {
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

    /// After a login: what is to be claimed. What was claimed on an earlier connection and not answered is
    /// claimed again.
    mutating func beginClaims() -> [Claim] {
        claimed = Set(held.keys)
        return held.map { Claim(key: $0.key, token: $0.value) }.sorted { $0.key < $1.key }
    }

    mutating func confirmed(_ claim: Claim, token: UInt64) {
        guard claimed.remove(claim.key) != nil else { return }
        held[claim.key] = token
    }

    mutating func refused(_ claim: Claim) {
        guard claimed.remove(claim.key) != nil, held.removeValue(forKey: claim.key) != nil else { return }
        lost.append(claim)
    }

    /// The server can't say whose the lock is: it counts as held until somebody says otherwise.
    mutating func undecided(_ claim: Claim) { claimed.remove(claim.key) }

    /// Taking them is telling them.
    mutating func takeLost() -> [Claim] {
        defer { lost = [] }
        return lost.sorted { $0.key < $1.key }
    }

    // MARK: Events

    /// A lock of a channel is seen in a snapshot or an event: somebody may have taken it from this client.
    /// What is being claimed is left to the answer of the claim.
    mutating func observed(_ lock: LockDetail, _ kind: LockEvent.Kind, type: ChannelType, channel: String) {
        let key = LockKey(channelType: type, channel: channel, name: lock.name)
        guard let token = held[key], !claimed.contains(key) else { return }
        switch kind {
        case .released, .removed: if lock.fencingToken >= token { held[key] = nil }
        case .acquired, .snapshot: if lock.fencingToken > token { held[key] = nil }
        case .set, .expired: break
        }
    }
}
