import OrderedCollections
import RTMModel
import RTMStorageServer
import RTMWire

/// Everything that a group changes, as statements: one for each table that has changes, however many
/// rows.
struct PostgresGroupWrite {
    /// A statement, and what its answer says.
    struct Part {
        enum Answer: Hashable {
            case nothing
            case expired
            /// Which purge of the group it is.
            case purged(Int)
            case eventsExpired
            /// The last channel that the search for unused channels has visited, and those that it
            /// removed.
            case searched, unused
            case commit
            case size, historySizes
        }

        let statement: PostgresStatement
        var answer = Answer.nothing
    }

    let changes: GroupChanges
    let shard: Int64
    /// Under which epoch and source events are kept.
    let source: UInt64
    let hour: Int64
    /// Up to where everything is announced with this group.
    let position: OutboxPosition
    /// What is announced with it behind that.
    private let announcedBeyond: [ClosedRange<UInt64>]
    /// Messages that have expired by then, in milliseconds (UTC), aren't there.
    let expired: UInt64

    /// - Parameters:
    ///   - position: up to where everything was announced before the group.
    ///   - expired: by when messages have expired, unless the group says so.
    init(
        _ changes: GroupChanges, shard: Int64, source: UInt64, hour: Int64,
        after position: OutboxPosition, expired: UInt64
    ) {
        self.changes = changes
        self.expired = changes.expiry?.time ?? expired
        self.shard = shard
        self.source = source
        self.hour = hour
        var position = position
        announcedBeyond = changes.announced.isEmpty ? [] : position.announced(changes.announced)
        self.position = position
    }

    /// The channels whose ids are needed.
    var channels: Set<ChannelKey> {
        channelsToMake.union(changes.locks.keys.map(\.channel)).union(changes.purges.map(\.channel))
    }

    /// The channels that get an id if they have none. A channel from which only a lock is removed needs
    /// none.
    var channelsToMake: Set<ChannelKey> {
        var all = Set(changes.sets.keys)
        for (lock, change) in changes.locks where change != nil { all.insert(lock.channel) }
        all.formUnion(messages.map(\.channel))
        return all.union(changes.events.map(\.channel))
    }

}

// MARK: - Keeping

extension PostgresGroupWrite {
    /// Everything else, in an order in which no part depends on a later one.
    ///
    /// - Parameters:
    ///   - made: the channels that the group makes; `ids` has these, too.
    ///   - messages: those to add, each at a time of its own.
    ///   - searched: where the search for unused channels continues.
    func statements(
        _ ids: [ChannelKey: Int64], made: [ChannelKey: Int64], messages: [StoredMessage], searched: Int64
    ) -> [Part] {
        func id(_ channel: ChannelKey) -> Int64? { ids[channel] }
        var all: [PostgresStatement] = []
        addChannels(made, &all)
        addMetadata(id, &all)
        addLocks(id, &all)
        addMessages(messages, id, &all)
        addUsages(messages, &all)
        addHistoryUsage(messages, &all)
        addBans(&all)
        if !changes.collected.isEmpty {
            PostgresEventWrite(
                changes: changes.collected, keys: changes.collectedKeys, shard: shard, epoch: source
            ).add(to: &all)
        }
        var parts = all.map { Part(statement: $0) }
        if let expiry = changes.eventsExpiry {
            parts.append(
                Part(
                    statement: PostgresEventWrite.removing(
                        expiry, shard: shard), answer: .eventsExpired
                ))
        }
        all = []
        addReaders(&all)
        all += PostgresAudit(shard: shard).keep(changes.audit)
        addOutbox(id, &all)
        if let cursor = changes.inbox { all += PostgresInbox(shard: shard).keeping(cursor) }
        if let time = changes.expiryClock {
            all.append(
                PostgresStatement(
                    """
                    INSERT INTO clocks (shard, expiry_ms) VALUES ($1, $2)
                    ON CONFLICT (shard) DO UPDATE SET expiry_ms = excluded.expiry_ms
                    """, .integer(shard), .number(time)))
        }
        parts += all.map { Part(statement: $0) }
        if let limit = changes.unusedChannelsLimit { parts += removingUnused(searched, limit: limit) }
        return parts
    }

    private func addChannels(_ made: [ChannelKey: Int64], _ all: inout [PostgresStatement]) {
        guard !made.isEmpty else { return }
        let made = Array(made)
        all.append(
            PostgresStatement(
                """
                INSERT INTO channels (shard, id, app, type, name)
                SELECT $1, u.* FROM unnest($2::int8[], $3::text[], $4::int8[], $5::text[]) u
                """, .integer(shard), .integers(made.map(\.value)), .texts(made.map(\.key.appID)),
                .integers(made.map { Int64($0.key.type.rawValue) }), .texts(made.map(\.key.name))))
    }

    private func addMetadata(_ id: (ChannelKey) -> Int64?, _ all: inout [PostgresStatement]) {
        guard !changes.sets.isEmpty else { return }
        all.append(
            PostgresStatement(
                """
                UPDATE channels c SET metadata_revision = u.revision
                FROM unnest($2::int8[], $3::int8[]) u (id, revision) WHERE c.shard = $1 AND c.id = u.id
                """, .integer(shard), .integers(changes.sets.keys.map(id)),
                .integers(changes.sets.values.map(\.set.majorRevision))))
        var kept: [(channel: Int64?, entry: MetadataSet.Entry)] = []
        var removed: [(channel: Int64?, key: String)] = []
        for (channel, change) in changes.sets {
            for (key, entry) in change.change.entries {
                if let entry {
                    kept.append((id(channel), entry))
                } else {
                    removed.append((id(channel), key))
                }
            }
        }
        if !kept.isEmpty {
            let items = kept.map(\.entry.item)
            all.append(
                PostgresStatement(
                    """
                    INSERT INTO metadata (shard, channel, key, place, value, revision, updated_ms, author)
                    SELECT $1, u.* FROM unnest($2::int8[], $3::bytea[], $4::int8[], $5::bytea[], $6::int8[],
                        $7::int8[], $8::text[]) u
                    ON CONFLICT (shard, channel, key) DO UPDATE SET place = excluded.place,
                        value = excluded.value, revision = excluded.revision,
                        updated_ms = excluded.updated_ms, author = excluded.author
                    """, .integer(shard), .integers(kept.map(\.channel)),
                    .blobs(items.map { Array($0.key.utf8) }), .integers(kept.map(\.entry.place)),
                    .blobs(items.map { Array($0.value.utf8) }), .integers(items.map(\.revision)),
                    .numbers(items.map(\.updatedMilliseconds)), .texts(items.map(\.author))))
        }
        guard !removed.isEmpty else { return }
        all.append(
            PostgresStatement(
                """
                DELETE FROM metadata m USING unnest($2::int8[], $3::bytea[]) u (channel, key)
                WHERE m.shard = $1 AND m.channel = u.channel AND m.key = u.key
                """, .integer(shard), .integers(removed.map(\.channel)),
                .blobs(removed.map { Array($0.key.utf8) })))
    }

    private func addLocks(_ id: (ChannelKey) -> Int64?, _ all: inout [PostgresStatement]) {
        var kept: [(channel: Int64?, lock: LockTable.Lock)] = []
        var removed: [(channel: Int64?, name: String)] = []
        for (name, lock) in changes.locks {
            if let lock {
                kept.append((id(name.channel), lock))
            } else {
                removed.append((id(name.channel), name.name))
            }
        }
        if !kept.isEmpty {
            let locks = kept.map(\.lock)
            all.append(
                PostgresStatement(
                    """
                    INSERT INTO locks (shard, channel, name, ttl_s, owner, instance, token)
                    SELECT $1, u.* FROM unnest($2::int8[], $3::text[], $4::int8[], $5::text[], $6::int8[],
                        $7::int8[]) u
                    ON CONFLICT (shard, channel, name) DO UPDATE SET ttl_s = excluded.ttl_s,
                        owner = excluded.owner, instance = excluded.instance, token = excluded.token
                    """, .integer(shard), .integers(kept.map(\.channel)), .texts(locks.map(\.name)),
                    .integers(locks.map { Int64($0.ttlSeconds) }), .texts(locks.map(\.owner?.user)),
                    .numbers(locks.map { $0.owner?.instance ?? 0 }), .numbers(locks.map(\.token))))
        }
        guard !removed.isEmpty else { return }
        all.append(
            PostgresStatement(
                """
                DELETE FROM locks l USING unnest($2::int8[], $3::text[]) u (channel, name)
                WHERE l.shard = $1 AND l.channel = u.channel AND l.name = u.name
                """, .integer(shard), .integers(removed.map(\.channel)), .texts(removed.map(\.name))))
    }

    private func addUsages(_ messages: [StoredMessage], _ all: inout [PostgresStatement]) {
        var usages = changes.usages
        for message in messages {
            usages[message.channel.appID, default: AppUsage()].historyBytes += message.bytes
        }
        guard !usages.isEmpty else { return }
        let apps = Array(usages)
        all.append(
            PostgresStatement(
                """
                INSERT INTO usage AS a
                    (shard, app, channel_sets, user_sets, locks, history_bytes, metadata_bytes)
                SELECT $1, u.* FROM unnest($2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[],
                    $7::int8[]) u
                ON CONFLICT (app, shard) DO UPDATE SET
                    channel_sets = a.channel_sets + excluded.channel_sets,
                    user_sets = a.user_sets + excluded.user_sets, locks = a.locks + excluded.locks,
                    history_bytes = a.history_bytes + excluded.history_bytes,
                    metadata_bytes = a.metadata_bytes + excluded.metadata_bytes
                """, .integer(shard), .texts(apps.map(\.key)),
                .integers(apps.map { Int64($0.value.channelSets) }),
                .integers(apps.map { Int64($0.value.userSets) }),
                .integers(apps.map { Int64($0.value.locks) }),
                .integers(apps.map { Int64($0.value.historyBytes) }),
                .integers(apps.map { Int64($0.value.metadataBytes) })))
    }

    private func addBans(_ all: inout [PostgresStatement]) {
        if let time = changes.bansEnded {
            all.append(
                PostgresStatement(
                    "DELETE FROM bans WHERE shard = $1 AND until_ms <= $2", .integer(shard), .number(time)
                ))
            all.append(
                PostgresStatement(
                    "DELETE FROM revocations WHERE shard = $1 AND until_ms <= $2", .integer(shard),
                    .number(time)))
        }
        let lifted = changes.bans.filter { $0.value == nil }.map(\.key)
        if !lifted.isEmpty {
            let users = lifted.filter { !$0.isOfTokens }
            let ofTokens = lifted.filter(\.isOfTokens)
            all.append(
                PostgresStatement(
                    """
                    DELETE FROM bans b USING unnest($2::text[], $3::text[]) u (app, username)
                    WHERE b.shard = $1 AND b.app = u.app AND b.username = u.username
                    """, .integer(shard), .texts(users.map(\.appID)), .texts(users.map(\.userID))))
            all.append(
                PostgresStatement(
                    """
                    DELETE FROM revocations b USING unnest($2::text[], $3::text[]) u (app, username)
                    WHERE b.shard = $1 AND b.app = u.app AND b.username = u.username
                    """, .integer(shard), .texts(ofTokens.map(\.appID)), .texts(ofTokens.map(\.userID))))
        }
        let kept = changes.bans.compactMap { user, ban in ban.map { (user: user, ban: $0) } }
        guard !kept.isEmpty else { return }
        let bans = kept.filter { !$0.user.isOfTokens }.map(\.ban)
        let revocations = kept.filter(\.user.isOfTokens).map(\.ban)
        all.append(
            PostgresStatement(
                """
                INSERT INTO bans (shard, app, username, until_ms, reason, since_ms, operator)
                SELECT $1, u.* FROM unnest($2::text[], $3::text[], $4::int8[], $5::bytea[], $6::int8[],
                    $7::bytea[]) u
                ON CONFLICT (shard, app, username) DO UPDATE SET until_ms = excluded.until_ms,
                    reason = excluded.reason, since_ms = excluded.since_ms, operator = excluded.operator
                """, values: [.integer(shard)] + Self.columns(bans)))
        all.append(
            PostgresStatement(
                """
                INSERT INTO revocations
                    (shard, app, username, until_ms, reason, since_ms, operator, tokens_before_s)
                SELECT $1, u.* FROM unnest($2::text[], $3::text[], $4::int8[], $5::bytea[], $6::int8[],
                    $7::bytea[], $8::int8[]) u
                ON CONFLICT (shard, app, username) DO UPDATE SET until_ms = excluded.until_ms,
                    reason = excluded.reason, since_ms = excluded.since_ms, operator = excluded.operator,
                    tokens_before_s = excluded.tokens_before_s
                """,
                values: [.integer(shard)] + Self.columns(revocations)
                    + [.numbers(revocations.map(\.tokensBeforeSeconds))]))
    }

    private static func columns(_ bans: [Ban]) -> [PostgresValue] {
        [
            .texts(bans.map(\.appID)), .texts(bans.map(\.userID)),
            .numbers(bans.map(\.untilMilliseconds)),
            .blobs(bans.map { Array($0.reason.utf8) }), .numbers(bans.map(\.sinceMilliseconds)),
            .blobs(bans.map { Array($0.by.utf8) }),
        ]
    }

    private func addReaders(_ all: inout [PostgresStatement]) {
        let forgotten = Array(changes.forgottenReaders)
        if !forgotten.isEmpty {
            let values: [PostgresValue] = [
                .integer(shard), .texts(forgotten.map(\.appID)),
                .blobs(forgotten.map { Array($0.name.utf8) }),
            ]
            all.append(
                PostgresStatement(
                    """
                    DELETE FROM dead_letters l USING unnest($2::text[], $3::bytea[]) u (app, name)
                    WHERE l.shard = $1 AND l.app = u.app AND l.reader = u.name
                    """, values: values))
            all.append(
                PostgresStatement(
                    """
                    DELETE FROM event_readers r USING unnest($2::text[], $3::bytea[]) u (app, name)
                    WHERE r.shard = $1 AND r.app = u.app AND r.name = u.name
                    """, values: values))
        }
        let kept = changes.readers.compactMap { key, reader in reader.map { (key: key, reader: $0) } }
        if !kept.isEmpty {
            let readers = kept.map(\.reader)
            all.append(
                PostgresStatement(
                    """
                    INSERT INTO event_readers
                        (shard, app, name, owner, term, lease_end_ms, epoch, position, state, last_letter)
                    SELECT $1, u.* FROM unnest($2::text[], $3::bytea[], $4::text[], $5::int8[], $6::int8[],
                        $7::int8[], $8::int8[], $9::bytea[], $10::int8[]) u
                    ON CONFLICT (shard, app, name) DO UPDATE SET owner = excluded.owner,
                        term = excluded.term, lease_end_ms = excluded.lease_end_ms, epoch = excluded.epoch,
                        position = excluded.position, state = excluded.state,
                        last_letter = excluded.last_letter
                    """, .integer(shard), .texts(kept.map(\.key.appID)),
                    .blobs(kept.map { Array($0.key.name.utf8) }), .texts(readers.map(\.owner)),
                    .numbers(readers.map(\.term)), .numbers(readers.map(\.leaseEnd)),
                    .numbers(readers.map(\.position.epoch)), .numbers(readers.map(\.position.offset)),
                    .blobs(readers.map(\.state)), .numbers(readers.map(\.lastLetter))))
        }
        for change in changes.letters { addLetters(change, &all) }
    }

    /// A later letter of the same event replaces the earlier one, in a change as well.
    private func addLetters(_ change: GroupChanges.LettersChange, _ all: inout [PostgresStatement]) {
        let reader: [PostgresValue] = [
            .integer(shard), .text(change.reader.appID), .bytes(Array(change.reader.name.utf8)),
        ]
        var letters: [DeadLetter] = []
        for letter in change.kept {
            letters.removeAll { $0.position == letter.position }
            letters.append(letter)
        }
        all.append(
            PostgresStatement(
                """
                DELETE FROM dead_letters WHERE shard = $1 AND app = $2 AND reader = $3
                    AND (number = ANY($4) OR (epoch, position) IN (SELECT * FROM unnest($5::int8[], $6::int8[])))
                """,
                values: reader + [
                    .numbers(change.removed), .numbers(letters.map(\.position.epoch)),
                    .numbers(letters.map(\.position.offset)),
                ]))
        guard let last = letters.last?.number else { return }
        all.append(
            PostgresStatement(
                """
                INSERT INTO dead_letters (shard, app, reader, number, epoch, position, time_ms, reason, body)
                SELECT $1, $2, $3, u.* FROM unnest($4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::bytea[],
                    $9::bytea[]) u
                """,
                values: reader + [
                    .numbers(letters.map(\.number)), .numbers(letters.map(\.position.epoch)),
                    .numbers(letters.map(\.position.offset)), .numbers(letters.map(\.timeMilliseconds)),
                    .blobs(letters.map { Array($0.reason.utf8) }), .blobs(letters.map(\.body)),
                ]))
        guard last > UInt64(EventReaderState.lettersMax) else { return }
        all.append(
            PostgresStatement(
                """
                WITH d AS (DELETE FROM dead_letters WHERE shard = $1 AND app = $2 AND reader = $3
                    AND number <= $4 RETURNING 1)
                UPDATE event_readers SET dropped = dropped + (SELECT count(*) FROM d)
                WHERE shard = $1 AND app = $2 AND name = $3
                """, values: reader + [.number(last - UInt64(EventReaderState.lettersMax))]))
    }

    private func addOutbox(_ id: (ChannelKey) -> Int64?, _ all: inout [PostgresStatement]) {
        if !announcedBeyond.isEmpty {
            all.append(
                PostgresStatement(
                    """
                    INSERT INTO outbox (shard, sequence, hour, is_announced)
                    SELECT $1, o.sequence, o.hour, true FROM unnest($2::int8[], $3::int8[]) r (lower, upper)
                    CROSS JOIN LATERAL (SELECT sequence, hour FROM outbox WHERE shard = $1
                        AND sequence BETWEEN r.lower AND r.upper AND NOT is_announced OFFSET 0) o
                    ON CONFLICT DO NOTHING
                    """, .integer(shard), .numbers(announcedBeyond.map(\.lowerBound)),
                    .numbers(announcedBeyond.map(\.upperBound))))
        }
        guard !changes.events.isEmpty else { return }
        let events = changes.events
        all.append(
            PostgresStatement(
                """
                INSERT INTO outbox (shard, hour, sequence, source, channel, publisher, feature, event)
                SELECT $1, $2, u.* FROM unnest($3::int8[], $4::int8[], $5::int8[], $6::text[], $7::int8[],
                    $8::bytea[]) u
                """, .integer(shard), .integer(hour), .numbers(events.map(\.sequence)),
                .numbers(events.map(\.source)), .integers(events.map { id($0.channel) }),
                .texts(events.map(\.publisher)), .integers(events.map { Int64($0.feature.rawValue) }),
                .blobs(events.map(\.event))))
    }
}

// MARK: - Cleaning up

extension PostgresGroupWrite {
    /// Removes channels that nothing refers to. Where many events wait nothing is searched, because the
    /// search goes through all of them.
    private func removingUnused(_ searched: Int64, limit: Int) -> [Part] {
        let values: [PostgresValue] = [
            .integer(shard), .integer(searched), .integer(Int64(limit)), .number(position.sequence),
            .number(expired),
        ]
        return [
            Part(
                statement: PostgresStatement(
                    """
                    DELETE FROM channels c WHERE c.shard = $1 AND c.id > $2 AND c.id <= (
                            SELECT max(id) FROM (
                                SELECT id FROM channels WHERE shard = $1 AND id > $2 ORDER BY id LIMIT $3) w)
                        AND (SELECT count(*) FROM (SELECT 1 FROM outbox
                            WHERE shard = $1 AND sequence > $4 LIMIT 1001) o) <= 1000
                        AND c.metadata_revision = 0
                        AND NOT EXISTS (SELECT 1 FROM locks l WHERE l.shard = $1 AND l.channel = c.id)
                        AND (SELECT count(*) FROM (SELECT 1 FROM history h
                            WHERE h.shard = $1 AND h.channel = c.id AND h.expiry_ms > $5 LIMIT 1) x) = 0
                        AND c.id NOT IN (SELECT channel FROM outbox
                            WHERE shard = $1 AND sequence > $4 AND NOT is_announced)
                    RETURNING app, type, name
                    """, values: values), answer: .unused),
            Part(
                statement: PostgresStatement(
                    """
                    SELECT CASE WHEN (SELECT count(*) FROM (
                            SELECT 1 FROM outbox WHERE shard = $1 AND sequence > $4 LIMIT 1001) o) > 1000
                        THEN $2
                        ELSE coalesce((SELECT max(id) FROM (
                            SELECT id FROM channels WHERE shard = $1 AND id > $2 ORDER BY id LIMIT $3) w), 0) END
                    """, values: Array(values.dropLast())), answer: .searched),
        ]
    }

    /// How much room everything takes, and the stored messages of each app. They stand behind the commit.
    static func sizes(_ shard: Int64) -> [Part] {
        [
            Part(
                statement: PostgresStatement(
                    """
                    SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class
                    WHERE relnamespace = 'heliograph'::regnamespace AND relkind = 'r'
                    """), answer: .size),
            Part(
                statement: PostgresStatement(
                    "SELECT app, history_bytes FROM usage WHERE shard = $1", .integer(shard)),
                answer: .historySizes),
        ]
    }
}
