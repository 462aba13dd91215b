import OrderedCollections
import RTMModel
import RTMWire

/// The keys of everything that the calls of one group may need from the store. They are collected first, so
/// that the store is read once for the whole group.
struct GroupKeys: Sendable {
    /// The time in milliseconds (UTC). Bans that have ended by then count as gone.
    let now: UInt64
    /// How many bytes of stored messages an app may have; nil means no quota.
    let historyBytesMax: Int?
    var sets: Set<ChannelKey> = []
    var locks: Set<ChannelKey> = []
    /// The apps whose usage counts.
    var apps: Set<String> = []
    /// Messages of apps that have a quota of them.
    var messages: [StoredMessage] = []
    var bans: Set<BannedUser> = []
    var listsBans = false

    var isEmpty: Bool { sets.isEmpty && locks.isEmpty && apps.isEmpty && bans.isEmpty && !listsBans }

    /// The messages that the store has to search, because they don't all fit into the quota of their app: one
    /// that is kept already needs no room. No message is searched where all of them fit.
    func messagesToSearch(_ usages: [String: AppUsage]) -> [StoredMessage] {
        guard let historyBytesMax, !messages.isEmpty else { return [] }
        var after = usages.mapValues(\.historyBytes)
        for message in messages { after[message.channel.appID, default: 0] += message.bytes }
        return messages.filter { after[$0.channel.appID, default: 0] > historyBytesMax }
    }
}

/// What the store holds of the keys of a group, all from one committed state.
struct GroupState: Sendable {
    /// The counter as it was last committed.
    var counter: UInt64 = 0
    var sets: [ChannelKey: MetadataSet] = [:]
    /// Lock tables, with all owners away.
    var locks: [ChannelKey: LockTable] = [:]
    var usages: [String: AppUsage] = [:]
    /// Those of `GroupKeys.messagesToSearch` that the store has.
    var messages: Set<StoredMessage.Identity> = []
    /// Bans that hold: those of the keys, or all if the keys ask for a list.
    var bans: [BannedUser: Ban] = [:]
    /// How many bans hold; 0 if the keys have no bans.
    var banCount = 0
}

struct BannedUser: Sendable, Hashable {
    let appID: String
    let userID: String
    /// Whether only the user's tokens are refused, which holds beside a ban of the user.
    var isOfTokens = false
}

extension BannedUser {
    init(_ ban: Ban) {
        self.init(appID: ban.appID, userID: ban.userID, isOfTokens: ban.tokensBeforeSeconds > 0)
    }
}

extension StoredMessage {
    /// By what the store recognises a message that it has.
    enum Identity: Sendable, Hashable {
        case origin(Origin, ChannelKey)
        case content(HistoryMessage, ChannelKey)
    }

    var identity: Identity { origin.map { .origin($0, channel) } ?? .content(content, channel) }
}

/// Everything that one group changes. The store keeps all of it in one transaction, or nothing. Each row
/// occurs once, however many calls of the group have changed it, and the parts don't depend on each other,
/// except that what expires goes first and the search for unused channels comes last.
struct GroupChanges: Sendable {
    struct SetChange: Sendable {
        var set: MetadataSet
        /// What differs from the stored set.
        var change: MetadataSet.Change
    }

    struct LockName: Sendable, Hashable {
        let channel: ChannelKey
        let name: String
    }

    struct Expiry: Sendable, Hashable {
        let time: UInt64
        let limit: Int
    }

    /// The counter's new value, if the group has used it.
    var counter: UInt64?
    var sets: OrderedDictionary<ChannelKey, SetChange> = [:]
    /// Changed locks; nil for a lock that was removed.
    var locks: OrderedDictionary<LockName, LockTable.Lock?> = [:]
    /// How much more each app has than before. The bytes of messages are 0 here, because only the store knows
    /// which messages it adds and removes, and counts them.
    var usages: [String: AppUsage] = [:]
    /// Messages to keep, unless the channel has them already: a message of the same origin, or without an
    /// origin one with the same time and content. When another message has the same time, this one gets a
    /// time after the channel's newest.
    var messages: [StoredMessage] = []
    /// Changed bans; nil for one that was lifted.
    var bans: OrderedDictionary<BannedUser, Ban?> = [:]
    /// Bans that have ended by this time are removed.
    var bansEnded: UInt64?
    /// Messages that are removed before those of the group are kept.
    var purges: [HistoryPurge] = []
    /// New events, which wait for messaging.
    var events: [OutboxEvent] = []
    /// The events that messaging has.
    var announced: [ClosedRange<UInt64>] = []
    var expiryClock: UInt64?
    /// Messages that have expired by then are removed, at most so many.
    var expiry: Expiry?
    /// Gives back the space of channels about which nothing is kept any more. Each call visits so many other
    /// channels. Nobody can tell the difference: a channel whose metadata was ever written keeps its
    /// revision, from which the next one counts (D-10).
    var unusedChannelsLimit: Int?

    var isEmpty: Bool {
        counter == nil && sets.isEmpty && locks.isEmpty && usages.isEmpty && messages.isEmpty && bans.isEmpty
            && bansEnded == nil && purges.isEmpty && events.isEmpty && announced.isEmpty && expiryClock == nil
            && expiry == nil && unusedChannelsLimit == nil
    }
}

/// What a store reports about changes that it has kept.
struct GroupWritten: Sendable, Hashable {
    /// How many messages were removed, and how large the store is, if the group removed expired messages.
    var expired: Int?
    var size: StoreSize?
    /// For each purge: how many messages it has removed.
    var purged: [Int] = []
}

/// The store as one group sees it: what was read, with what the calls of the group have changed so far. Each
/// call sees the changes of the calls before it. Pure.
///
/// A key that wasn't collected can't be read any more. The call that needs it is refused, and no other call.
struct StoreGroup: Sendable {
    private var state: GroupState
    private(set) var changes = GroupChanges()

    init(_ state: GroupState = GroupState()) { self.state = state }

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
            changes.counter = newValue
        }
    }

    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet {
        try read(state.sets, channel, "the metadata")
    }

    mutating func save(_ change: MetadataSet.Change, to set: MetadataSet, of channel: ChannelKey) {
        state.sets[channel] = set
        if let index = changes.sets.index(forKey: channel) {
            changes.sets.values[index].set = set
            changes.sets.values[index].change.merge(change)
        } else {
            changes.sets[channel] = .init(set: set, change: change)
        }
    }

    /// The table as it was stored before the group. The registry of locks has the later ones.
    func storedLocks(of channel: ChannelKey) throws(StoreFailure) -> LockTable {
        try read(state.locks, channel, "the locks")
    }

    mutating func save(_ lock: LockTable.Lock, of channel: ChannelKey) {
        changes.locks[.init(channel: channel, name: lock.name)] = .some(lock)
    }

    mutating func removeLock(_ name: String, of channel: ChannelKey) {
        changes.locks[.init(channel: channel, name: name)] = .some(nil)
    }

    func usage(of app: String) throws(StoreFailure) -> AppUsage {
        try read(state.usages, app, "the counts")
    }

    mutating func add(_ difference: AppUsage, of app: String) {
        state.usages[app]?.add(difference)
        changes.usages[app, default: AppUsage()].add(difference)
    }

    /// Whether the store has the message, or gets it with this group. It is known only where the messages of
    /// the group don't all fit into the quota of their app.
    func has(_ message: StoredMessage) -> Bool { state.messages.contains(message.identity) }

    /// - Parameter countsBytes: whether the app has a quota of stored messages.
    mutating func append(_ message: StoredMessage, countsBytes: Bool) {
        changes.messages.append(message)
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
        changes.bans[user] = .some(ban)
    }

    mutating func removeEndedBans(by time: UInt64) { changes.bansEnded = time }

    mutating func queue(_ event: OutboxEvent) { changes.events.append(event) }
    mutating func remove(announced sequences: [ClosedRange<UInt64>]) { changes.announced += sequences }

    mutating func save(expiryClock: UInt64) { changes.expiryClock = expiryClock }

    mutating func removeExpired(by time: UInt64, limit: Int) {
        changes.expiry = .init(time: time, limit: limit)
    }

    mutating func purge(_ purge: HistoryPurge) { changes.purges.append(purge) }

    mutating func removeUnusedChannels(limit: Int) { changes.unusedChannelsLimit = limit }
}
