import NIOCore
import RTMModel
import RTMWire

/// Runs groups of writes. Of each group it collects the keys, reads the store once, lets the rules decide
/// about all calls in their order, writes the changes with their events in one transaction, and only then
/// answers.
///
/// A call that the rules refuse has changed nothing, so the other calls of its group continue. When the store
/// itself fails, the whole group fails, and memory goes back to what the store holds.
///
/// Where nobody can say whether a group was kept, or another node has written meanwhile, memory is worth
/// nothing any more. Then everything begins anew with what the store has, as after a start of the process:
/// lines of waiters have ended, and every owner of a lock is away.
struct StorageWriter<Store: WritableStore> {
    let store: Store
    var transaction: StorageTransaction
    /// While it doesn't know what the store has, memory is worth nothing.
    private(set) var tenure: ShardTenure
    /// Nil if the store has no inbox.
    var inboxPace: InboxPace?
    /// The message of the inbox that the store has refused to keep, though it was alone.
    var inboxRefused: Int64?

    /// Treats every owner of a lock as away from now on, because no session has been seen yet. Where another
    /// node has the store, everything begins with the first proof that succeeds.
    init(_ store: Store, rules: StorageRules, now: StorageNow) throws(StoreFailure) {
        self.store = store
        transaction = StorageTransaction(rules, now: now)
        inboxPace = store.hasInbox ? InboxPace(now: now.steady) : nil
        do throws(StoreFailure) {
            let start = try store.start()
            tenure = ShardTenure(hasOthers: start.term != nil)
            transaction.begin(with: start, source: store.source)
            // Whoever waits for a term learns it; others know that a new process has begun.
            if let term = start.term { tenure.began(term: term) }
        } catch {
            guard error.kind == .fenced else { throw error }
            tenure = ShardTenure(hasOthers: true)
        }
    }

    private mutating func begin() throws(StoreFailure) {
        let start = try store.start()
        transaction.begin(with: start, source: store.source)
        tenure.began(term: start.term)
    }

    /// Whether a ttl may have ended, or the shard has a change to learn.
    func isDue(_ now: StorageNow) -> Bool {
        !tenure.changes.isEmpty || transaction.registry.nextDeadline.map { $0 <= now.steady } ?? false
    }

    /// When `run` has something to do even without a write, on the steady clock.
    var nextDeadline: UInt64? { tenure.changes.isEmpty ? transaction.registry.nextDeadline : 0 }

    /// What to do between two groups.
    ///
    /// - Parameter isWanted: whether this node wants the store, or wants to keep it.
    mutating func nextStep(isWanted: Bool, now: StorageNow) -> ShardTenure.Step {
        tenure.nextStep(isWanted: isWanted, now: now.steady)
    }

    /// How many channels have locks that are held or waited for.
    var busyLockChannels: Int { transaction.registry.tableCount }

    mutating func run(_ group: [StorageWrite], now: StorageNow) -> WriteOutcome {
        transaction.now = now
        let due = transaction.registry.due(now: now.steady)
        do throws(StoreFailure) {
            if !tenure.isKnown { try begin() }
            try attempt(group, due)
        } catch {
            transaction.undo()
            if error.kind.endsKnowledge || !tenure.isKnown { return end(group, error) }
            // A write that can't be carried out at all must not make the others of its group fail.
            if error.kind == .refused, group.count > 1 { return run(group.map { [$0] }, due) }
            // Where no room is left, what may use the reserve must not fail with the rest.
            let rooms = Set(group.map(\.change.room))
            if error.kind == .full, rooms.count > 1 {
                return run(
                    rooms.sorted(by: >).map { room in group.filter { $0.change.room == room } }, due)
            }
            fail(group, error)
            transaction.registry.retry(due, at: now.steady + Self.retryMilliseconds)
        }
        transaction.registry.committed()
        return takeOutcome()
    }

    mutating func takeOutcome() -> WriteOutcome {
        defer { transaction.outcome = WriteOutcome() }
        transaction.outcome.tenure = tenure.takeChanges()
        return transaction.outcome
    }

    /// Forgets everything. Whoever waited for a lock learns of it by the end of the link, when the store has
    /// answered again.
    private mutating func end(_ group: [StorageWrite], _ failure: StoreFailure) -> WriteOutcome {
        forget(failure)
        fail(group, failure)
        return takeOutcome()
    }

    mutating func forget(_ failure: StoreFailure) {
        tenure.failed(failure.kind, now: transaction.now.steady)
        transaction.registry = LockRegistry()
    }

    private static var retryMilliseconds: UInt64 { 1_000 }

    private mutating func attempt(_ group: [StorageWrite], _ due: Set<ChannelKey>) throws(StoreFailure) {
        var keys = GroupKeys(
            now: transaction.now.wall, historyBytesMax: transaction.rules.quotas.historyBytes)
        for write in group { write.change.collect(&keys, transaction.registry) }
        transaction.group = StoreGroup(try store.read(keys))
        transaction.purges = []
        for channel in due { transaction.expire(channel) }
        for write in group {
            (transaction.link, transaction.request) = (write.link, write.request)
            if let answer = try write.change.run(&transaction) { transaction.answer(answer) }
        }
        var changes = transaction.group.changes
        // An empty group lets the locks of those who are gone go.
        changes.room = group.map(\.change.room).min() ?? .locks
        transaction.group = StoreGroup()
        guard !changes.isEmpty else {
            // The tables of busy locks lie in memory, and everything else was just read.
            if group.contains(where: \.change.dependsOnLocks) { try store.confirm() }
            return
        }
        transaction.written(changes, try store.write(changes))
    }

    /// Runs what has failed together in groups of their own.
    private mutating func run(_ groups: [[StorageWrite]], _ due: Set<ChannelKey>) -> WriteOutcome {
        transaction.registry.retry(due, at: transaction.now.steady)
        var all = WriteOutcome()
        for group in groups { all.append(run(group, now: transaction.now)) }
        return all
    }

    /// Gives the store up for another node. The group is refused: its calls have changed nothing.
    mutating func release(_ group: [StorageWrite]) -> WriteOutcome {
        store.release()
        tenure.released()
        return end(group, StoreFailure(kind: .fenced, reason: "the shard goes to another storage node"))
    }

    /// Tests whether the store can keep something again after it failed, and whether it can be had.
    mutating func prove(now: StorageNow) -> StoreFailure? {
        transaction.now = now
        do throws(StoreFailure) {
            if !tenure.isKnown { try begin() }
            try store.prove()
            return nil
        } catch {
            if error.kind.endsKnowledge || !tenure.isKnown { forget(error) }
            return error
        }
    }

    mutating func close() {
        tenure.stop()
        store.close()
    }

    private mutating func fail(_ group: [StorageWrite], _ failure: StoreFailure) {
        transaction.outcome.failure = failure
        for write in group {
            (transaction.link, transaction.request) = (write.link, write.request)
            write.change.failed(&transaction)
            transaction.answer(
                .failure(write.change.refusal(failure, bytesMax: transaction.rules.bytesMax)))
        }
    }
}
