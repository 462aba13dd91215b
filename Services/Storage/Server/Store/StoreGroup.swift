package import OrderedCollections
package import RTMModel
package import RTMWire

/// The keys of everything that the calls of one group may need from the store. They are collected first, so
/// that the store is read once for the whole group.
package struct GroupKeys: Sendable {
    /// The time in milliseconds (UTC). Bans that have ended by then count as gone.
    package let now: UInt64
    /// How many bytes of stored messages an app may have; nil means no quota.
    let historyBytesMax: Int?
    package var sets: Set<ChannelKey> = []
    package var locks: Set<ChannelKey> = []
    /// The apps whose usage counts.
    package var apps: Set<String> = []
    /// Messages of apps that have a quota of them.
    package var messages: [StoredMessage] = []
    package var bans: Set<BannedUser> = []
    package var listsBans = false
    /// Apps whose events are concerned.
    package var eventApps: Set<String> = []
    package var readers: Set<EventReaderKey> = []
    package var eventKeys: Set<ChannelKey> = []
    package var eventMembers: Set<EventMember> = []
    /// Apps of which everything is announced that is due by then, in milliseconds.
    package var settled: [String: UInt64] = [:]

    package var isEmpty: Bool {
        sets.isEmpty && locks.isEmpty && apps.isEmpty && bans.isEmpty && !listsBans && eventApps.isEmpty
            && readers.isEmpty && eventKeys.isEmpty && settled.isEmpty
    }

    /// The messages that the store has to search, because they don't all fit into the quota of their app: one
    /// that is kept already needs no room. No message is searched where all of them fit.
    package func messagesToSearch(_ usages: [String: AppUsage]) -> [StoredMessage] {
        guard let historyBytesMax, !messages.isEmpty else { return [] }
        var after = usages.mapValues(\.historyBytes)
        for message in messages { after[message.channel.appID, default: 0] += message.bytes }
        return messages.filter { after[$0.channel.appID, default: 0] > historyBytesMax }
    }
}

/// What the store holds of the keys of a group, all from one committed state.
package struct GroupState: Sendable {
    /// The counter as it was last committed.
    var counter: UInt64 = 0
    package var sets: [ChannelKey: MetadataSet] = [:]
    /// Lock tables, with all owners away.
    package var locks: [ChannelKey: LockTable] = [:]
    package var usages: [String: AppUsage] = [:]
    /// Those of `GroupKeys.messagesToSearch` that the store has.
    package var messages: Set<StoredMessage.Identity> = []
    /// Bans that hold: those of the keys, or all if the keys ask for a list.
    package var bans: [BannedUser: Ban] = [:]
    /// How many bans hold; 0 if the keys have no bans.
    package var banCount = 0
    package var eventApps: [String: EventApp] = [:]
    package var readers: [EventReaderKey: EventReaderState] = [:]
    package var eventFeeds: [EventLogs.FeedKey: EventLogs.FeedMark] = [:]
    /// With those of which something is due in the apps that are settled.
    package var eventKeys: [ChannelKey: EventKey] = [:]
    package var eventMembers: Set<EventMember> = []

    package init(counter: UInt64 = 0) { self.counter = counter }
}

package struct EventReaderKey: Sendable, Hashable {
    package let appID: String
    package let name: String
}

/// What the store has of the events of an app.
package struct EventApp: Sendable, Hashable {
    /// The position of the newest event; offset 0 if there was none.
    package var newest = StreamPosition(epoch: 0, offset: 0)
    /// How many readers there are.
    package var readers = 0

    package init(newest: StreamPosition = StreamPosition(epoch: 0, offset: 0), readers: Int = 0) {
        (self.newest, self.readers) = (newest, readers)
    }
}

package struct BannedUser: Sendable, Hashable {
    package let appID: String
    package let userID: String
    /// Whether only the user's tokens are refused, which holds beside a ban of the user.
    package var isOfTokens = false
}

extension BannedUser {
    package init(_ ban: Ban) {
        self.init(appID: ban.appID, userID: ban.userID, isOfTokens: ban.tokensBeforeSeconds > 0)
    }
}

extension StoredMessage {
    /// By what the store recognises a message that it has.
    package enum Identity: Sendable, Hashable {
        case origin(Origin, ChannelKey)
        case content(HistoryMessage, ChannelKey)
    }

    package var identity: Identity { origin.map { .origin($0, channel) } ?? .content(content, channel) }
}

/// Everything that one group changes. The store keeps all of it in one transaction, or nothing. Each row
/// occurs once, however many calls of the group have changed it, and the parts don't depend on each other,
/// except that what expires goes first and the search for unused channels comes last.
package struct GroupChanges: Sendable {
    package struct SetChange: Sendable {
        package var set: MetadataSet
        /// What differs from the stored set.
        package var change: MetadataSet.Change
    }

    package struct LockName: Sendable, Hashable {
        package let channel: ChannelKey
        package let name: String
    }

    package struct EventsExpiry: Sendable, Hashable {
        package let cutoffs: [String: UInt64]
        package let limit: Int
        /// How many bytes of events an app may have; nil means no limit.
        package let bytesMax: Int?
    }

    package struct LettersChange: Sendable, Hashable {
        package let reader: EventReaderKey
        package let kept: [DeadLetter]
        package let removed: [UInt64]
    }

    package struct Expiry: Sendable, Hashable {
        package let time: UInt64
        let limit: Int
    }

    /// The counter's new value, if the group has used it.
    package var counter: UInt64?
    package var sets: OrderedDictionary<ChannelKey, SetChange> = [:]
    /// Changed locks; nil for a lock that was removed.
    package var locks: OrderedDictionary<LockName, LockTable.Lock?> = [:]
    /// How much more each app has than before. The bytes of messages are 0 here, because only the store knows
    /// which messages it adds and removes, and counts them.
    package var usages: [String: AppUsage] = [:]
    /// Messages to keep, unless the channel has them already: a message of the same origin, or without an
    /// origin one with the same time and content. When another message has the same time, this one gets a
    /// time after the channel's newest.
    package var messages: [StoredMessage] = []
    /// Changed bans; nil for one that was lifted.
    package var bans: OrderedDictionary<BannedUser, Ban?> = [:]
    /// Bans that have ended by this time are removed.
    package var bansEnded: UInt64?
    /// Messages that are removed before those of the group are kept.
    package var purges: [HistoryPurge] = []
    /// Changed readers; nil for one that is forgotten.
    package var readers: OrderedDictionary<EventReaderKey, EventReaderState?> = [:]
    /// Readers that are forgotten first, with their dead letters; some of them may have come again.
    package var forgottenReaders: Set<EventReaderKey> = []
    /// Dead letters to keep and to remove, in the order of the calls.
    package var letters: [LettersChange] = []
    /// Audit lines to keep, in their order. The store numbers them, and removes the oldest of a key and kind
    /// beyond the limit.
    package var audit: [KeepAudit] = []
    /// The events of apps, with what is known of their channels and users.
    package var collected = EventLogs.Changes()
    package var collectedKeys: [ChannelKey: EventKey] = [:]
    /// Events of apps that came before these times are removed, of other apps all, and the oldest of an app
    /// that has more bytes of them than its share; at most so many of each app.
    package var eventsExpiry: EventsExpiry?
    /// New events, which wait for messaging.
    package var events: [StorageOutboxEvent] = []
    /// How much of the database the changes may fill.
    var room = StorageRoom.usual
    /// The events that messaging has.
    package var announced: [ClosedRange<UInt64>] = []
    package var expiryClock: UInt64?
    /// Messages that have expired by then are removed, at most so many.
    package var expiry: Expiry?
    /// Gives back the space of channels about which nothing is kept any more. Each call visits so many other
    /// channels. Nobody notices: a channel whose metadata was ever written keeps its
    /// revision, from which the next one counts (D-10).
    package var unusedChannelsLimit: Int?
    /// How far the inbox is drained, if the group has taken something out of it.
    package var inbox: InboxCursor?

    package init() {}

    var isEmpty: Bool {
        counter == nil && sets.isEmpty && locks.isEmpty && usages.isEmpty && messages.isEmpty && bans.isEmpty
            && bansEnded == nil && purges.isEmpty && readers.isEmpty && letters.isEmpty && audit.isEmpty
            && collected.isEmpty
            && eventsExpiry == nil && events.isEmpty && announced.isEmpty && expiryClock == nil
            && expiry == nil && unusedChannelsLimit == nil && inbox == nil
    }
}

/// What a store reports about changes that it has kept.
package struct GroupWritten: Sendable, Hashable {
    /// How many messages were removed, and how large the store is, if the group removed expired messages.
    package var expired: Int?
    package var size: StoreSize?
    /// For each purge: how many messages it has removed.
    package var purged: [Int] = []
    /// How many events of apps were removed, if the group did that.
    package var eventsExpired: Int?

    package init(expired: Int? = nil, size: StoreSize? = nil) {
        (self.expired, self.size) = (expired, size)
    }
}

/// The store as one group sees it: what was read, with what the calls of the group have changed so far. Each
/// call sees the changes of the calls before it. Pure.
///
/// A key that wasn't collected can't be read any more. The call that needs it is refused, and no other call.
struct StoreGroup: Sendable {
    private var state: GroupState
    private var written = GroupChanges()
    private var logs: EventLogs

    init(_ state: GroupState = GroupState()) {
        self.state = state
        logs = EventLogs(
            newest: state.eventApps.mapValues(\.newest.offset), keys: state.eventKeys,
            members: state.eventMembers, feeds: state.eventFeeds)
    }

    var changes: GroupChanges {
        var changes = written
        changes.collected = logs.changes
        changes.collectedKeys = logs.keys
        return changes
    }

    private func read<Key: Hashable, Value>(
        _ values: [Key: Value], _ key: Key, _ what: StaticString
    ) throws(StoreFailure) -> Value {
        if let value = values[key] { return value }
        throw StoreFailure(kind: .refused, reason: "\(what) of \(key) were not read for this group")
    }

    /// Fencing tokens, revisions of locks and the numbers of events are taken from this counter.
    var counter: UInt64 {
        get { state.counter }
        set {
            guard newValue != state.counter else { return }
            state.counter = newValue
            written.counter = newValue
        }
    }

    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet {
        try read(state.sets, channel, "the metadata")
    }

    mutating func save(_ change: MetadataSet.Change, to set: MetadataSet, of channel: ChannelKey) {
        state.sets[channel] = set
        if let index = written.sets.index(forKey: channel) {
            written.sets.values[index].set = set
            written.sets.values[index].change.merge(change)
        } else {
            written.sets[channel] = .init(set: set, change: change)
        }
    }

    /// The table as it was stored before the group. The registry of locks has the later ones.
    func storedLocks(of channel: ChannelKey) throws(StoreFailure) -> LockTable {
        try read(state.locks, channel, "the locks")
    }

    mutating func save(_ lock: LockTable.Lock, of channel: ChannelKey) {
        written.locks[.init(channel: channel, name: lock.name)] = .some(lock)
    }

    mutating func removeLock(_ name: String, of channel: ChannelKey) {
        written.locks[.init(channel: channel, name: name)] = .some(nil)
    }

    func usage(of app: String) throws(StoreFailure) -> AppUsage {
        try read(state.usages, app, "the counts")
    }

    mutating func add(_ difference: AppUsage, of app: String) {
        state.usages[app]?.add(difference)
        written.usages[app, default: AppUsage()].add(difference)
    }

    /// Whether the store has the message, or gets it with this group. It is known only where the messages of
    /// the group don't all fit into the quota of their app.
    func has(_ message: StoredMessage) -> Bool { state.messages.contains(message.identity) }

    /// - Parameter countsBytes: whether the app has a quota of stored messages.
    mutating func append(_ message: StoredMessage, countsBytes: Bool) {
        written.messages.append(message)
        guard countsBytes, state.messages.insert(message.identity).inserted else { return }
        state.usages[message.channel.appID]?.historyBytes += message.bytes
    }

    func ban(of user: BannedUser) -> Ban? { state.bans[user] }
    var banCount: Int { state.banCount }
    /// All bans, by app and user.
    var bans: [Ban] {
        state.bans.values.sorted { ($0.appID, $0.userID) < ($1.appID, $1.userID) }
    }

    mutating func setBan(_ ban: Ban?, of user: BannedUser) {
        state.banCount += (ban == nil ? 0 : 1) - (state.bans[user] == nil ? 0 : 1)
        state.bans[user] = ban
        written.bans[user] = .some(ban)
    }

    mutating func removeEndedBans(by time: UInt64) { written.bansEnded = time }

    func eventApp(_ app: String) throws(StoreFailure) -> EventApp {
        try read(state.eventApps, app, "the events")
    }

    func reader(_ key: EventReaderKey) -> EventReaderState? { state.readers[key] }

    mutating func setReader(_ reader: EventReaderState?, _ key: EventReaderKey) {
        state.eventApps[key.appID]?.readers +=
            (reader == nil ? 0 : 1) - (state.readers[key] == nil ? 0 : 1)
        state.readers[key] = reader
        written.readers[key] = .some(reader)
        // A reader that comes again begins without dead letters.
        guard reader == nil else { return }
        written.forgottenReaders.insert(key)
        written.letters.removeAll { $0.reader == key }
    }

    mutating func keep(_ audit: KeepAudit) { written.audit.append(audit) }

    mutating func keep(_ letters: [DeadLetter], removing removed: [UInt64], of key: EventReaderKey) {
        guard !letters.isEmpty || !removed.isEmpty else { return }
        written.letters.append(.init(reader: key, kept: letters, removed: removed))
    }

    mutating func collect(_ feed: CollectedFeed, now: UInt64) -> Bool { logs.collect(feed, now: now) }

    /// Announces what of the app is due by then.
    mutating func settle(_ app: String, upTo time: UInt64) {
        let due = logs.keys.filter { $0.key.appID == app && $0.value.due.map { $0 <= time } ?? false }
        for (key, _) in due.sorted(by: { ($0.value.due ?? 0, $0.key.name) < ($1.value.due ?? 0, $1.key.name) }
        ) {
            logs.settle(key, upTo: time)
        }
    }

    mutating func removeEvents(before cutoffs: [String: UInt64], limit: Int, bytesMax: Int?) {
        written.eventsExpiry = .init(cutoffs: cutoffs, limit: limit, bytesMax: bytesMax)
    }

    mutating func queue(_ event: StorageOutboxEvent) { written.events.append(event) }
    mutating func announced(_ sequences: [ClosedRange<UInt64>]) { written.announced += sequences }

    mutating func save(expiryClock: UInt64) { written.expiryClock = expiryClock }

    mutating func removeExpired(by time: UInt64, limit: Int) {
        written.expiry = .init(time: time, limit: limit)
    }

    mutating func purge(_ purge: HistoryPurge) { written.purges.append(purge) }

    mutating func drained(to cursor: InboxCursor) { written.inbox = cursor }

    mutating func removeUnusedChannels(limit: Int) { written.unusedChannelsLimit = limit }
}

/// How much of a database of a limited size a write may fill. The rest is kept back for what protects users:
/// a database that messages, metadata and events have filled still keeps bans (S-4).
enum StorageRoom: Int, Sendable, Comparable {
    /// Everything but the reserve.
    case usual
    /// Half of the reserve, too: locks, the ends of sessions, and what gives room back.
    case locks
    /// All of it: bans and revocations of tokens.
    case bans

    /// Limit: bytes that are kept back, at most.
    private static let reserveMax = 64 << 20
    /// Of a small database it is this part.
    private static let reservePart = 16

    /// - Parameter bytesMax: how large the database may become.
    func bytes(of bytesMax: Int) -> Int {
        let reserve = min(Self.reserveMax, bytesMax / Self.reservePart)
        return switch self {
        case .usual: bytesMax - reserve
        case .locks: bytesMax - reserve / 2
        case .bans: bytesMax
        }
    }

    static func < (left: StorageRoom, right: StorageRoom) -> Bool { left.rawValue < right.rawValue }
}
