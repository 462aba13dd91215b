import RTMModel
import RTMWire

/// Writes that concern locks, and what happens to locks when sessions come and go.
extension StorageWriter {
    func table(of channel: ChannelKey, _ now: StorageNow) throws(StoreFailure) -> LockTable {
        if let present = registry[channel] { return present }
        return loaded(try group.storedLocks(of: channel), now)
    }

    /// A table that comes from the store, where nobody is present.
    func loaded(_ stored: LockTable, _ now: StorageNow) -> LockTable {
        var table = stored
        table.suppose(everybodyAwaySince: now.steady + rules.lockGraceMilliseconds)
        return table
    }

    mutating func lock(
        _ request: LockRequest, _ channel: ChannelKey, _ ticket: UInt64, _ write: StorageWrite,
        _ now: StorageNow
    ) throws(StoreFailure) {
        guard let caller = write.caller else { return }
        let before = try table(of: channel, now)
        var after = before
        var step = LockStep(counter: group.counter)
        let claimant = LockTable.Claimant(
            user: caller.userID, instance: caller.instance,
            place: .init(session: caller.session, link: write.link))
        let result: WriteOutcome.Answer
        do throws(RTMError) {
            result = try after.carryOut(request, for: claimant, ticket: ticket, &step)
        } catch {
            return answer(write, .failure(error))
        }
        let refusal = try count(
            [(.locks, before.locks.count, after.locks.count)], of: channel.appID)
        if let refusal { return answer(write, .failure(refusal)) }
        answer(write, .success(result))
        // Only sessions that acquire locks are remembered: the end of another session has no effect on locks,
        // and no edge would report it.
        if case .acquire = request.action { registry.note(claimant.place, in: channel) }
        keep(after, insteadOf: before, of: channel, by: caller.userID, step)
        registry.mayForget(claimant.place, in: channel)
    }

    mutating func expire(_ channel: ChannelKey, _ now: StorageNow) {
        guard let before = registry[channel] else { return }
        var after = before
        var step = LockStep(counter: group.counter)
        after.expire(now: now.steady, &step)
        keep(after, insteadOf: before, of: channel, by: nil, step)
    }

    /// - Parameter actor: the user who did it. If nil, nobody did, and each event names the owner it is
    ///   about.
    private mutating func keep(
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

    /// Only memory knows which sessions are present, so this change lasts even if the transaction fails.
    mutating func keepPresence(_ write: StorageWrite, _ now: StorageNow) {
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
    /// Whether the store holds this lock already as it is.
    fileprivate func isStored(as stored: Self?) -> Bool {
        guard let stored else { return false }
        return owner?.user == stored.owner?.user && owner?.instance == stored.owner?.instance
            && token == stored.token && ttlSeconds == stored.ttlSeconds
    }
}
