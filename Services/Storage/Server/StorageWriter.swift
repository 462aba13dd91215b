import NIOCore
import RTMModel
import RTMWire

/// Runs groups of writes, each group in one transaction: read what there is, have the rules decide, keep the
/// outcome and its event, commit, and only then answer.
///
/// A call that the rules refuse has changed nothing, so the others of its group go on. When the store itself
/// fails, the whole group fails, and memory is brought back to what the store holds.
struct StorageWriter<Store: WritableStore> {
    private let store: Store
    private let rules: StorageRules
    private var registry = LockRegistry()
    private var outcome = WriteOutcome()

    /// Takes every owner of a lock as away since now: none of them has been seen.
    init(_ store: Store, rules: StorageRules, now: StorageNow) throws(StoreFailure) {
        self.store = store
        self.rules = rules
        for channel in try store.channelsWithLockOwners() {
            registry.set(try loaded(channel, now), of: channel)
        }
        registry.committed()
    }

    /// Whether a ttl may have ended.
    func isDue(_ now: StorageNow) -> Bool { registry.nextDeadline.map { $0 <= now.steady } ?? false }

    /// When `run` has something to do even without a write; of the steady clock.
    var nextDeadline: UInt64? { registry.nextDeadline }

    /// Channels whose locks are held or waited for.
    var busyLockChannels: Int { registry.tableCount }

    mutating func run(_ group: [StorageWrite], now: StorageNow) -> WriteOutcome {
        let due = registry.due(now: now.steady)
        do throws(StoreFailure) {
            try attempt(group, due, now)
        } catch {
            undo()
            // What can't be carried out at all must not take others down with it.
            if error.kind == .refused, group.count > 1 { return runSingly(group, due, now) }
            fail(group, error)
            for write in group { keepPresence(write, now) }
            registry.retry(due, at: now.steady + Self.retryMilliseconds)
        }
        registry.committed()
        defer { outcome = WriteOutcome() }
        return outcome
    }

    private static var retryMilliseconds: UInt64 { 1_000 }

    private mutating func attempt(
        _ group: [StorageWrite], _ due: Set<ChannelKey>, _ now: StorageNow
    ) throws(StoreFailure) {
        try store.begin()
        for channel in due { try expire(channel, now) }
        for write in group { try carryOut(write, now) }
        try store.commit()
    }

    private mutating func undo() {
        store.rollBack()
        registry.rolledBack()
        outcome = WriteOutcome()
    }

    private mutating func runSingly(
        _ group: [StorageWrite], _ due: Set<ChannelKey>, _ now: StorageNow
    ) -> WriteOutcome {
        registry.retry(due, at: now.steady)
        var all = WriteOutcome()
        for write in group { all.append(run([write], now: now)) }
        return all
    }

    /// Whether the store can keep something, for a time when it could not.
    mutating func prove() -> StoreFailure? {
        do throws(StoreFailure) {
            try store.prove()
            return nil
        } catch {
            store.rollBack()
            return error
        }
    }

    func close() { store.close() }

    // MARK: One write

    private mutating func carryOut(_ write: StorageWrite, _ now: StorageNow) throws(StoreFailure) {
        switch write.work {
        case .metadata(let request, let channel): try change(request, of: channel, write, now)
        case .lock(let request, let channel, let ticket): try lock(request, channel, ticket, write, now)
        case .history(let message):
            try store.append(message)
            answer(write, .success(.historyAppended))
        case .session, .linkLost: keepPresence(write, now)
        case .announced(let sequences): try store.removeEvents(sequences)
        case .removeExpiredHistory(let limit):
            outcome.expired = try store.removeExpired(by: now.wall, limit: limit)
        }
    }

    private mutating func answer(_ write: StorageWrite, _ result: Result<WriteOutcome.Answer, RTMError>) {
        guard let request = write.request else { return }
        outcome.answers.append(.init(link: write.link, request: request, result: result))
    }

    private mutating func announce(
        _ event: some PublicationEvent, in channel: ChannelKey, by publisher: String,
        _ feature: SubscriptionFeatures
    ) throws(StoreFailure) {
        store.counter += 1
        let event = OutboxEvent(
            source: store.source, sequence: store.counter, channel: channel, publisher: publisher,
            feature: feature, event: Array(event.eventField.readableBytesView))
        try store.queue(event)
        outcome.events.append(event)
    }

    private mutating func fail(_ group: [StorageWrite], _ failure: StoreFailure) {
        outcome.failure = failure
        for write in group {
            switch write.work {
            case .metadata: answer(write, .failure(failure.error(.storageNotAvailable)))
            case .lock: answer(write, .failure(failure.error(.lockOperationFailed)))
            case .history: answer(write, .failure(failure.error(.historyOperationFailed)))
            case .session, .linkLost, .announced, .removeExpiredHistory: break
            }
        }
    }
}

// MARK: - Metadata

extension StorageWriter {
    private mutating func change(
        _ request: WriteMetadata, of channel: ChannelKey, _ write: StorageWrite, _ now: StorageNow
    ) throws(StoreFailure) {
        var set = try store.metadata(of: channel)
        let locks = request.lock.isEmpty ? nil : try table(of: channel, now)
        let user = write.caller?.userID ?? ""
        let change: MetadataSet.Change
        do throws(RTMError) {
            try locks?.checkOwner(request.lock, user: user, token: request.fencingToken)
            change = try set.apply(request, by: user, limits: rules.metadata, now: now.wall)
        } catch {
            return answer(write, .failure(error))
        }
        try store.save(change, to: set, of: channel)
        try announce(
            StorageEvent(majorRevision: set.majorRevision, items: set.items), in: channel, by: user,
            .metadata)
        let written = MetadataWritten(majorRevision: set.majorRevision)
        answer(write, .success(.call(written.field)))
    }
}

// MARK: - Locks

extension StorageWriter {
    private func loaded(_ channel: ChannelKey, _ now: StorageNow) throws(StoreFailure) -> LockTable {
        var table = try store.locks(of: channel)
        table.suppose(everybodyAwaySince: now.steady + rules.lockGraceMilliseconds)
        return table
    }

    private func table(of channel: ChannelKey, _ now: StorageNow) throws(StoreFailure) -> LockTable {
        if let present = registry[channel] { return present }
        return try loaded(channel, now)
    }

    private mutating func lock(
        _ request: LockRequest, _ channel: ChannelKey, _ ticket: UInt64, _ write: StorageWrite,
        _ now: StorageNow
    ) throws(StoreFailure) {
        guard let caller = write.caller else { return }
        let before = try table(of: channel, now)
        var after = before
        var step = LockStep(counter: store.counter)
        let claimant = LockTable.Claimant(
            user: caller.userID, instance: caller.instance,
            place: .init(session: caller.session, link: write.link))
        do throws(RTMError) {
            let result = try after.carryOut(request, for: claimant, ticket: ticket, &step)
            answer(write, .success(result))
        } catch {
            return answer(write, .failure(error))
        }
        registry.note(claimant.place, in: channel)
        try keep(after, insteadOf: before, of: channel, by: caller.userID, step)
    }

    private mutating func expire(_ channel: ChannelKey, _ now: StorageNow) throws(StoreFailure) {
        guard let before = registry[channel] else { return }
        var after = before
        var step = LockStep(counter: store.counter)
        after.expire(now: now.steady, &step)
        try keep(after, insteadOf: before, of: channel, by: nil, step)
    }

    /// - Parameter actor: nil: nobody did it, and the events name the owner they are about.
    private mutating func keep(
        _ after: LockTable, insteadOf before: LockTable, of channel: ChannelKey, by actor: String?,
        _ step: LockStep
    ) throws(StoreFailure) {
        store.counter = step.counter
        for (name, lock) in after.locks where !lock.isStored(as: before.locks[name]) {
            try store.save(lock, of: channel)
        }
        for name in before.locks.keys where after.locks[name] == nil {
            try store.removeLock(name, of: channel)
        }
        for event in step.events {
            // Whoever comes up in line has not asked just now.
            let publisher = event.kind == .acquired ? event.lock.owner : actor ?? event.lock.owner
            try announce(event, in: channel, by: publisher, .lock)
        }
        outcome.settled += step.settled
        registry.set(after, of: channel)
    }

    /// Who is there and who isn't is known to memory alone, so it holds whether a transaction does or not.
    private mutating func keepPresence(_ write: StorageWrite, _ now: StorageNow) {
        switch write.work {
        case .session(let push): keepPresence(push, on: write.link, now)
        case .linkLost:
            let grace = rules.lockGraceMilliseconds
            for channel in registry.channels(of: write.link) {
                presence(in: channel) { table, step in
                    table.lostLink(write.link, grace: grace, now: now.steady, &step)
                }
            }
            registry.forget(link: write.link)
        default: break
        }
    }

    private mutating func keepPresence(_ push: SessionPush, on link: UInt64, _ now: StorageNow) {
        let session = push.caller.session
        switch push.change {
        case .ended:
            for channel in registry.channels(of: session) {
                presence(in: channel) { table, step in table.left(session, now: now.steady, &step) }
            }
            registry.forget(.init(session: session, link: link))
        case .left:
            guard let channel = push.channel else { return }
            presence(in: channel) { table, step in table.left(session, now: now.steady, &step) }
        case .entered:
            let place = LockTable.SessionPlace(session: session, link: link)
            let channels = push.channel.map { [$0] } ?? Array(registry.channels(of: session))
            for channel in channels where registry[channel] != nil {
                registry.note(place, in: channel)
                presence(in: channel) { table, _ in table.entered(push.caller.userID, place) }
            }
        }
    }

    private mutating func presence(
        in channel: ChannelKey, _ change: (inout LockTable, inout LockStep) -> Void
    ) {
        guard var table = registry[channel] else { return }
        // No event comes of it, so nothing is numbered.
        var step = LockStep(counter: store.counter)
        change(&table, &step)
        outcome.settled += step.settled
        registry.set(table, of: channel)
    }
}

extension LockTable {
    fileprivate mutating func carryOut(
        _ request: LockRequest, for claimant: Claimant, ticket: UInt64, _ step: inout LockStep
    ) throws(RTMError) -> WriteOutcome.Answer {
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
            case .waiting: return .waiting(ticket: ticket)
            case .acquired(let token):
                return .call(LockAcquired(fencingToken: token).field)
            }
        }
        return .call(Done().field)
    }
}

extension LockTable.Lock {
    /// Whether the store has nothing to learn.
    fileprivate func isStored(as stored: Self?) -> Bool {
        guard let stored else { return false }
        return owner?.user == stored.owner?.user && owner?.instance == stored.owner?.instance
            && token == stored.token && ttlSeconds == stored.ttlSeconds
    }
}

extension WriteOutcome {
    fileprivate mutating func append(_ other: WriteOutcome) {
        answers += other.answers
        settled += other.settled
        events += other.events
        expired = other.expired ?? expired
        failure = other.failure ?? failure
    }
}
