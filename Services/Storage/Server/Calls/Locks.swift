import RTMModel
import RTMWire

/// Sets, removes, acquires, releases or revokes a lock.
struct LockChange: StorageChange {
    static let failureCode = ErrorCode.lockOperationFailed

    let request: LockRequest
    let channel: ChannelKey
    /// The number under which the caller waits for the lock, if it has to.
    let ticket: UInt64
    let caller: Caller

    init(_ request: LockRequest, of channel: ChannelKey, ticket: UInt64, by caller: Caller) {
        (self.request, self.channel, self.ticket, self.caller) = (request, channel, ticket, caller)
    }

    var room: StorageRoom { .locks }
    var dependsOnLocks: Bool { true }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        keys.apps.insert(channel.appID)
        if registry[channel] == nil { keys.locks.insert(channel) }
    }

    func apply(
        _ transaction: inout StorageTransaction
    ) throws(StoreFailure) -> Result<ClientAnswer, RTMError>? {
        let before = try transaction.table(of: channel)
        var after = before
        var step = LockStep(counter: transaction.group.counter)
        let claimant = LockTable.Claimant(
            user: caller.userID, instance: caller.instance,
            place: .init(session: caller.session, link: transaction.link))
        let answer: ClientAnswer
        do throws(RTMError) {
            answer = try after.carryOut(request, for: claimant, ticket: ticket, &step)
        } catch {
            return .failure(error)
        }
        let counts = [(kind: AppUsage.Kind.locks, before: before.locks.count, after: after.locks.count)]
        if let refusal = try transaction.count(counts, of: channel.appID) { return .failure(refusal) }
        // Only sessions that acquire locks are remembered: the end of another session has no effect on locks,
        // and no edge would report it.
        if case .acquire = request.action { transaction.registry.note(claimant.place, in: channel) }
        transaction.keep(after, insteadOf: before, of: channel, by: caller.userID, step)
        transaction.registry.mayForget(claimant.place, in: channel)
        return .success(answer)
    }
}

/// A session has ended, or has left or entered a channel. Only memory knows which sessions are present, so
/// this lasts even if the group fails.
extension SessionPush: StorageChange {
    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.keepPresence(self)
        return nil
    }

    func failed(_ transaction: inout StorageTransaction) { transaction.keepPresence(self) }
}

/// An edge can't be reached any more. This lasts as well.
struct LostLink: StorageChange {
    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.keepAbsence()
        return nil
    }

    func failed(_ transaction: inout StorageTransaction) { transaction.keepAbsence() }
}

/// Asks for the locks of a channel.
struct LocksQuery: StorageQuery {
    static let failureCode = ErrorCode.lockOperationFailed

    let channel: ChannelKey

    var appID: String { channel.appID }
    var answerBytesMax: Int { 16 * 1024 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ClientAnswer {
        ClientAnswer(try store.locksAnswer(channel))
    }
}

extension ReadableStore {
    /// The revision is the store's counter. It is at least as high as the last change of a lock of this
    /// channel, and lower than the next one.
    func locksAnswer(_ channel: ChannelKey) throws(StoreFailure) -> Locks {
        Locks(channel, revision: try committedCounter(), locks: try locks(of: channel).details)
    }
}

// MARK: - Lock tables in a transaction

extension StorageTransaction {
    func table(of channel: ChannelKey) throws(StoreFailure) -> LockTable {
        if let present = registry[channel] { return present }
        return loaded(try group.storedLocks(of: channel))
    }

    /// A table that comes from the store, where nobody is present.
    func loaded(_ stored: LockTable) -> LockTable {
        var table = stored
        table.suppose(everybodyAwaySince: now.steady + rules.lockGraceMilliseconds)
        return table
    }

    mutating func expire(_ channel: ChannelKey) {
        guard let before = registry[channel] else { return }
        var after = before
        var step = LockStep(counter: group.counter)
        after.expire(now: now.steady, &step)
        keep(after, insteadOf: before, of: channel, by: nil, step)
    }

    /// - Parameter actor: the user who did it. If nil, nobody did, and each event names the owner it is
    ///   about.
    fileprivate mutating func keep(
        _ after: LockTable, insteadOf before: LockTable, of channel: ChannelKey, by actor: String?,
        _ step: LockStep
    ) {
        group.counter = step.counter
        for (name, lock) in after.locks where !lock.isStored(as: before.locks[name]) {
            group.save(lock, of: channel)
        }
        for name in before.locks.keys where after.locks[name] == nil {
            group.removeLock(name, of: channel)
        }
        for event in step.events {
            // A waiter who gets the lock has not asked for it just now, so the event names the waiter and not
            // the actor.
            let publisher = event.kind == .acquired ? event.lock.owner : actor ?? event.lock.owner
            announce(event, in: channel, by: publisher, .lock)
        }
        outcome.settled += step.settled
        registry.set(after, of: channel)
        for place in before.ownersHere { registry.mayForget(place, in: channel) }
        for (name, lock) in before.locks where after.locks[name] == nil {
            for waiter in lock.waiters { registry.mayForget(waiter.claimant.place, in: channel) }
        }
    }

    fileprivate mutating func keepPresence(_ push: SessionPush) {
        let (session, now) = (push.caller.session, now.steady)
        switch push.change {
        case .ended:
            for channel in registry.channels(of: session) {
                presence(in: channel) { table, step in table.left(session, now: now, &step) }
            }
            registry.forget(.init(session: session, link: link))
        case .left:
            guard let channel = push.channel else { return }
            presence(in: channel) { table, step in table.left(session, now: now, &step) }
            registry.mayForget(.init(session: session, link: link), in: channel)
        case .entered:
            let place = LockTable.SessionPlace(session: session, link: link)
            let channels = push.channel.map { [$0] } ?? Array(registry.channels(of: session))
            for channel in channels where registry[channel] != nil {
                registry.note(place, in: channel)
                presence(in: channel) { table, _ in table.entered(push.caller.userID, place) }
            }
        }
    }

    fileprivate mutating func keepAbsence() {
        let (link, grace, now) = (link, rules.lockGraceMilliseconds, now.steady)
        for channel in registry.channels(of: link) {
            presence(in: channel) { table, step in table.lostLink(link, grace: grace, now: now, &step) }
        }
        registry.forget(link: link)
    }

    private mutating func presence(
        in channel: ChannelKey, _ change: (inout LockTable, inout LockStep) -> Void
    ) {
        guard var table = registry[channel] else { return }
        // No event comes of it, so nothing is numbered.
        var step = LockStep(counter: group.counter)
        change(&table, &step)
        outcome.settled += step.settled
        registry.set(table, of: channel)
    }
}

extension LockTable {
    fileprivate mutating func carryOut(
        _ request: LockRequest, for claimant: Claimant, ticket: UInt64, _ step: inout LockStep
    ) throws(RTMError) -> ClientAnswer {
        switch request.action {
        case .set(let ttlSeconds): try set(request.name, ttlSeconds: ttlSeconds, &step)
        case .remove: try remove(request.name, &step)
        case .release(withdraw: false): try release(request.name, by: claimant.user, &step)
        case .release(withdraw: true): withdraw(from: request.name, claimant, &step)
        case .revoke(let owner): try revoke(request.name, owner: owner, &step)
        case .acquire(let retry, let heldToken):
            let acquisition =
                heldToken == 0
                ? try acquire(request.name, for: claimant, retry: retry, ticket: ticket, &step)
                : try reclaim(request.name, token: heldToken, for: claimant)
            switch acquisition {
            case .waiting: return ClientAnswer(ticket: ticket)
            case .acquired(let token):
                return ClientAnswer(LockAcquired(fencingToken: token))
            }
        }
        return ClientAnswer(Done())
    }
}

extension LockTable.Lock {
    /// Whether the store holds this lock already as it is.
    fileprivate func isStored(as stored: Self?) -> Bool {
        guard let stored else { return false }
        return owner?.user == stored.owner?.user && owner?.instance == stored.owner?.instance
            && token == stored.token && ttlSeconds == stored.ttlSeconds
    }
}
