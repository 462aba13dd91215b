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
    let rules: StorageRules
    /// The store as the present group sees it.
    var group = StoreGroup()
    var registry = LockRegistry()
    var outcome = WriteOutcome()
    private var expiryClock: ExpiryClock
    /// What the store has of the expiry clock.
    private var expiryClockStored: UInt64
    /// Whether memory is worth nothing until the store was asked again.
    private(set) var isOutdated = false
    /// Nil until the apps are known.
    var inboxRules: InboxRules?
    /// Nil if the store has no inbox.
    var inboxPace: InboxPace?
    /// The message of the inbox that the store has refused to keep, though it was alone.
    var inboxRefused: Int64?

    /// In which this node has the store; nil if it has no others beside it.
    private var term: UInt64?
    /// Why nothing has begun at the start; nil if it has.
    private(set) var awaited: StoreFailure?

    /// Treats every owner of a lock as away from now on, because no session has been seen yet. Where another
    /// node has the store, everything begins with the first proof that succeeds.
    init(_ store: Store, rules: StorageRules, now: StorageNow) throws(StoreFailure) {
        self.store = store
        self.rules = rules
        expiryClock = ExpiryClock(stored: nil, now: now)
        expiryClockStored = 0
        inboxPace = store.hasInbox ? InboxPace(now: now.steady) : nil
        do throws(StoreFailure) {
            let start = try store.start()
            take(start, now)
            // Whoever waits for a term learns it; others know that a new process has begun.
            outcome.hasBegunAnew = start.term != nil
        } catch {
            guard error.kind == .fenced else { throw error }
            (isOutdated, awaited) = (true, error)
        }
    }

    private mutating func take(_ start: StoreStart, _ now: StorageNow) {
        expiryClock = ExpiryClock(stored: start.expiryClock, now: now)
        expiryClockStored = start.expiryClock ?? 0
        for (channel, table) in start.locks { registry.set(loaded(table, now), of: channel) }
        registry.committed()
        (term, outcome.term) = (start.term, start.term)
    }

    private mutating func beginAnew(_ now: StorageNow) throws(StoreFailure) {
        let start = try store.start()
        isOutdated = false
        take(start, now)
        outcome.hasBegunAnew = true
    }

    /// Whether a ttl may have ended, or memory has begun anew and nobody has learned it yet.
    func isDue(_ now: StorageNow) -> Bool {
        outcome.hasBegunAnew || registry.nextDeadline.map { $0 <= now.steady } ?? false
    }

    /// When `run` has something to do even without a write, on the steady clock.
    var nextDeadline: UInt64? { outcome.hasBegunAnew ? 0 : registry.nextDeadline }

    /// How many channels have locks that are held or waited for.
    var busyLockChannels: Int { registry.tableCount }

    mutating func run(_ group: [StorageWrite], now: StorageNow) -> WriteOutcome {
        let due = registry.due(now: now.steady)
        do throws(StoreFailure) {
            if isOutdated { try beginAnew(now) }
            try attempt(group, due, now)
        } catch {
            undo()
            if error.kind.endsKnowledge || isOutdated { return end(group, error) }
            // A write that can't be carried out at all must not make the others of its group fail.
            if error.kind == .refused, group.count > 1 { return run(group.map { [$0] }, due, now) }
            // Where no room is left, what may use the reserve must not fail with the rest.
            let rooms = Set(group.map(\.room))
            if error.kind == .full, rooms.count > 1 {
                return run(
                    rooms.sorted(by: >).map { room in group.filter { $0.room == room } }, due, now)
            }
            fail(group, error)
            for write in group { keepPresence(write, now) }
            registry.retry(due, at: now.steady + Self.retryMilliseconds)
        }
        registry.committed()
        defer { outcome = WriteOutcome() }
        return outcome
    }

    /// Forgets everything. Whoever waited for a lock learns of it by the end of the link, when the store has
    /// answered again.
    private mutating func end(_ group: [StorageWrite], _ failure: StoreFailure) -> WriteOutcome {
        forget()
        fail(group, failure)
        defer { outcome = WriteOutcome() }
        return outcome
    }

    mutating func forget() {
        isOutdated = true
        registry = LockRegistry()
    }

    private static var retryMilliseconds: UInt64 { 1_000 }

    private mutating func attempt(
        _ group: [StorageWrite], _ due: Set<ChannelKey>, _ now: StorageNow
    ) throws(StoreFailure) {
        self.group = StoreGroup(try store.read(keys(of: group, now)))
        for channel in due { expire(channel, now) }
        for write in group { try carryOut(write, now) }
        let purges = group.filter { if case .purgeHistory = $0.work { true } else { false } }
        var changes = self.group.changes
        // An empty group lets the locks of those who are gone go.
        changes.room = group.map(\.room).min() ?? .locks
        self.group = StoreGroup()
        guard !changes.isEmpty else {
            // The tables of busy locks lie in memory, and everything else was just read.
            if group.contains(where: \.dependsOnLocks) { try store.confirm() }
            return
        }
        let written = try store.write(changes)
        outcome.events = changes.events
        outcome.eventsKept = changes.collected.events.count
        outcome.eventsExpired = written.eventsExpired
        for event in changes.collected.events { outcome.newEvents[event.key.appID] = event.offset }
        (outcome.expired, outcome.size) = (written.expired, written.size)
        for (write, count) in zip(purges, written.purged) {
            guard case .purgeHistory(let purge) = write.work else { continue }
            answer(write, .success(.purged(purge, count)))
        }
        if let time = changes.expiryClock { expiryClockStored = time }
    }

    /// What the calls of the group may need from the store.
    private func keys(of group: [StorageWrite], _ now: StorageNow) -> GroupKeys {
        var keys = GroupKeys(now: now.wall, historyBytesMax: rules.quotas.historyBytes)
        for write in group {
            switch write.work {
            case .metadata(let request, let channel):
                keys.sets.insert(channel)
                keys.apps.insert(channel.appID)
                if !request.lock.isEmpty, registry[channel] == nil { keys.locks.insert(channel) }
            case .lock(_, let channel, _):
                keys.apps.insert(channel.appID)
                if registry[channel] == nil { keys.locks.insert(channel) }
            case .history(let message):
                guard keys.historyBytesMax != nil else { continue }
                keys.apps.insert(message.channel.appID)
                keys.messages.append(message)
            case .ban(let ban): keys.bans.insert(BannedUser(ban))
            case .listBans: keys.listsBans = true
            case .claimReader(let request):
                keys.eventApps.insert(request.appID)
                keys.readers.insert(.init(appID: request.appID, name: request.name))
            case .collect(let feed):
                keys.eventApps.insert(feed.appID)
                feed.keys(&keys.eventKeys, &keys.eventMembers)
            case .settleEvents(let app, let time):
                keys.eventApps.insert(app)
                keys.settled[app] = time
            case .keepReader(let request):
                keys.readers.insert(.init(appID: request.appID, name: request.name))
            case .moveReader(let request):
                keys.eventApps.insert(request.appID)
                keys.readers.insert(.init(appID: request.appID, name: request.name))
            case .session, .linkLost, .announced, .removeExpiredHistory, .purgeHistory, .removeUnusedChannels,
                .removeEvents, .keepAudit, .inboxRules:
                break
            }
        }
        return keys
    }

    mutating func undo() {
        group = StoreGroup()
        registry.rolledBack()
        let (hasBegunAnew, term) = (outcome.hasBegunAnew, outcome.term)
        outcome = WriteOutcome()
        (outcome.hasBegunAnew, outcome.term) = (hasBegunAnew, term)
    }

    /// Runs what has failed together in groups of their own.
    private mutating func run(
        _ groups: [[StorageWrite]], _ due: Set<ChannelKey>, _ now: StorageNow
    ) -> WriteOutcome {
        registry.retry(due, at: now.steady)
        var all = WriteOutcome()
        for group in groups { all.append(run(group, now: now)) }
        return all
    }

    /// Whether what the store has is known, so that groups can be carried out.
    var hasBegun: Bool { !isOutdated }

    /// Gives the store up for another node. The group is refused: its calls have changed nothing.
    mutating func release(_ group: [StorageWrite]) -> WriteOutcome {
        store.release()
        outcome = WriteOutcome()
        outcome.hasReleased = true
        return end(group, StoreFailure(kind: .fenced, reason: "the shard goes to another storage node"))
    }

    /// Tests whether the store can keep something again after it failed.
    mutating func prove(now: StorageNow) -> StoreFailure? {
        do throws(StoreFailure) {
            if isOutdated { try beginAnew(now) }
            try store.prove()
            return nil
        } catch {
            if error.kind.endsKnowledge { forget() }
            return error
        }
    }

    func close() { store.close() }

    // MARK: One write

    /// Whether what was read in this term still counts. Where there are no terms it always does.
    private func isPresent(_ term: UInt64?) -> Bool { term == nil || term == self.term }

    private mutating func carryOut(_ write: StorageWrite, _ now: StorageNow) throws(StoreFailure) {
        switch write.work {
        case .metadata(let request, let channel): try change(request, of: channel, write, now)
        case .lock(let request, let channel, let ticket): try lock(request, channel, ticket, write, now)
        case .history(let message): try keep(message, write)
        case .session, .linkLost: keepPresence(write, now)
        case .announced(let sequences, let term):
            if isPresent(term) { group.announced(sequences) }
        case .removeExpiredHistory(let limit):
            group.removeExpired(by: expiryTime(now), limit: limit)
        case .purgeHistory(let purge): group.purge(purge)
        case .removeUnusedChannels(let limit): group.removeUnusedChannels(limit: limit)
        case .ban(let ban): self.ban(ban, write, now)
        case .listBans: listBans(now)
        case .keepAudit(let request):
            group.keep(request)
            answer(write, .success(.keptAudit))
        case .claimReader(let request): try claim(request, write, now)
        case .keepReader(let request): keep(request, write, now)
        case .moveReader(let request): move(request, write)
        case .collect(let feed):
            let isKept = group.collect(feed, now: now.wall)
            outcome.collected.append((.init(appID: feed.appID, shard: feed.shard), isKept))
        case .settleEvents(let app, let time): group.settle(app, upTo: time)
        case .removeEvents(let cutoffs, let limit):
            group.removeEvents(before: cutoffs, limit: limit, bytesMax: rules.quotas.eventBytes)
        case .inboxRules(let rules): inboxRules = rules
        }
    }

    private mutating func keep(_ message: StoredMessage, _ write: StorageWrite) throws(StoreFailure) {
        if rules.quotas.historyBytes != nil {
            let usage = try group.usage(of: message.channel.appID)
            if let refusal = usage.refusal(ofHistory: message.bytes, rules.quotas), !group.has(message) {
                return answer(write, .failure(refusal))
            }
        }
        group.append(message, countsBytes: rules.quotas.historyBytes != nil)
        answer(write, .success(.historyAppended))
    }

    /// A start after a crash may find the clock a minute back, which keeps messages a little longer.
    private static var expiryClockInterval: UInt64 { 60_000 }

    private mutating func expiryTime(_ now: StorageNow) -> UInt64 {
        let time = expiryClock.advance(to: now)
        if time >= expiryClockStored + Self.expiryClockInterval {
            group.save(expiryClock: time)
        }
        return time
    }

    mutating func answer(_ write: StorageWrite, _ result: Result<WriteOutcome.Answer, RTMError>) {
        guard let request = write.request else { return }
        outcome.answers.append(.init(link: write.link, request: request, result: result))
    }

    mutating func announce(
        _ event: some PublicationEvent, in channel: ChannelKey, by publisher: String,
        _ feature: SubscriptionFeatures
    ) {
        queue(event.eventField, in: channel, by: publisher, feature)
    }

    mutating func queue(
        _ event: ByteBuffer, in channel: ChannelKey, by publisher: String, _ feature: SubscriptionFeatures
    ) {
        group.counter += 1
        group.queue(
            StorageOutboxEvent(
                source: store.source, sequence: group.counter, channel: channel, publisher: publisher,
                feature: feature, event: Array(event.readableBytesView)))
    }

    private mutating func refuse(_ write: StorageWrite, _ failure: StoreFailure, _ code: ErrorCode) {
        answer(write, .failure(failure.error(code, bytesMax: rules.bytesMax)))
    }

    private mutating func fail(_ group: [StorageWrite], _ failure: StoreFailure) {
        outcome.failure = failure
        for write in group {
            switch write.work {
            case .metadata: refuse(write, failure, .storageNotAvailable)
            case .lock: refuse(write, failure, .lockOperationFailed)
            case .history, .purgeHistory: refuse(write, failure, .historyOperationFailed)
            case .ban, .claimReader, .keepReader, .moveReader, .keepAudit:
                refuse(write, failure, .storageNotAvailable)
            case .collect(let feed):
                outcome.collected.append((.init(appID: feed.appID, shard: feed.shard), false))
            case .announced(let sequences, let term):
                if isPresent(term) { outcome.notAnnounced += sequences }
            case .session, .linkLost, .removeExpiredHistory, .removeUnusedChannels, .listBans, .settleEvents,
                .removeEvents:
                break
            case .inboxRules(let rules): inboxRules = rules
            }
        }
    }
}

// MARK: - Metadata

extension StorageWriter {
    /// Counts what an app has, and refuses what its quota doesn't allow (L-42).
    mutating func count(
        _ changes: [(kind: AppUsage.Kind, before: Int, after: Int)], of app: String
    ) throws(StoreFailure) -> RTMError? {
        let changed = changes.filter { $0.before != $0.after }
        guard !changed.isEmpty else { return nil }
        let usage = try group.usage(of: app)
        var difference = AppUsage()
        do throws(RTMError) {
            for (kind, before, after) in changed {
                difference.add(try usage.difference(after - before, kind, rules.quotas))
            }
        } catch {
            return error
        }
        group.add(difference, of: app)
        return nil
    }

    private mutating func change(
        _ request: WriteMetadata, of channel: ChannelKey, _ write: StorageWrite, _ now: StorageNow
    ) throws(StoreFailure) {
        let before = try group.metadata(of: channel)
        var set = before
        let locks = request.lock.isEmpty ? nil : try table(of: channel, now)
        let user = write.caller?.userID ?? ""
        let change: MetadataSet.Change
        do throws(RTMError) {
            try locks?.checkOwner(request.lock, user: user, token: request.fencingToken)
            change = try set.apply(request, by: user, limits: rules.metadata, now: now.wall)
        } catch {
            return answer(write, .failure(error))
        }
        if let refusal = try count(
            [
                (
                    channel.type == .none ? .userSets : .channelSets, before.entries.isEmpty ? 0 : 1,
                    set.entries.isEmpty ? 0 : 1
                ), (.metadataBytes, before.storedBytes, set.storedBytes),
            ], of: channel.appID)
        {
            return answer(write, .failure(refusal))
        }
        group.save(change, to: set, of: channel)
        announce(
            StorageEvent(majorRevision: set.majorRevision, items: set.items), in: channel, by: user,
            .metadata)
        let written = MetadataWritten(majorRevision: set.majorRevision)
        answer(write, .success(.call(written.field)))
    }
}

extension WriteOutcome {
    fileprivate mutating func append(_ other: WriteOutcome) {
        answers += other.answers
        settled += other.settled
        events += other.events
        bans += other.bans
        collected += other.collected
        notAnnounced += other.notAnnounced
        newEvents.merge(other.newEvents) { $1 }
        eventsKept += other.eventsKept
        eventsExpired = other.eventsExpired ?? eventsExpired
        expired = other.expired ?? expired
        size = other.size ?? size
        failure = other.failure ?? failure
        hasBegunAnew = hasBegunAnew || other.hasBegunAnew
        term = other.term ?? term
    }
}
