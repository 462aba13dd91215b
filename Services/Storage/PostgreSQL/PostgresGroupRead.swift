import RTMModel
import RTMStorageServer
import RTMWire

/// Everything that a group of calls needs, read in one pipeline: a statement for each table that has
/// keys.
struct PostgresGroupRead {
    /// Limit: channels and users that are announced as vacated or offline in one group.
    private static let settledMax: Int64 = 1_000

    private typealias Taking = (PostgresRows, inout GroupState) -> Void

    private let keys: GroupKeys
    private let shard: Int64
    private let channels: [ChannelKey]
    private let channelSearch: ChannelSearch?
    private let historySearch: HistorySearch?
    private var parts: [(statement: PostgresStatement, take: Taking)] = []

    /// - Parameters:
    ///   - messages: those of the keys that may be kept already.
    ///   - expired: messages that have expired by then, in milliseconds (UTC), aren't there.
    init(_ keys: GroupKeys, shard: Int64, messages: [StoredMessage], expired: UInt64) {
        self.keys = keys
        self.shard = shard
        channels = Array(keys.sets.union(keys.locks))
        channelSearch = channels.isEmpty ? nil : ChannelSearch(channels, shard: shard)
        historySearch =
            messages.isEmpty ? nil : HistorySearch(messages, shard: shard, expired: expired)
        addMetadata()
        addLocks()
        addUsages()
        addBans()
        addReaders()
        addEvents()
    }

    var statements: [PostgresStatement] {
        (channelSearch.map { [$0.statement] } ?? []) + (historySearch?.statements ?? [])
            + parts.map(\.statement)
    }

    /// Takes what the statements have returned. Returns what is known of the messages of the group.
    func take(
        _ rows: [PostgresRows], into state: inout GroupState, remember: (ChannelKey, Int64) -> Void
    ) -> HistoryLookup {
        var rows = rows[...]
        for channel in keys.sets { state.sets[channel] = MetadataSet() }
        for channel in keys.locks { state.locks[channel] = LockTable() }
        for app in keys.apps { state.usages[app] = AppUsage() }
        for app in keys.eventApps { state.eventApps[app] = EventApp() }
        if let channelSearch, let found = rows.popFirst() {
            for (channel, id, revision) in channelSearch.take(found) {
                remember(channel, id)
                if keys.sets.contains(channel) {
                    state.sets[channel] = MetadataSet(majorRevision: revision)
                }
            }
        }
        var lookup = HistoryLookup()
        if let historySearch {
            lookup = historySearch.take(rows.prefix(2))
            rows = rows.dropFirst(2)
        }
        for (part, rows) in zip(parts, rows) { part.take(rows, &state) }
        for message in keys.messagesToSearch(state.usages) where lookup.isKept(message) {
            state.messages.insert(message.identity)
        }
        return lookup
    }

    private mutating func add(
        _ sql: StaticString, _ first: PostgresValue, _ others: PostgresValue..., take: @escaping Taking
    ) {
        let statement = PostgresStatement(sql, values: [first] + others)
        parts.append((statement, take))
    }

    private mutating func addMetadata() {
        let sets = Array(keys.sets)
        guard !sets.isEmpty else { return }
        add(
            """
            SELECT u.i, m.place, m.key, m.value, m.revision, m.updated_ms, m.author
            FROM unnest($2::text[], $3::int8[], $4::text[]) WITH ORDINALITY u (app, type, name, i)
            JOIN channels c ON c.shard = $1 AND c.app = u.app AND c.type = u.type AND c.name = u.name
            JOIN metadata m ON m.shard = $1 AND m.channel = c.id
            ORDER BY u.i, m.place
            """, .integer(shard), .texts(sets.map(\.appID)),
            .integers(sets.map { Int64($0.type.rawValue) }), .texts(sets.map(\.name))
        ) { rows, state in
            var entries: [ChannelKey: [MetadataSet.Entry]] = [:]
            for row in rows {
                entries[sets[Int(row.integer(0)) - 1], default: []].append(row.metadata(1))
            }
            for (channel, entries) in entries {
                state.sets[channel] = MetadataSet(
                    majorRevision: state.sets[channel]?.majorRevision ?? 0, entries: entries)
            }
        }
    }

    private mutating func addLocks() {
        let tables = Array(keys.locks)
        guard !tables.isEmpty else { return }
        add(
            """
            SELECT u.i, l.name, l.ttl_s, l.owner, l.instance, l.token
            FROM unnest($2::text[], $3::int8[], $4::text[]) WITH ORDINALITY u (app, type, name, i)
            JOIN channels c ON c.shard = $1 AND c.app = u.app AND c.type = u.type AND c.name = u.name
            JOIN locks l ON l.shard = $1 AND l.channel = c.id
            """, .integer(shard), .texts(tables.map(\.appID)),
            .integers(tables.map { Int64($0.type.rawValue) }), .texts(tables.map(\.name))
        ) { rows, state in
            for row in rows { state.locks[tables[Int(row.integer(0)) - 1]]?.take(row.lock(1)) }
        }
    }

    private mutating func addUsages() {
        guard !keys.apps.isEmpty else { return }
        add(
            """
            SELECT app, sum(channel_sets)::int8, sum(user_sets)::int8, sum(locks)::int8,
                sum(history_bytes)::int8, sum(metadata_bytes)::int8
            FROM usage WHERE app = ANY($1) GROUP BY app
            """, .texts(Array(keys.apps))
        ) { rows, state in
            for row in rows {
                state.usages[row.text(0)] = AppUsage(
                    channelSets: Int(row.integer(1)), userSets: Int(row.integer(2)),
                    locks: Int(row.integer(3)), historyBytes: Int(row.integer(4)),
                    metadataBytes: Int(row.integer(5)))
            }
        }
    }

    private mutating func addBans() {
        guard keys.listsBans || !keys.bans.isEmpty else { return }
        let users = Array(keys.bans)
        let take: Taking = { rows, state in
            for row in rows {
                let ban = row.ban(0)
                state.bans[BannedUser(ban)] = ban
            }
        }
        if keys.listsBans {
            add(
                """
                SELECT app, username, until_ms, 0::int8, reason, since_ms, operator FROM bans
                WHERE shard = $1 AND until_ms > $2
                UNION ALL
                SELECT app, username, until_ms, tokens_before_s, reason, since_ms, operator
                FROM revocations WHERE shard = $1 AND until_ms > $2
                """, .integer(shard), .number(keys.now), take: take)
        } else {
            add(
                """
                SELECT b.app, b.username, b.until_ms, 0::int8, b.reason, b.since_ms, b.operator
                FROM unnest($3::text[], $4::text[], $5::int8[]) u (app, username, is_of_tokens)
                JOIN bans b ON b.shard = $1 AND b.app = u.app AND b.username = u.username
                WHERE b.until_ms > $2 AND u.is_of_tokens = 0
                UNION ALL
                SELECT b.app, b.username, b.until_ms, b.tokens_before_s, b.reason, b.since_ms, b.operator
                FROM unnest($3::text[], $4::text[], $5::int8[]) u (app, username, is_of_tokens)
                JOIN revocations b ON b.shard = $1 AND b.app = u.app AND b.username = u.username
                WHERE b.until_ms > $2 AND u.is_of_tokens = 1
                """, .integer(shard), .number(keys.now), .texts(users.map(\.appID)),
                .texts(users.map(\.userID)), .integers(users.map { $0.isOfTokens ? 1 : 0 }), take: take)
        }
        add(
            """
            SELECT (SELECT count(*) FROM bans WHERE until_ms > $1)
                + (SELECT count(*) FROM revocations WHERE until_ms > $1)
            """, .number(keys.now)
        ) { rows, state in state.banCount = Int(rows.first?.integer(0) ?? 0) }
    }

    private mutating func addReaders() {
        guard !keys.readers.isEmpty else { return }
        let readers = Array(keys.readers)
        add(
            """
            SELECT u.i, r.owner, r.term, r.lease_end_ms, r.epoch, r.position, r.state, r.last_letter
            FROM unnest($2::text[], $3::bytea[]) WITH ORDINALITY u (app, name, i)
            JOIN event_readers r ON r.shard = $1 AND r.app = u.app AND r.name = u.name
            """, .integer(shard), .texts(readers.map(\.appID)),
            .blobs(readers.map { Array($0.name.utf8) })
        ) { rows, state in
            for row in rows {
                var reader = EventReaderState(at: row.position(4))
                (reader.owner, reader.term, reader.leaseEnd) = (row.text(1), row.number(2), row.number(3))
                (reader.state, reader.lastLetter) = (row.blob(6), row.number(7))
                state.readers[readers[Int(row.integer(0)) - 1]] = reader
            }
        }
    }

    private mutating func addEvents() {
        addEventApps()
        addEventKeys()
        guard !keys.settled.isEmpty else { return }
        let settled = Array(keys.settled)
        add(
            """
            SELECT u.app, k.type, k.name, k.number, k.position, k.members, k.occupied, k.due_ms
            FROM unnest($2::text[], $3::int8[]) u (app, time) CROSS JOIN LATERAL (
                SELECT * FROM event_keys k WHERE k.shard = $1 AND k.app = u.app AND k.due_ms IS NOT NULL
                    AND k.due_ms <= u.time ORDER BY k.due_ms LIMIT $4) k
            """, .integer(shard), .texts(settled.map(\.key)), .numbers(settled.map(\.value)),
            .integer(Self.settledMax)
        ) { rows, state in
            for row in rows { state.eventKeys[row.channelKey(0)] = row.eventKey(3) }
        }
    }

    private mutating func addEventApps() {
        let apps = Array(keys.eventApps)
        guard !apps.isEmpty else { return }
        add(
            """
            SELECT a.app, a.newest, coalesce((SELECT e.epoch FROM event_epochs e WHERE e.shard = $1
                    AND e.app = a.app
                ORDER BY e.after_offset < a.newest DESC,
                    CASE WHEN e.after_offset < a.newest THEN -e.after_offset ELSE e.after_offset END
                LIMIT 1), 0)
            FROM event_apps a WHERE a.shard = $1 AND a.app = ANY($2)
            """, .integer(shard), .texts(apps)
        ) { rows, state in
            for row in rows {
                state.eventApps[row.text(0)]?.newest = StreamPosition(
                    epoch: row.number(2), offset: row.number(1))
            }
        }
        add(
            "SELECT app, count(*) FROM event_readers WHERE shard = $1 AND app = ANY($2) GROUP BY app",
            .integer(shard), .texts(apps)
        ) { rows, state in
            for row in rows { state.eventApps[row.text(0)]?.readers = Int(row.integer(1)) }
        }
        add(
            """
            SELECT app, feed, epoch, sequence, part, position, read_ms FROM event_feeds
            WHERE shard = $1 AND app = ANY($2)
            """, .integer(shard), .texts(apps)
        ) { rows, state in
            for row in rows {
                let (key, mark) = row.feed
                state.eventFeeds[key] = mark
            }
        }
    }

    private mutating func addEventKeys() {
        let known = Array(keys.eventKeys)
        if !known.isEmpty {
            add(
                """
                SELECT u.app, u.type, u.name, k.number, k.position, k.members, k.occupied, k.due_ms
                FROM unnest($2::text[], $3::int8[], $4::text[]) u (app, type, name)
                JOIN event_keys k ON k.shard = $1 AND k.app = u.app AND k.type = u.type AND k.name = u.name
                """, .integer(shard), .texts(known.map(\.appID)),
                .integers(known.map { Int64($0.type.rawValue) }), .texts(known.map(\.name))
            ) { rows, state in
                for row in rows { state.eventKeys[row.channelKey(0)] = row.eventKey(3) }
            }
        }
        let members = Array(keys.eventMembers)
        guard !members.isEmpty else { return }
        add(
            """
            SELECT u.i FROM unnest($2::text[], $3::int8[], $4::text[], $5::text[]) WITH ORDINALITY
                u (app, type, name, username, i)
            JOIN event_members m ON m.shard = $1 AND m.app = u.app AND m.type = u.type AND m.name = u.name
                AND m.username = u.username
            """, .integer(shard), .texts(members.map(\.channel.appID)),
            .integers(members.map { Int64($0.channel.type.rawValue) }),
            .texts(members.map(\.channel.name)), .texts(members.map(\.user))
        ) { rows, state in
            for row in rows { state.eventMembers.insert(members[Int(row.integer(0)) - 1]) }
        }
    }
}

extension PostgresRow {
    /// Reads the place in a feed from seven columns, beginning with the app.
    var feed: (EventLogs.FeedKey, EventLogs.FeedMark) {
        let position = FeedPosition(
            epoch: number(2), sequence: number(3), partition: UInt32(truncatingIfNeeded: integer(4)),
            offset: number(5))
        return (
            .init(appID: text(0), shard: UInt32(truncatingIfNeeded: integer(1))),
            .init(position: position, time: number(6))
        )
    }
}
