import OrderedCollections
import RTMModel
import RTMWire

@testable import RTMStorageServer

/// Another engine, which keeps everything in dictionaries. The rules must do the same over it as over SQLite.
final class MemoryStore {
    private struct State {
        var counter: UInt64 = 0
        var sets: [ChannelKey: MetadataSet] = [:]
        var locks: [ChannelKey: [String: LockTable.Lock]] = [:]
        var messages: [ChannelKey: [UInt64: StoredMessage]] = [:]
        var usages: [String: AppUsage] = [:]
        var events: [StorageOutboxEvent] = []
        var expiryClock: UInt64?
        var bans: [BannedUser: Ban] = [:]
        var readers: [EventReaderKey: EventReaderState] = [:]
        var letters: [EventReaderKey: [DeadLetter]] = [:]
        var audit: [String: [AuditLine]] = [:]
        var droppedLetters: [EventReaderKey: Int] = [:]
    }

    /// What goes wrong with a write.
    enum Trouble {
        /// Nobody can say whether it was kept.
        case doubt(isKept: Bool)
        /// Another node has taken the store, and has it for so many starts.
        case fence(starts: Int)
    }

    let source: UInt64
    private var state = State()
    /// Of the next write.
    var trouble: Trouble?
    var startsOfOthers: Int
    /// The last term; nil where no other node can have the store.
    private var term: UInt64?

    /// - Parameters:
    ///   - startsOfOthers: for how many starts another node has the store.
    ///   - term: the term before the first one here; nil where no other node can have the store.
    init(source: UInt64, startsOfOthers: Int = 0, after term: UInt64? = nil) {
        self.source = source
        self.startsOfOthers = startsOfOthers
        self.term = term
    }

    func close() {}
}

extension MemoryStore: WritableStore {
    func start() throws(StoreFailure) -> StoreStart {
        startsOfOthers -= 1
        if startsOfOthers >= 0 { throw StoreFailure(kind: .fenced, reason: "another node has the store") }
        let owned = state.locks.filter { $0.value.values.contains { $0.owner != nil } }
        term = term.map { $0 + 1 }
        return StoreStart(
            term: term, expiryClock: state.expiryClock,
            locks: Dictionary(uniqueKeysWithValues: owned.keys.map { ($0, locks(of: $0)) }))
    }

    func read(_ keys: GroupKeys) -> GroupState {
        var group = GroupState(counter: state.counter)
        for channel in keys.sets { group.sets[channel] = metadata(of: channel) }
        for channel in keys.locks { group.locks[channel] = locks(of: channel) }
        for app in keys.apps { group.usages[app] = state.usages[app] ?? AppUsage() }
        for message in keys.messagesToSearch(group.usages) where has(message) {
            group.messages.insert(message.identity)
        }
        let bans = state.bans.filter { $0.value.untilMilliseconds > keys.now }
        group.bans = keys.listsBans ? bans : bans.filter { keys.bans.contains($0.key) }
        group.banCount = bans.count
        for app in keys.eventApps {
            group.eventApps[app] = EventApp(readers: state.readers.keys.count { $0.appID == app })
        }
        group.readers = state.readers.filter { keys.readers.contains($0.key) }
        return group
    }

    func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten {
        defer { trouble = nil }
        switch trouble {
        case .doubt(let isKept):
            if isKept { _ = keep(changes) }
            throw StoreFailure(kind: .stalled, reason: "nobody knows")
        case .fence(let starts):
            startsOfOthers = starts
            throw StoreFailure(kind: .fenced, reason: "another node has the store")
        case nil: return keep(changes)
        }
    }

    private func keep(_ changes: GroupChanges) -> GroupWritten {
        var written = GroupWritten()
        if let expiry = changes.expiry {
            written = GroupWritten(expired: removeExpired(expiry), size: StoreSize())
        }
        written.purged = changes.purges.map(remove)
        for (channel, change) in changes.sets { state.sets[channel] = change.set }
        for (lock, change) in changes.locks {
            var kept = change
            kept?.owner?.presence = .away(until: 0)
            kept?.waiters = []
            state.locks[lock.channel, default: [:]][lock.name] = kept
        }
        for message in changes.messages { append(message) }
        for (app, difference) in changes.usages { state.usages[app, default: AppUsage()].add(difference) }
        if let time = changes.bansEnded {
            state.bans = state.bans.filter { $0.value.untilMilliseconds > time }
        }
        for (user, ban) in changes.bans { state.bans[user] = ban }
        for key in changes.forgottenReaders {
            (state.readers[key], state.letters[key], state.droppedLetters[key]) = (nil, nil, nil)
        }
        keep(changes.readers, changes.letters)
        for audit in changes.audit { keep(audit) }
        state.events.removeAll { event in changes.announced.contains { $0.contains(event.sequence) } }
        state.events += changes.events
        state.expiryClock = changes.expiryClock ?? state.expiryClock
        state.counter = changes.counter ?? state.counter
        return written
    }

    func confirm() {}

    func prove() {}

    private func keep(
        _ readers: OrderedDictionary<EventReaderKey, EventReaderState?>,
        _ letters: [GroupChanges.LettersChange]
    ) {
        for (key, reader) in readers {
            state.readers[key] = reader
            if reader == nil { (state.letters[key], state.droppedLetters[key]) = (nil, nil) }
        }
        for change in letters {
            var all = (state.letters[change.reader] ?? []).filter { !change.removed.contains($0.number) }
            for letter in change.kept {
                all.removeAll { $0.position == letter.position }
                all.append(letter)
            }
            let last = all.last?.number ?? 0
            let newest = all.filter { $0.number + UInt64(EventReaderState.lettersMax) > last }
            state.letters[change.reader] = newest
            state.droppedLetters[change.reader, default: 0] += all.count - newest.count
        }
    }

    private func append(_ message: StoredMessage) {
        guard !has(message) else { return }
        var message = message
        let kept = state.messages[message.channel] ?? [:]
        if kept[message.content.time.number] != nil, let newest = kept.keys.max() {
            message.content.time = LogTime(number: newest + 1)
        }
        state.messages[message.channel, default: [:]][message.content.time.number] = message
        state.usages[message.channel.appID, default: AppUsage()].historyBytes += message.bytes
    }

    private func has(_ message: StoredMessage) -> Bool {
        let kept = state.messages[message.channel] ?? [:]
        if let origin = message.origin { return kept.values.contains { $0.origin == origin } }
        return kept[message.content.time.number]?.content == message.content
    }

    private func removeExpired(_ expiry: GroupChanges.Expiry) -> Int {
        let expired = state.messages.values.flatMap(\.values)
            .filter { $0.expiry.map { $0 <= expiry.time } ?? false }
            .sorted { ($0.expiry ?? 0) < ($1.expiry ?? 0) }.prefix(expiry.limit)
        for message in expired {
            state.messages[message.channel]?[message.content.time.number] = nil
            state.usages[message.channel.appID]?.historyBytes -= message.bytes
        }
        return expired.count
    }
}

extension MemoryStore {
    private func remove(_ purge: HistoryPurge) -> Int {
        let purged = (state.messages[purge.channel] ?? [:]).values
            .filter { purge.before == 0 || $0.content.time.number < purge.beforeTime }
            .sorted { $0.content.time.number < $1.content.time.number }
            .prefix(purge.limit)
        for message in purged {
            state.messages[message.channel]?[message.content.time.number] = nil
            state.usages[message.channel.appID]?.historyBytes -= message.bytes
        }
        return purged.count
    }
}

extension MemoryStore: ReadableStore {
    func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try body()
    }

    func committedCounter() -> UInt64 { state.counter }

    func metadata(of channel: ChannelKey) -> MetadataSet { state.sets[channel] ?? MetadataSet() }

    func locks(of channel: ChannelKey) -> LockTable {
        var table = LockTable()
        table.locks = state.locks[channel] ?? [:]
        return table
    }

    func messages(_ query: HistorySelection, now: UInt64) -> HistoryMatches {
        let kept = (state.messages[query.channel] ?? [:]).values
            .filter { $0.expiry.map { $0 > now } ?? true }
        return query.matches(among: kept.map(\.content))
    }

    func bans(after place: BansRequest, now: UInt64, limit: Int) -> [Ban] {
        let behind = state.bans.values.filter {
            ($0.appID, $0.userID) > (place.afterApp, place.afterUser) && $0.untilMilliseconds > now
                && $0.tokensBeforeSeconds == 0
        }
        return Array(behind.sorted { ($0.appID, $0.userID) < ($1.appID, $1.userID) }.prefix(limit))
    }

    func readers(_ request: ReadersRequest, limit: Int, now: UInt64) -> [EventReader] {
        let behind = state.readers.filter { $0.key.appID == request.appID && $0.key.name > request.after }
        return behind.sorted { $0.key.name < $1.key.name }.prefix(limit).map { key, reader in
            let isOwned = reader.isOwned(now: now)
            return EventReader(
                name: key.name, owner: isOwned ? reader.owner : "", term: reader.term,
                lease: .milliseconds(isOwned ? Int64(reader.leaseEnd - now) : 0), position: reader.position,
                state: reader.state, letters: UInt32(state.letters[key]?.count ?? 0),
                dropped: UInt64(state.droppedLetters[key] ?? 0))
        }
    }

    private func keep(_ audit: KeepAudit) {
        var lines = state.audit[audit.appID] ?? []
        var line = audit.line
        line.number = (lines.last?.number ?? 0) + 1
        lines.append(line)
        let ofKind = lines.filter { $0.by == line.by && $0.what == line.what }
        if ofKind.count > AuditTrail.linesPerKindMax { lines.removeAll { $0.number == ofKind[0].number } }
        state.audit[audit.appID] = lines
    }

    func audit(_ request: AuditRequest, limit: Int) -> [AuditLine] {
        let lines = (state.audit[request.appID] ?? []).reversed()
        return Array(lines.filter { request.before == 0 || $0.number < request.before }.prefix(limit))
    }

    func deadLetters(_ request: DeadLettersRequest, limit: Int) -> [DeadLetter] {
        let key = EventReaderKey(appID: request.appID, name: request.name)
        return Array((state.letters[key] ?? []).filter { $0.number > request.after }.prefix(limit))
    }

    func eventFeeds(of app: String) throws(StoreFailure) -> [EventLogs.FeedKey: EventLogs.FeedMark] {
        throw StoreFailure(kind: .refused, reason: "this engine keeps no events of apps")
    }

    func eventPage(_ request: EventsRequest, limit: Int) throws(StoreFailure) -> EventsResponse {
        throw StoreFailure(kind: .refused, reason: "this engine keeps no events of apps")
    }

    func eventBounds(of app: String) -> (newest: StreamPosition, oldest: StreamPosition) {
        (StreamPosition(epoch: 0, offset: 0), StreamPosition(epoch: 0, offset: 0))
    }

    func events(after sequence: UInt64, limit: Int) -> [StorageOutboxEvent] {
        Array(state.events.filter { $0.sequence > sequence }.prefix(limit))
    }
}

extension HistorySelection {
    /// The matches that a store finds.
    func matches(among messages: [HistoryMessage]) -> HistoryMatches {
        var found = HistoryMatches(of: self)
        for message in messages.sorted(by: { $0.time > $1.time })
        where oldest <= message.time.number && message.time.number <= newest {
            guard found.take(message) else { break }
        }
        return found
    }
}
