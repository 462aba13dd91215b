import RTMTestSupport

@testable import RTMStorageServer

/// A database of the seed's making that several storage nodes share, as PostgreSQL is one: a transaction is
/// kept only in its term, a commit may be in doubt, and it may stay so while its transaction lives.
///
/// What it has committed is a `MemoryStore`. Whatever goes wrong is the seed's choice.
final class SimulatedDatabase {
    /// How long a lease is, in milliseconds.
    static let lease: UInt64 = 2_000

    let store = MemoryStore(source: 1)
    fileprivate var random: SeededGenerator
    fileprivate var term: UInt64 = 0
    fileprivate var owner: Int?
    private var leases: [Int: UInt64] = [:]
    /// A transaction whose `COMMIT` was sent and whose client is gone. It holds the row of the fence.
    private var living: GroupChanges?
    /// Whether anybody reaches it.
    private(set) var isUp = true
    /// Whether things go wrong at all.
    var isTroubled = true
    var now: UInt64 = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func renewLease(of node: Int) {
        if isUp { leases[node] = now + Self.lease }
    }

    fileprivate func isAlive(_ node: Int) -> Bool { (leases[node] ?? 0) > now }

    // MARK: What happens to it

    func goDown() { isUp = false }

    /// It answers again, itself or the standby that has taken its place. Commits wait for that standby, so it
    /// has all that was acknowledged; leases aren't waited for.
    func comeUp() {
        settle()
        isUp = true
        if random.chance(1, in: 2) { leases = [:] }
    }

    /// The transaction that lived ends, one way or the other.
    func settle() {
        guard let changes = living else { return }
        living = nil
        if random.chance(1, in: 2) { keep(changes) }
    }

    private func keep(_ changes: GroupChanges) {
        // The store itself is never in trouble here.
        _ = try? store.write(changes)
    }

    // MARK: What nodes do with it

    fileprivate func check() throws(StoreFailure) {
        guard isUp else { throw StoreFailure(kind: .unreachable, reason: "the server is gone") }
        guard living == nil else { throw StoreFailure(kind: .stalled, reason: "a commit is in doubt") }
    }

    /// A new term, if the shard is free or the node's own.
    fileprivate func take(_ node: Int) throws(StoreFailure) -> UInt64 {
        try check()
        if let owner, owner != node, isAlive(owner) {
            throw StoreFailure(kind: .fenced, reason: "another node has the store")
        }
        owner = node
        term += 1
        return term
    }

    fileprivate func confirm(term: UInt64) throws(StoreFailure) {
        guard isUp else { throw StoreFailure(kind: .unreachable, reason: "the server is gone") }
        guard term == self.term else {
            throw StoreFailure(kind: .fenced, reason: "another node has the store")
        }
    }

    fileprivate func commit(_ changes: GroupChanges, term: UInt64) throws(StoreFailure) -> GroupWritten {
        try confirm(term: term)
        guard isTroubled, random.chance(1, in: 4) else { return try store.write(changes) }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: keep(changes)
        case 1: living = changes
        default: break
        }
        throw StoreFailure(kind: .stalled, reason: "the answer to a commit is lost")
    }
}

/// The database as one node sees it.
final class SimulatedDatabaseNode: WritableStore {
    private let database: SimulatedDatabase
    private let node: Int
    private var term: UInt64 = 0
    private(set) var source: UInt64 = 0

    init(_ database: SimulatedDatabase, node: Int) {
        self.database = database
        self.node = node
    }

    func start() throws(StoreFailure) -> StoreStart {
        term = try database.take(node)
        source = database.random.next() >> 1
        var start = try database.store.start()
        start.term = term
        return start
    }

    func read(_ keys: GroupKeys) throws(StoreFailure) -> GroupState {
        guard database.isUp else { throw StoreFailure(kind: .unreachable, reason: "the server is gone") }
        return database.store.read(keys)
    }

    func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten {
        try database.commit(changes, term: term)
    }

    func confirm() throws(StoreFailure) { try database.confirm(term: term) }

    func prove() throws(StoreFailure) { try database.check() }

    func close() {}
}
