import RTMModel
import RTMWire

@testable import RTMStorageServer

/// Another engine, which keeps everything in dictionaries. The rules must do the same over it as over SQLite.
final class MemoryStore {
    fileprivate struct State {
        var counter: UInt64 = 0
        var sets: [ChannelKey: MetadataSet] = [:]
        var locks: [ChannelKey: [String: LockTable.Lock]] = [:]
        var messages: [ChannelKey: [UInt64: StoredMessage]] = [:]
        var usages: [String: AppUsage] = [:]
        var events: [OutboxEvent] = []
        var expiryClock: UInt64?
        var bans: [Ban] = []
    }

    let source: UInt64
    fileprivate var state = State()
    private var committed = State()

    init(source: UInt64) { self.source = source }

    func close() {}
}

extension MemoryStore: WritableStore {
    var counter: UInt64 {
        get { state.counter }
        set { state.counter = newValue }
    }

    func begin() {}
    func commit() { committed = state }
    func rollBack() { state = committed }
    func prove() {}

    func metadata(of channel: ChannelKey) -> MetadataSet { state.sets[channel] ?? MetadataSet() }

    func save(_ change: MetadataSet.Change, to set: MetadataSet, of channel: ChannelKey) {
        state.sets[channel] = set
    }

    func locks(of channel: ChannelKey) -> LockTable {
        var table = LockTable()
        table.locks = state.locks[channel] ?? [:]
        return table
    }

    func save(_ lock: LockTable.Lock, of channel: ChannelKey) {
        var kept = lock
        kept.owner?.presence = .away(until: 0)
        kept.waiters = []
        state.locks[channel, default: [:]][lock.name] = kept
    }

    var bans: MemoryBans { MemoryBans(store: self) }

    func removeLock(_ name: String, of channel: ChannelKey) { state.locks[channel]?[name] = nil }

    func channelsWithLockOwners() -> [ChannelKey] {
        state.locks.filter { $0.value.values.contains { $0.owner != nil } }.map(\.key)
    }

    func append(_ message: StoredMessage) {
        guard !has(message) else { return }
        var message = message
        let kept = state.messages[message.channel] ?? [:]
        if kept[message.content.timestampMilliseconds] != nil, let newest = kept.keys.max() {
            message.content.timestampMilliseconds = newest + 1
        }
        state.messages[message.channel, default: [:]][message.content.timestampMilliseconds] = message
    }

    func has(_ message: StoredMessage) -> Bool {
        let kept = state.messages[message.channel] ?? [:]
        if let origin = message.origin { return kept.values.contains { $0.origin == origin } }
        return kept[message.content.timestampMilliseconds]?.content == message.content
    }

    func removeExpired(by now: UInt64, limit: Int) -> Int {
        let expired = state.messages.values.flatMap(\.values)
            .filter { $0.expiry.map { $0 <= now } ?? false }
            .sorted { ($0.expiry ?? 0) < ($1.expiry ?? 0) }.prefix(limit)
        for message in expired {
            state.messages[message.channel]?[message.content.timestampMilliseconds] = nil
        }
        return expired.count
    }

    func size() -> StoreSize { StoreSize() }

    func expiryClock() -> UInt64? { state.expiryClock }
    func save(expiryClock: UInt64) { state.expiryClock = expiryClock }

    /// This store keeps no rows for channels, so there is nothing to remove.
    func removeUnusedChannels(limit: Int) {}

    func usage(of app: String) -> AppUsage { state.usages[app] ?? AppUsage() }
    func save(_ usage: AppUsage, of app: String) { state.usages[app] = usage }

    func queue(_ event: OutboxEvent) { state.events.append(event) }

    func removeEvents(_ sequences: [ClosedRange<UInt64>]) {
        state.events.removeAll { event in sequences.contains { $0.contains(event.sequence) } }
    }
}

extension MemoryStore: ReadableStore {
    func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try body()
    }

    func committedCounter() -> UInt64 { committed.counter }

    func messages(_ query: HistorySelection, now: UInt64) -> HistoryMatches {
        let kept = (committed.messages[query.channel] ?? [:]).values
            .filter { $0.expiry.map { $0 > now } ?? true }
        return query.matches(among: kept.map(\.content))
    }

    func bans(after place: BansRequest, now: UInt64, limit: Int) -> [Ban] {
        let behind = committed.bans.filter {
            ($0.appID, $0.userID) > (place.afterApp, place.afterUser) && $0.untilMilliseconds > now
        }
        return Array(behind.sorted { ($0.appID, $0.userID) < ($1.appID, $1.userID) }.prefix(limit))
    }

    func events(after sequence: UInt64, limit: Int) -> [OutboxEvent] {
        Array(committed.events.filter { $0.sequence > sequence }.prefix(limit))
    }
}

extension HistorySelection {
    /// The matches that a store finds.
    func matches(among messages: [HistoryMessage]) -> HistoryMatches {
        var found = HistoryMatches(of: self)
        for message in messages.sorted(by: { $0.timestampMilliseconds > $1.timestampMilliseconds })
        where oldest <= message.timestampMilliseconds && message.timestampMilliseconds <= newest {
            guard found.take(message) else { break }
        }
        return found
    }
}

struct MemoryBans: BanStore {
    fileprivate let store: MemoryStore

    func all() -> [Ban] { store.state.bans }
    func count() -> Int { store.state.bans.count }

    func ban(of userID: String, of appID: String) -> Ban? {
        store.state.bans.first { $0.userID == userID && $0.appID == appID }
    }

    func save(_ ban: Ban) {
        remove(ban.userID, of: ban.appID)
        store.state.bans.append(ban)
    }

    func remove(_ userID: String, of appID: String) {
        store.state.bans.removeAll { $0.userID == userID && $0.appID == appID }
    }

    func removeEnded(by now: UInt64) { store.state.bans.removeAll { $0.untilMilliseconds <= now } }
}
