import OrderedCollections
import RTMModel
import RTMWire

/// The writing half of the store in a SQLite file.
final class SQLiteWriter: WritableStore {
    /// Limit: channels and sets that are kept in memory. Beyond it all of them are dropped and read again.
    private static let channelsMax = 100_000
    private static let setsMax = 4_096
    /// Limit: events in the outbox beside which unused channels are searched. The search goes through all
    /// events, so with more of them it waits until messaging has them.
    private static let eventsBesideSearch = 1_000

    let connection: SQLiteConnection
    private let options: SQLiteOptions
    /// How much of the file may be filled at present.
    private var room = StorageRoom.usual
    /// The file that was opened; nil where the file system is a test's own.
    private let identity: FileIdentity?
    private var channels: [ChannelKey: Int64] = [:]
    /// The latest channel, because a call asks for its channel several times.
    private var latest: (channel: ChannelKey, id: Int64)?
    private var sets: [ChannelKey: MetadataSet] = [:]
    private var usages: [String: AppUsage] = [:]
    /// Apps whose usage has changed in this transaction. It is written once, at the commit.
    private var changedUsages: Set<String> = []
    /// The last channel that the search for unused channels has visited.
    private var searched: Int64 = 0
    private var storedCounter: UInt64
    var counter: UInt64
    let source: UInt64

    /// - Parameter source: differs from that of every other opening of the file. It is the epoch of the
    ///   events that are kept from now on.
    init(
        _ options: SQLiteOptions, source: UInt64 = .random(in: 1...UInt64(Int64.max))
    ) throws(StoreFailure) {
        self.source = source
        self.options = options
        connection = try options.openWriter()
        identity = options.fileSystem == nil ? FileIdentity(options.path) : nil
        storedCounter = try connection.counter()
        counter = storedCounter
    }

    func close() { connection.close() }

    private var bans: SQLiteBans { SQLiteBans(connection: connection) }
    private var readers: SQLiteEventReaders { SQLiteEventReaders(connection: connection) }
    private var appEvents: SQLiteEvents { SQLiteEvents(connection: connection) }

    // MARK: Groups

    func start() throws(StoreFailure) -> StoreStart {
        var start = StoreStart(expiryClock: try expiryClock())
        for channel in try channelsWithLockOwners() { start.locks[channel] = try locks(of: channel) }
        return start
    }

    /// Nobody else writes to the file, so the reads need no lock against writers.
    func read(_ keys: GroupKeys) throws(StoreFailure) -> GroupState {
        var state = GroupState(counter: storedCounter)
        guard !keys.isEmpty else { return state }
        // One transaction, so that SQLite opens its view of the file once.
        try connection.run("BEGIN")
        defer { if connection.isInTransaction { _ = try? connection.run("COMMIT") } }
        for channel in keys.sets { state.sets[channel] = try metadata(of: channel) }
        for channel in keys.locks { state.locks[channel] = try locks(of: channel) }
        for app in keys.apps { state.usages[app] = try usage(of: app) }
        for message in keys.messagesToSearch(state.usages) where try has(message) {
            state.messages.insert(message.identity)
        }
        try read(keys, into: &state)
        return state
    }

    private func read(_ keys: GroupKeys, into state: inout GroupState) throws(StoreFailure) {
        if keys.listsBans {
            for ban in try bans.all(after: keys.now) { state.bans[BannedUser(ban)] = ban }
            state.banCount = state.bans.count
        } else if !keys.bans.isEmpty {
            for user in keys.bans { state.bans[user] = try bans.ban(of: user, after: keys.now) }
            state.banCount = try bans.count(after: keys.now)
        }
        for key in keys.readers { state.readers[key] = try readers.reader(key) }
        try readEvents(keys, into: &state)
    }

    /// Limit: channels and users that are announced as vacated or offline in one group.
    private static let settledMax = 1_000

    private func readEvents(_ keys: GroupKeys, into state: inout GroupState) throws(StoreFailure) {
        for app in keys.eventApps {
            state.eventApps[app] = EventApp(
                newest: try appEvents.bounds(of: app).newest, readers: try readers.count(of: app))
            state.eventFeeds.merge(try appEvents.feeds(of: app)) { $1 }
        }
        for key in keys.eventKeys { state.eventKeys[key] = try appEvents.key(key) }
        for member in keys.eventMembers where try appEvents.has(member) {
            state.eventMembers.insert(member)
        }
        for (app, time) in keys.settled {
            state.eventKeys.merge(try appEvents.due(of: app, upTo: time, limit: Self.settledMax)) { $1 }
        }
    }

    func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten {
        do throws(StoreFailure) {
            try limit(to: changes.room)
            try begin()
            let written = try keep(changes)
            try commit()
            return written
        } catch {
            rollBack()
            throw error
        }
    }

    private func keep(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten {
        var written = GroupWritten()
        if let expiry = changes.expiry {
            written.expired = try removeExpired(by: expiry.time, limit: expiry.limit)
        }
        for purge in changes.purges { written.purged.append(try remove(purge)) }
        for (channel, change) in changes.sets { try save(change.change, to: change.set, of: channel) }
        for (lock, change) in changes.locks {
            if let change {
                try save(change, of: lock.channel)
            } else {
                try removeLock(lock.name, of: lock.channel)
            }
        }
        for message in changes.messages { try append(message) }
        for (app, difference) in changes.usages { try add(difference, of: app) }
        if let time = changes.bansEnded { try bans.removeEnded(by: time) }
        for (user, ban) in changes.bans { try bans.set(ban, of: user) }
        if !changes.collected.isEmpty {
            try appEvents.keep(changes.collected, changes.collectedKeys, epoch: source)
        }
        if let expiry = changes.eventsExpiry {
            written.eventsExpired = try appEvents.remove(expiry)
        }
        for key in changes.forgottenReaders { try readers.set(nil, key) }
        for (key, reader) in changes.readers { try readers.set(reader, key) }
        for change in changes.letters {
            try readers.keep(change.kept, removing: change.removed, of: change.reader)
        }
        for audit in changes.audit { try SQLiteAudit(connection: connection).keep(audit) }
        try removeEvents(changes.announced)
        for event in changes.events { try queue(event) }
        if let time = changes.expiryClock { try save(expiryClock: time) }
        if let limit = changes.unusedChannelsLimit { try removeUnusedChannels(limit: limit) }
        if let counter = changes.counter { self.counter = counter }
        // With what the group has added.
        if changes.expiry != nil { written.size = try size() }
        return written
    }

    // MARK: Transactions

    func begin() throws(StoreFailure) {
        try checkFile()
        try connection.run("BEGIN IMMEDIATE")
    }

    /// SQLite continues to write into a file that has no name any more, and everything would be gone with the
    /// process.
    private func checkFile() throws(StoreFailure) {
        guard let identity, FileIdentity(connection.path) != identity else { return }
        throw StoreFailure(
            kind: .missing,
            reason: "\(connection.path) was deleted or replaced while the service uses it: put it back, or "
                + "restart the service")
    }

    func commit() throws(StoreFailure) {
        for app in changedUsages { try save(try usage(of: app), of: app) }
        changedUsages.removeAll(keepingCapacity: true)
        if counter != storedCounter {
            try connection.run("UPDATE store SET counter = ?1", .number(counter))
        }
        try connection.run("COMMIT")
        storedCounter = counter
    }

    func rollBack() {
        // Some failures have rolled back the transaction already.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        channels = [:]
        latest = nil
        sets = [:]
        usages = [:]
        changedUsages = []
        counter = storedCounter
    }

    /// No other process can write to the file meanwhile.
    func confirm() {}

    private func limit(to room: StorageRoom) throws(StoreFailure) {
        guard room != self.room, options.bytesMax > 0 else { return }
        try options.limit(connection, to: room)
        self.room = room
    }

    func prove() throws(StoreFailure) {
        do throws(StoreFailure) {
            try limit(to: .usual)
            try begin()
            try connection.run("INSERT INTO room (filler) VALUES (zeroblob(65536))")
            try commit()
            try begin()
            try connection.run("DELETE FROM room")
            try commit()
        } catch {
            rollBack()
            throw error
        }
    }

    /// How many pages the file has, including free ones.
    func pageCount() throws(StoreFailure) -> Int {
        try connection.texts("PRAGMA page_count").first.flatMap { Int($0) } ?? 0
    }

    // MARK: Channels

    func id(of channel: ChannelKey) throws(StoreFailure) -> Int64? {
        if let latest, latest.channel == channel { return latest.id }
        if let known = channels[channel] {
            latest = (channel, known)
            return known
        }
        guard let id = try connection.channelID(channel) else { return nil }
        remember(id, of: channel)
        return id
    }

    func idMaking(_ channel: ChannelKey) throws(StoreFailure) -> Int64 {
        if let known = try id(of: channel) { return known }
        var made: Int64 = 0
        try connection.rows(
            "INSERT INTO channels (app, type, name) VALUES (?1, ?2, ?3) RETURNING id", .text(channel.appID),
            .integer(Int64(channel.type.rawValue)), .text(channel.name)
        ) { row in made = row.integer(0) }
        remember(made, of: channel)
        return made
    }

    private func remember(_ id: Int64, of channel: ChannelKey) {
        if channels.count >= Self.channelsMax { channels = [:] }
        channels[channel] = id
        latest = (channel, id)
    }

    /// Removes channels that nothing refers to. Metadata needs no lookup: a channel that has some has a
    /// revision.
    func removeUnusedChannels(limit: Int) throws(StoreFailure) {
        guard try !hasManyEvents() else { return }
        let first = searched
        try connection.rows(
            "SELECT max(id) FROM (SELECT id FROM channels WHERE id > ?1 ORDER BY id LIMIT ?2)",
            .integer(first), .integer(Int64(limit))
        ) { row in searched = row.integer(0) }
        try connection.rows(
            """
            DELETE FROM channels WHERE id > ?1 AND id <= ?2 AND metadata_revision = 0
                AND NOT EXISTS (SELECT 1 FROM locks WHERE locks.channel = channels.id)
                AND NOT EXISTS (SELECT 1 FROM history WHERE history.channel = channels.id)
                AND id NOT IN (SELECT channel FROM outbox)
            RETURNING app, type, name
            """, .integer(first), .integer(searched)
        ) { row in channels[row.channelKey(0)] = nil }
        // The next new channel may get the number of one that was removed.
        latest = nil
    }

    private func hasManyEvents() throws(StoreFailure) -> Bool {
        var hasMany = false
        try connection.rows(
            "SELECT 1 FROM outbox LIMIT 1 OFFSET ?1", .integer(Int64(Self.eventsBesideSearch))
        ) { _ in hasMany = true }
        return hasMany
    }

    // MARK: Metadata

    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet {
        if let known = sets[channel] { return known }
        guard let id = try id(of: channel) else { return MetadataSet() }
        let set = try connection.metadata(of: id)
        remember(set, of: channel)
        return set
    }

    private func remember(_ set: MetadataSet, of channel: ChannelKey) {
        if sets.count >= Self.setsMax { sets = [:] }
        sets[channel] = set
    }

    func save(
        _ change: MetadataSet.Change, to set: MetadataSet, of channel: ChannelKey
    ) throws(StoreFailure) {
        let id = try idMaking(channel)
        try connection.run(
            "UPDATE channels SET metadata_revision = ?2 WHERE id = ?1", .integer(id),
            .integer(set.majorRevision))
        for (key, entry) in change.entries {
            guard let entry else {
                try connection.run(
                    "DELETE FROM metadata WHERE channel = ?1 AND key = ?2", .integer(id), .text(key))
                continue
            }
            try save(entry, of: id)
        }
        remember(set, of: channel)
    }

    private func save(_ entry: MetadataSet.Entry, of id: Int64) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO metadata (channel, key, place, value, revision, updated_ms, author)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (channel, key) DO UPDATE SET place = excluded.place, value = excluded.value,
                revision = excluded.revision, updated_ms = excluded.updated_ms, author = excluded.author
            """,
            .integer(id), .text(entry.item.key), .integer(entry.place), .text(entry.item.value),
            .integer(entry.item.revision), .number(entry.item.updatedMilliseconds),
            .text(entry.item.author))
    }

    // MARK: Locks

    func locks(of channel: ChannelKey) throws(StoreFailure) -> LockTable {
        guard let id = try id(of: channel) else { return LockTable() }
        return try connection.locks(of: id)
    }

    func save(_ lock: LockTable.Lock, of channel: ChannelKey) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO locks (channel, name, ttl_s, owner, instance, token) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (channel, name) DO UPDATE SET ttl_s = excluded.ttl_s, owner = excluded.owner,
                instance = excluded.instance, token = excluded.token
            """,
            .integer(try idMaking(channel)), .text(lock.name), .integer(Int64(lock.ttlSeconds)),
            lock.owner.map { .text($0.user) } ?? .null, .number(lock.owner?.instance ?? 0),
            .number(lock.token))
    }

    func removeLock(_ name: String, of channel: ChannelKey) throws(StoreFailure) {
        guard let id = try id(of: channel) else { return }
        try connection.run("DELETE FROM locks WHERE channel = ?1 AND name = ?2", .integer(id), .text(name))
    }

    func channelsWithLockOwners() throws(StoreFailure) -> [ChannelKey] {
        var found: [ChannelKey] = []
        try connection.rows(
            """
            SELECT app, type, name FROM channels
            WHERE id IN (SELECT channel FROM locks WHERE owner IS NOT NULL)
            """
        ) { row in found.append(row.channelKey(0)) }
        return found
    }

    // MARK: Usage

    func usage(of app: String) throws(StoreFailure) -> AppUsage {
        if let known = usages[app] { return known }
        var usage = AppUsage()
        try connection.rows(
            """
            SELECT channel_sets, user_sets, locks, history_bytes, metadata_bytes FROM usage WHERE app = ?1
            """, .text(app)
        ) { row in
            usage = AppUsage(
                channelSets: Int(row.integer(0)), userSets: Int(row.integer(1)), locks: Int(row.integer(2)),
                historyBytes: Int(row.integer(3)), metadataBytes: Int(row.integer(4)))
        }
        // The table is as large as the number of apps in the configuration.
        usages[app] = usage
        return usage
    }

    private func save(_ usage: AppUsage, of app: String) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO usage (app, channel_sets, user_sets, locks, history_bytes, metadata_bytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (app) DO UPDATE SET channel_sets = excluded.channel_sets,
                user_sets = excluded.user_sets, locks = excluded.locks,
                history_bytes = excluded.history_bytes, metadata_bytes = excluded.metadata_bytes
            """,
            .text(app), .integer(Int64(usage.channelSets)), .integer(Int64(usage.userSets)),
            .integer(Int64(usage.locks)), .integer(Int64(usage.historyBytes)),
            .integer(Int64(usage.metadataBytes)))
    }

    private func add(_ difference: AppUsage, of app: String) throws(StoreFailure) {
        var usage = try usage(of: app)
        usage.add(difference)
        usages[app] = usage
        changedUsages.insert(app)
    }

    func addHistory(_ bytes: Int, of app: String) throws(StoreFailure) {
        var usage = try usage(of: app)
        usage.historyBytes = max(0, usage.historyBytes + bytes)
        usages[app] = usage
        changedUsages.insert(app)
    }

    func size() throws(StoreFailure) -> StoreSize {
        func number(_ pragma: String) throws(StoreFailure) -> Int {
            try connection.texts("PRAGMA \(pragma)").first.flatMap { Int($0) } ?? 0
        }
        var size = StoreSize()
        size.total = (try number("page_count") - number("freelist_count")) * (try number("page_size"))
        try connection.rows("SELECT app, history_bytes FROM usage") { row in
            size.historyByApp[row.text(0)] = Int(row.integer(1))
        }
        return size
    }

    // MARK: StorageOutbox

    func queue(_ event: StorageOutboxEvent) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO outbox (sequence, source, channel, publisher, feature, event)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            .number(event.sequence), .number(event.source), .integer(try idMaking(event.channel)),
            .text(event.publisher), .integer(Int64(event.feature.rawValue)), .blob(event.event))
    }

    func removeEvents(_ sequences: [ClosedRange<UInt64>]) throws(StoreFailure) {
        for range in sequences {
            try connection.run(
                "DELETE FROM outbox WHERE sequence BETWEEN ?1 AND ?2", .number(range.lowerBound),
                .number(range.upperBound))
        }
    }
}
