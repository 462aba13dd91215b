import OrderedCollections
import RTMModel
import RTMWire

/// The events of apps, in a SQLite file.
struct SQLiteEvents {
    /// A mark is kept once in so many milliseconds. An event stays for up to so much longer than it should.
    private static let markInterval: UInt64 = 60_000

    let connection: SQLiteConnection

    fileprivate struct App {
        let id: Int64
        let newest: UInt64
        let removed: UInt64
        /// What its events take.
        let bytes: Int
    }

    private func app(_ name: String) throws(StoreFailure) -> App? {
        var found: App?
        try connection.rows(
            "SELECT id, newest, removed, bytes FROM event_apps WHERE app = ?1", .text(name)
        ) { row in found = row.eventApp }
        return found
    }
}

// MARK: - Reading

extension SQLiteEvents {
    /// The position of the newest event, and the one before the oldest.
    func bounds(of name: String) throws(StoreFailure) -> (newest: StreamPosition, oldest: StreamPosition) {
        guard let app = try app(name) else { return EventLog().bounds }
        return try log(of: app).bounds
    }

    private func log(of app: App) throws(StoreFailure) -> EventLog {
        EventLog(newest: app.newest, removed: app.removed, epochs: try epochs(of: app.id))
    }

    /// The page of events that a request asks for, without waiting.
    func page(_ request: EventsRequest, limit: Int) throws(StoreFailure) -> EventsResponse {
        guard let app = try app(request.appID) else { return EventLog().page(request).response }
        let log = try log(of: app)
        var page = log.page(request)
        guard page.wantsMore else { return page.response }
        try connection.firstRows(
            """
            SELECT offset, type, key_type, key, number, time_ms, body FROM events
            WHERE app = ?1 AND offset > ?2 ORDER BY offset
            """, .integer(app.id), .number(page.last)
        ) { row in
            let offset = row.number(0)
            return page.take(row.appEvent(at: log.epochs.position(offset)), at: offset, limit: limit)
        }
        return page.response
    }

    private func epochs(of app: Int64) throws(StoreFailure) -> EventEpochs {
        var epochs = EventEpochs()
        try connection.rows(
            "SELECT after, epoch FROM event_epochs WHERE app = ?1 ORDER BY after", .integer(app)
        ) { row in epochs.beginnings.append((row.number(0), row.number(1))) }
        return epochs
    }

    func feeds(of name: String) throws(StoreFailure) -> [EventLogs.FeedKey: EventLogs.FeedMark] {
        var found: [EventLogs.FeedKey: EventLogs.FeedMark] = [:]
        guard let app = try app(name) else { return found }
        try connection.rows(
            """
            SELECT shard, epoch, sequence, partition, offset, read_ms FROM event_feeds WHERE app = ?1
            """, .integer(app.id)
        ) { row in
            let shard = UInt32(truncatingIfNeeded: row.integer(0))
            found[.init(appID: name, shard: shard)] = .init(
                position: FeedPosition(
                    epoch: row.number(1), sequence: row.number(2),
                    partition: UInt32(truncatingIfNeeded: row.integer(3)), offset: row.number(4)),
                time: row.number(5))
        }
        return found
    }

    func key(_ key: ChannelKey) throws(StoreFailure) -> EventKey? {
        guard let app = try app(key.appID) else { return nil }
        var found: EventKey?
        try connection.rows(
            """
            SELECT number, offset, members, occupied, due_ms FROM event_keys
            WHERE app = ?1 AND type = ?2 AND name = ?3
            """, .integer(app.id), .integer(Int64(key.type.rawValue)), .text(key.name)
        ) { row in found = row.eventKey(0) }
        return found
    }

    func has(_ member: EventMember) throws(StoreFailure) -> Bool {
        guard let app = try app(member.channel.appID) else { return false }
        var has = false
        try connection.rows(
            "SELECT 1 FROM event_members WHERE app = ?1 AND type = ?2 AND name = ?3 AND user = ?4",
            .integer(app.id), .integer(Int64(member.channel.type.rawValue)), .text(member.channel.name),
            .text(member.user)
        ) { _ in has = true }
        return has
    }

    /// The channels and users about which something has to be announced by then.
    func due(of name: String, upTo time: UInt64, limit: Int) throws(StoreFailure) -> [ChannelKey: EventKey] {
        guard let app = try app(name) else { return [:] }
        var found: [ChannelKey: EventKey] = [:]
        try connection.rows(
            """
            SELECT type, name, number, offset, members, occupied, due_ms FROM event_keys
            WHERE app = ?1 AND due_ms IS NOT NULL AND due_ms <= ?2 ORDER BY due_ms LIMIT ?3
            """, .integer(app.id), .number(time), .integer(Int64(limit))
        ) { row in
            let type = ChannelType(rawValue: Int(row.integer(0))) ?? .none
            found[ChannelKey(appID: name, type: type, name: row.text(1))] = row.eventKey(2)
        }
        return found
    }
}

// MARK: - Writing

extension SQLiteEvents {
    /// - Parameter epoch: the epoch of the events that are kept from now on.
    func keep(
        _ changes: EventLogs.Changes, _ keys: [ChannelKey: EventKey], epoch: UInt64
    ) throws(StoreFailure) {
        let now = changes.feeds.values.map(\.time).max() ?? changes.events.last?.time ?? 0
        var ids: [String: Int64] = [:]
        for name in Set(changes.feeds.keys.map(\.appID) + changes.keys.map(\.appID)) {
            ids[name] = try begin(name, epoch: epoch)
        }
        for event in changes.events { try insert(event, ids[event.key.appID] ?? 0) }
        for key in changes.keys { try save(keys[key] ?? EventKey(), key, ids[key.appID] ?? 0) }
        for (member, isThere) in changes.members {
            try save(member, isThere: isThere, ids[member.channel.appID] ?? 0)
        }
        for (feed, mark) in changes.feeds { try save(mark, feed, ids[feed.appID] ?? 0) }
        for (name, id) in ids {
            let events = changes.events.filter { $0.key.appID == name }
            guard let newest = events.last?.offset else { continue }
            try connection.run(
                "UPDATE event_apps SET newest = ?2, bytes = bytes + ?3 WHERE id = ?1", .integer(id),
                .number(newest), .integer(Int64(events.reduce(0) { $0 + $1.bytes })))
            try connection.run(
                """
                INSERT INTO event_marks (app, time_ms, offset) VALUES (?1, ?2, ?3)
                ON CONFLICT (app, time_ms) DO UPDATE SET offset = excluded.offset
                """, .integer(id), .number((now / Self.markInterval + 1) * Self.markInterval), .number(newest)
            )
        }
    }

    /// The app's id. Its events belong to this epoch from now on.
    private func begin(_ name: String, epoch: UInt64) throws(StoreFailure) -> Int64 {
        try connection.run(
            "INSERT INTO event_apps (app) VALUES (?1) ON CONFLICT (app) DO NOTHING", .text(name))
        guard let app = try app(name) else { return 0 }
        try connection.run(
            """
            INSERT INTO event_epochs (app, after, epoch) SELECT ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM event_epochs WHERE app = ?1 AND epoch = ?3)
            ON CONFLICT (app, after) DO UPDATE SET epoch = excluded.epoch
            """, .integer(app.id), .number(app.newest), .number(epoch))
        return app.id
    }

    private func insert(_ event: StoredEvent, _ app: Int64) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO events (app, offset, type, key_type, key, number, time_ms, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            .integer(app), .number(event.offset), .integer(Int64(event.type.rawValue)),
            .integer(Int64(event.key.type.rawValue)), .text(event.key.name), .number(event.number),
            .number(event.time), .blob(event.body))
    }

    private func save(_ state: EventKey, _ key: ChannelKey, _ app: Int64) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO event_keys (app, type, name, number, offset, members, occupied, due_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (app, type, name) DO UPDATE SET number = excluded.number, offset = excluded.offset,
                members = excluded.members, occupied = excluded.occupied, due_ms = excluded.due_ms
            """,
            .integer(app), .integer(Int64(key.type.rawValue)), .text(key.name), .number(state.number),
            .number(state.offset), .integer(Int64(state.members)), .integer(state.isOccupied ? 1 : 0),
            state.due.map { .number($0) } ?? .null)
    }

    private func save(_ member: EventMember, isThere: Bool, _ app: Int64) throws(StoreFailure) {
        let channel = member.channel
        if isThere {
            try connection.run(
                "INSERT OR IGNORE INTO event_members (app, type, name, user) VALUES (?1, ?2, ?3, ?4)",
                .integer(app), .integer(Int64(channel.type.rawValue)), .text(channel.name), .text(member.user)
            )
        } else {
            try connection.run(
                "DELETE FROM event_members WHERE app = ?1 AND type = ?2 AND name = ?3 AND user = ?4",
                .integer(app), .integer(Int64(channel.type.rawValue)), .text(channel.name), .text(member.user)
            )
        }
    }

    private func save(
        _ mark: EventLogs.FeedMark, _ feed: EventLogs.FeedKey, _ app: Int64
    ) throws(StoreFailure) {
        let position = mark.position
        try connection.run(
            """
            INSERT INTO event_feeds (app, shard, epoch, sequence, partition, offset, read_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (app, shard) DO UPDATE SET epoch = excluded.epoch, sequence = excluded.sequence,
                partition = excluded.partition, offset = excluded.offset, read_ms = excluded.read_ms
            """,
            .integer(app), .integer(Int64(feed.shard)), .number(position.epoch), .number(position.sequence),
            .integer(Int64(position.partition)), .number(position.offset), .number(mark.time))
    }

    /// Removes events whose time is over, a range at a time, and what is known of keys without events.
    ///
    /// - Returns: how many events were removed.
    func remove(_ expiry: GroupChanges.EventsExpiry) throws(StoreFailure) -> Int {
        var apps: [(name: String, app: App)] = []
        try connection.rows("SELECT id, newest, removed, bytes, app FROM event_apps") { row in
            apps.append((row.text(4), row.eventApp))
        }
        var removed = 0
        for (name, app) in apps {
            let cutoff = expiry.cutoffs[name] ?? UInt64(Int64.max)
            var target = try beyondShare(of: app, expiry)
            try connection.rows(
                "SELECT max(offset) FROM event_marks WHERE app = ?1 AND time_ms <= ?2", .integer(app.id),
                .number(cutoff)
            ) { row in target = max(target, row.number(0)) }
            let end = min(target, app.removed + UInt64(expiry.limit))
            guard end > app.removed else { continue }
            try connection.run(
                """
                UPDATE event_apps SET bytes = bytes - (
                    SELECT coalesce(sum(length(body) + length(CAST(key AS BLOB)) + 64), 0) FROM events
                    WHERE app = ?1 AND offset <= ?2) WHERE id = ?1
                """, .integer(app.id), .number(end))
            removed += try connection.run(
                "DELETE FROM events WHERE app = ?1 AND offset <= ?2", .integer(app.id), .number(end))
            try connection.run(
                "UPDATE event_apps SET removed = ?2 WHERE id = ?1", .integer(app.id), .number(end))
            try connection.run(
                "DELETE FROM event_marks WHERE app = ?1 AND offset <= ?2", .integer(app.id), .number(end))
            try connection.run(
                """
                DELETE FROM event_epochs WHERE app = ?1 AND after <
                    (SELECT max(after) FROM event_epochs WHERE app = ?1 AND after < ?2)
                """, .integer(app.id), .number(max(end, 1)))
            guard end == target else { continue }
            try connection.run(
                """
                DELETE FROM event_keys WHERE app = ?1 AND offset <= ?2 AND members = 0 AND occupied = 0
                    AND due_ms IS NULL
                """, .integer(app.id), .number(end))
        }
        return removed
    }

    /// Up to where the oldest events have to go, so that the app has no more than its share.
    private func beyondShare(
        of app: App, _ expiry: GroupChanges.EventsExpiry
    ) throws(StoreFailure) -> UInt64 {
        guard let bytesMax = expiry.bytesMax, app.bytes > bytesMax else { return app.removed }
        var target = app.removed
        try connection.rows(
            """
            SELECT max(offset) FROM (
                SELECT offset, sum(size) OVER (ORDER BY offset) - size AS ahead FROM (
                    SELECT offset, length(body) + length(CAST(key AS BLOB)) + 64 AS size FROM events
                    WHERE app = ?1 ORDER BY offset LIMIT ?2))
            WHERE ahead < ?3
            """, .integer(app.id), .integer(Int64(expiry.limit)), .integer(Int64(app.bytes - bytesMax))
        ) { row in target = max(target, row.number(0)) }
        return target
    }
}

extension SQLiteStatement {
    /// Of the first four columns.
    fileprivate var eventApp: SQLiteEvents.App {
        .init(id: integer(0), newest: number(1), removed: number(2), bytes: Int(integer(3)))
    }

    fileprivate func eventKey(_ column: Int32) -> EventKey {
        // A due time is never 0, which stands for NULL here.
        let due = number(column + 4)
        return EventKey(
            number: number(column), offset: number(column + 1), members: Int(integer(column + 2)),
            isOccupied: integer(column + 3) != 0, due: due == 0 ? nil : due)
    }

    /// Nil for what a newer version has written.
    fileprivate func appEvent(at position: StreamPosition) -> AppEvent? {
        guard let type = AppEventType(rawValue: Int(integer(1))) else { return nil }
        return AppEvent(
            position: position, type: type, keyType: ChannelType(rawValue: Int(integer(2))) ?? .none,
            key: text(3), number: number(4), timeMilliseconds: number(5), body: blob(6))
    }
}
