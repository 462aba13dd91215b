import OrderedCollections
import RTMModel
import RTMStorageServer
import RTMWire

/// The events of apps that a group keeps, as statements.
struct PostgresEventWrite {
    /// A mark is kept once in so many milliseconds. An event stays for up to so much longer than it
    /// should.
    private static let markInterval: UInt64 = 60_000

    let changes: EventLogs.Changes
    let keys: [ChannelKey: EventKey]
    let shard: Int64
    /// Of the events that are kept from now on.
    let epoch: UInt64

    func add(to all: inout [PostgresStatement]) {
        beginApps(&all)
        addEvents(&all)
        addKeys(&all)
        addMembers(&all)
        addFeeds(&all)
        addMarks(&all)
    }

    private func beginApps(_ all: inout [PostgresStatement]) {
        let apps = Array(Set(changes.feeds.keys.map(\.appID) + changes.keys.map(\.appID))).sorted()
        all.append(
            PostgresStatement(
                """
                INSERT INTO event_apps (shard, app) SELECT $1, u FROM unnest($2::text[]) u
                ON CONFLICT (shard, app) DO NOTHING
                """, .integer(shard), .texts(apps)))
        all.append(
            PostgresStatement(
                """
                INSERT INTO event_epochs (shard, app, after_offset, epoch)
                SELECT $1, a.app, a.newest, $3 FROM event_apps a WHERE a.shard = $1 AND a.app = ANY($2)
                    AND NOT EXISTS (SELECT 1 FROM event_epochs e
                        WHERE e.shard = $1 AND e.app = a.app AND e.epoch = $3)
                ON CONFLICT (shard, app, after_offset) DO UPDATE SET epoch = excluded.epoch
                """, .integer(shard), .texts(apps), .number(epoch)))
    }

    private func addEvents(_ all: inout [PostgresStatement]) {
        let events = changes.events
        guard !events.isEmpty else { return }
        all.append(
            PostgresStatement(
                """
                INSERT INTO events (shard, app, position, type, key_type, key, number, time_ms, body)
                SELECT $1, u.* FROM unnest($2::text[], $3::int8[], $4::int8[], $5::int8[], $6::text[],
                    $7::int8[], $8::int8[], $9::bytea[]) u
                """, .integer(shard), .texts(events.map(\.key.appID)), .numbers(events.map(\.offset)),
                .integers(events.map { Int64($0.type.rawValue) }),
                .integers(events.map { Int64($0.key.type.rawValue) }), .texts(events.map(\.key.name)),
                .numbers(events.map(\.number)), .numbers(events.map(\.time)), .blobs(events.map(\.body))))
    }

    private func addKeys(_ all: inout [PostgresStatement]) {
        let changed = Array(changes.keys)
        guard !changed.isEmpty else { return }
        let states = changed.map { keys[$0] ?? EventKey() }
        all.append(
            PostgresStatement(
                """
                INSERT INTO event_keys (shard, app, type, name, number, position, members, occupied, due_ms)
                SELECT $1, u.* FROM unnest($2::text[], $3::int8[], $4::text[], $5::int8[], $6::int8[],
                    $7::int8[], $8::int8[], $9::int8[]) u
                ON CONFLICT (shard, app, type, name) DO UPDATE SET number = excluded.number,
                    position = excluded.position, members = excluded.members,
                    occupied = excluded.occupied, due_ms = excluded.due_ms
                """, .integer(shard), .texts(changed.map(\.appID)),
                .integers(changed.map { Int64($0.type.rawValue) }), .texts(changed.map(\.name)),
                .numbers(states.map(\.number)), .numbers(states.map(\.offset)),
                .integers(states.map { Int64($0.members) }),
                .integers(states.map { $0.isOccupied ? 1 : 0 }), .numbers(states.map(\.due))))
    }

    private func addMembers(_ all: inout [PostgresStatement]) {
        let present = changes.members.filter(\.value).map(\.key)
        let gone = changes.members.filter { !$0.value }.map(\.key)
        if !present.isEmpty {
            all.append(
                PostgresStatement(
                    """
                    INSERT INTO event_members (shard, app, type, name, username)
                    SELECT $1, u.* FROM unnest($2::text[], $3::int8[], $4::text[], $5::text[]) u
                    ON CONFLICT DO NOTHING
                    """, values: [.integer(shard)] + Self.columns(present)))
        }
        guard !gone.isEmpty else { return }
        all.append(
            PostgresStatement(
                """
                DELETE FROM event_members m USING unnest($2::text[], $3::int8[], $4::text[], $5::text[])
                    u (app, type, name, username)
                WHERE m.shard = $1 AND m.app = u.app AND m.type = u.type AND m.name = u.name
                    AND m.username = u.username
                """, values: [.integer(shard)] + Self.columns(gone)))
    }

    private static func columns(_ members: [EventMember]) -> [PostgresValue] {
        [
            .texts(members.map(\.channel.appID)),
            .integers(members.map { Int64($0.channel.type.rawValue) }),
            .texts(members.map(\.channel.name)), .texts(members.map(\.user)),
        ]
    }

    private func addFeeds(_ all: inout [PostgresStatement]) {
        guard !changes.feeds.isEmpty else { return }
        let (feeds, marks) = (Array(changes.feeds.keys), Array(changes.feeds.values))
        all.append(
            PostgresStatement(
                """
                INSERT INTO event_feeds (shard, app, feed, epoch, sequence, part, position, read_ms)
                SELECT $1, u.* FROM unnest($2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[],
                    $7::int8[], $8::int8[]) u
                ON CONFLICT (shard, app, feed) DO UPDATE SET epoch = excluded.epoch,
                    sequence = excluded.sequence, part = excluded.part, position = excluded.position,
                    read_ms = excluded.read_ms
                """, .integer(shard), .texts(feeds.map(\.appID)),
                .integers(feeds.map { Int64($0.shard) }),
                .numbers(marks.map(\.position.epoch)), .numbers(marks.map(\.position.sequence)),
                .integers(marks.map { Int64($0.position.partition) }),
                .numbers(marks.map(\.position.offset)), .numbers(marks.map(\.time))))
    }

    private func addMarks(_ all: inout [PostgresStatement]) {
        var (newest, bytes) = ([String: UInt64](), [String: Int]())
        for event in changes.events {
            newest[event.key.appID] = event.offset
            bytes[event.key.appID, default: 0] += event.bytes
        }
        guard !newest.isEmpty else { return }
        let apps = Array(newest)
        let now = changes.feeds.values.map(\.time).max() ?? changes.events.last?.time ?? 0
        let values: [PostgresValue] = [
            .integer(shard), .texts(apps.map(\.key)), .numbers(apps.map(\.value)),
        ]
        all.append(
            PostgresStatement(
                """
                UPDATE event_apps a SET newest = u.newest, bytes = a.bytes + u.bytes
                FROM unnest($2::text[], $3::int8[], $4::int8[]) u (app, newest, bytes)
                WHERE a.shard = $1 AND a.app = u.app
                """, values: values + [.integers(apps.map { Int64(bytes[$0.key] ?? 0) })]))
        all.append(
            PostgresStatement(
                """
                INSERT INTO event_marks (shard, app, position, time_ms)
                SELECT $1, u.*, $4 FROM unnest($2::text[], $3::int8[]) u
                ON CONFLICT (shard, app, time_ms) DO UPDATE SET position = excluded.position
                """, values: values + [.number((now / Self.markInterval + 1) * Self.markInterval)]))
    }

    /// Removes events whose time is over, a range at a time, and what is known of keys without events.
    /// Its row says how many events were removed.
    static func removing(_ expiry: GroupChanges.EventsExpiry, shard: Int64) -> PostgresStatement {
        let cutoffs = Array(expiry.cutoffs)
        return PostgresStatement(
            """
            WITH a AS (
                SELECT e.app, e.removed, greatest(e.removed, coalesce((SELECT max(m.position)
                    FROM event_marks m WHERE m.shard = $1 AND m.app = e.app
                        AND m.time_ms <= coalesce(c.cutoff, 9223372036854775807)), 0),
                    CASE WHEN e.bytes > $5 THEN coalesce((SELECT max(w.position) FROM (
                        SELECT l.position, sum(l.size) OVER (ORDER BY l.position) - l.size AS ahead
                        FROM (SELECT v.position, octet_length(v.body) + octet_length(v.key) + 64 AS size
                            FROM events v WHERE v.shard = $1 AND v.app = e.app
                            ORDER BY v.position LIMIT $4) l) w
                        WHERE w.ahead < e.bytes - $5), 0) ELSE 0 END) AS target
                FROM event_apps e LEFT JOIN unnest($2::text[], $3::int8[]) c (app, cutoff) ON c.app = e.app
                WHERE e.shard = $1),
            t AS (SELECT app, target, least(target, removed + $4) AS ending FROM a WHERE target > removed),
            s AS (SELECT v.app, sum(octet_length(v.body) + octet_length(v.key) + 64)::int8 AS bytes
                FROM events v JOIN t ON t.app = v.app
                WHERE v.shard = $1 AND v.position <= t.ending GROUP BY v.app),
            u AS (UPDATE event_apps e SET removed = t.ending,
                    bytes = e.bytes - coalesce((SELECT s.bytes FROM s WHERE s.app = t.app), 0)
                FROM t WHERE e.shard = $1 AND e.app = t.app),
            m AS (DELETE FROM event_marks m USING t
                WHERE m.shard = $1 AND m.app = t.app AND m.position <= t.ending),
            p AS (DELETE FROM event_epochs p USING t WHERE p.shard = $1 AND p.app = t.app
                AND p.after_offset < (SELECT max(q.after_offset) FROM event_epochs q
                    WHERE q.shard = $1 AND q.app = t.app AND q.after_offset < greatest(t.ending, 1))),
            k AS (DELETE FROM event_keys k USING t WHERE k.shard = $1 AND k.app = t.app
                AND t.ending = t.target AND k.position <= t.ending AND k.members = 0 AND k.occupied = 0
                AND k.due_ms IS NULL),
            d AS (DELETE FROM events d USING t
                WHERE d.shard = $1 AND d.app = t.app AND d.position <= t.ending RETURNING 1)
            SELECT count(*) FROM d
            """, .integer(shard), .texts(cutoffs.map(\.key)), .numbers(cutoffs.map(\.value)),
            .integer(Int64(expiry.limit)), .integer(Int64(expiry.bytesMax ?? .max)))
    }
}
