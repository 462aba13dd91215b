import RTMStorageServer

/// The tables, as a list of steps from one version to the next. Steps are only ever added, and the
/// database carries the number of steps it has been through.
struct PostgresSchema {
    static var version: Int { steps.count }
    /// How often what others make at the same time is looked at again.
    private static let attempts = 50
    /// How long a step may take, and the wait for another node that makes it.
    private static let timeout = Duration.seconds(60)

    let connection: PostgresConnection
    /// In how many shards the channels lie. It is fixed when the database is made.
    let shards: Int

    /// Brings the database to the present version. Several nodes may start at once: the row of the
    /// version is locked by the one that makes a step, and the others find it made. A database that a
    /// newer version has written is refused, because this version can't know what it means.
    func migrate(to target: Int = version) throws(StoreFailure) {
        try repeatedly { () throws(PostgresFailure) in
            guard try number("SELECT to_regclass('heliograph.store') IS NULL") == 1 else { return }
            try connection.execute(Self.beginning(shards: shards), within: Self.timeout)
        }
        try check()
        guard try count() < target else { return }
        try repeatedly { () throws(PostgresFailure) in
            try connection.execute("BEGIN; SET LOCAL lock_timeout = '50s'", within: Self.timeout)
            let found = try number("SELECT schema_version::int8 FROM store FOR UPDATE")
            for step in Int(found)..<max(Int(found), target) {
                try connection.execute(Self.steps[step], within: Self.timeout)
            }
            try connection.execute(
                "UPDATE store SET schema_version = greatest(schema_version, \(target)); COMMIT",
                within: Self.timeout)
        }
        try check()
    }

    private func check() throws(StoreFailure) {
        let found = try count()
        guard found <= Self.version else {
            throw StoreFailure(
                kind: .refused,
                reason: "the database has the schema \(found), this version knows up to \(Self.version): "
                    + "run the newer version, or restore an older backup")
        }
        let made = try failing { () throws(PostgresFailure) in
            try number("SELECT shards::int8 FROM heliograph.store")
        }
        guard made == Int64(shards) else {
            throw StoreFailure(
                kind: .refused,
                reason: "the database was made with \(made) shards, not with \(shards): set "
                    + "storage.shards to \(made)")
        }
    }

    private func count() throws(StoreFailure) -> Int {
        try failing { () throws(PostgresFailure) in
            Int(try number("SELECT schema_version::int8 FROM heliograph.store"))
        }
    }

    private func number(_ sql: StaticString) throws(PostgresFailure) -> Int64 {
        try connection.run([PostgresStatement(sql)], within: Self.timeout)[0].first?.integer(0) ?? 0
    }

    private func failing<Result>(
        _ body: () throws(PostgresFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(PostgresFailure) { return try body() } catch {
            throw StoreFailure(error, doing: "the schema")
        }
    }

    /// `IF NOT EXISTS` doesn't help against others who make the same at the same time: each of the two
    /// finds nothing, and the later one collides.
    private func repeatedly(_ body: () throws(PostgresFailure) -> Void) throws(StoreFailure) {
        for attempt in 1...Self.attempts {
            do throws(PostgresFailure) {
                return try body()
            } catch {
                guard error.isCollision, attempt < Self.attempts else {
                    throw StoreFailure(error, doing: "the schema")
                }
            }
        }
    }
}

extension PostgresFailure {
    /// Whether another node was faster in making something, or the two were in each other's way.
    var isCollision: Bool {
        guard case .refused(let state) = cause else { return false }
        return isTransient || ["23505", "42P06", "42P07", "55P03", "42710", "XX000"].contains(state)
    }
}

extension PostgresSchema {
    private static func beginning(shards: Int) -> String {
        """
        BEGIN;
        CREATE SCHEMA IF NOT EXISTS heliograph;
        CREATE TABLE heliograph.store (
            id int PRIMARY KEY CHECK (id = 1),
            schema_version int NOT NULL,
            shards int NOT NULL,
            -- Which server this is: another one after a dump was restored.
            system text NOT NULL);
        INSERT INTO heliograph.store
            VALUES (1, 0, \(shards), (SELECT system_identifier::text FROM pg_control_system()));
        COMMIT;
        """
    }

    private static let steps = [
        """
        -- The processes that live. `instance` differs for each start of a node. One that is about to end is
        -- `leaving`: no shard goes there any more.
        CREATE TABLE nodes (
            name text PRIMARY KEY, instance text NOT NULL, address text NOT NULL, leaving int8 NOT NULL,
            lease_end timestamptz NOT NULL) WITH (fillfactor = 10);

        -- The fence: which instance owns a shard, in which term. It is free when the owner doesn't live, or
        -- has given it up.
        CREATE TABLE shards (
            shard int PRIMARY KEY, owner text NOT NULL DEFAULT '', term int8 NOT NULL DEFAULT 0)
            WITH (fillfactor = 10);
        INSERT INTO shards (shard) SELECT n - 1 FROM store, generate_series(1, store.shards) n;

        -- What the owners have committed, a row for each transaction; the last one counts. `counter` is
        -- where tokens, revisions of locks and the order of events come from. Up to `announced` nothing in
        -- the outbox waits.
        CREATE TABLE batches (
            shard int NOT NULL, batch int8 NOT NULL, hour int8 NOT NULL, term int8 NOT NULL,
            counter int8 NOT NULL, announced int8 NOT NULL DEFAULT 0, PRIMARY KEY (shard, batch, hour))
            PARTITION BY RANGE (hour);

        -- The time by which stored messages expire.
        CREATE TABLE clocks (shard int PRIMARY KEY, expiry_ms int8 NOT NULL);

        -- Everything that hangs on a channel names it by its id. Type 0: a user, whose metadata it is.
        CREATE TABLE channels (
            shard int NOT NULL, id int8 NOT NULL, app text COLLATE "C" NOT NULL, type int2 NOT NULL,
            name text COLLATE "C" NOT NULL, metadata_revision int8 NOT NULL DEFAULT 0,
            PRIMARY KEY (shard, id), UNIQUE (shard, app, type, name)) WITH (fillfactor = 70);

        -- Values are bytes, because a text can't have the character U+0000.
        CREATE TABLE metadata (
            shard int NOT NULL, channel int8 NOT NULL, key bytea NOT NULL, place int8 NOT NULL,
            value bytea NOT NULL, revision int8 NOT NULL, updated_ms int8 NOT NULL, author text NOT NULL,
            PRIMARY KEY (shard, channel, key)) WITH (fillfactor = 70);

        CREATE TABLE locks (
            shard int NOT NULL, channel int8 NOT NULL, name text COLLATE "C" NOT NULL, ttl_s int8 NOT NULL,
            owner text, instance int8 NOT NULL, token int8 NOT NULL, PRIMARY KEY (shard, channel, name));
        CREATE INDEX locks_with_owner ON locks (shard, channel) WHERE owner IS NOT NULL;

        -- A message that never expires has the greatest number as its expiry. What has expired is no more:
        -- every statement leaves it out, until its partition is dropped.
        CREATE TABLE history (
            shard int NOT NULL, channel int8 NOT NULL, timestamp_ms int8 NOT NULL, expiry_ms int8 NOT NULL,
            publisher text NOT NULL, type int2 NOT NULL, custom_type text NOT NULL, payload bytea NOT NULL,
            instance int8, sequence int8,
            PRIMARY KEY (shard, channel, timestamp_ms, expiry_ms)) PARTITION BY RANGE (expiry_ms);
        CREATE INDEX history_by_origin ON history (shard, channel, instance, sequence)
            WHERE instance IS NOT NULL;
        CREATE TABLE history_never PARTITION OF history FOR VALUES FROM (9223372036854775807) TO (MAXVALUE);

        -- What each app has in `history` by the hour at whose end it has expired (`PostgresGroupWrite.hour`).
        -- `usage` has the sum.
        CREATE TABLE history_usage (
            shard int NOT NULL, hour int8 NOT NULL, app text COLLATE "C" NOT NULL, bytes int8 NOT NULL,
            messages int8 NOT NULL, PRIMARY KEY (shard, hour, app)) WITH (fillfactor = 50);

        CREATE TABLE usage (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, channel_sets int8 NOT NULL,
            user_sets int8 NOT NULL, locks int8 NOT NULL, history_bytes int8 NOT NULL,
            PRIMARY KEY (app, shard)) WITH (fillfactor = 50);

        -- Events for messaging; rows are only appended. Those up to `batches.announced` are announced, and
        -- of those behind it the ones whose sequence and hour have a second row, which says no more.
        CREATE TABLE outbox (
            shard int NOT NULL, sequence int8 NOT NULL, hour int8 NOT NULL,
            is_announced boolean NOT NULL DEFAULT false, source int8, channel int8, publisher text,
            feature int8, event bytea, PRIMARY KEY (shard, sequence, hour, is_announced))
            PARTITION BY RANGE (hour);

        -- Users who may not log in, and in `revocations` those whose older tokens are refused.
        CREATE TABLE bans (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, username text COLLATE "C" NOT NULL,
            until_ms int8 NOT NULL, reason bytea NOT NULL, since_ms int8 NOT NULL, operator bytea NOT NULL,
            PRIMARY KEY (shard, app, username));
        CREATE TABLE revocations (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, username text COLLATE "C" NOT NULL,
            until_ms int8 NOT NULL, tokens_before_s int8 NOT NULL, reason bytea NOT NULL,
            since_ms int8 NOT NULL, operator bytea NOT NULL, PRIMARY KEY (shard, app, username));

        -- The events of apps; the tables are those of SQLite (SQLiteSchema.swift).
        CREATE TABLE event_apps (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, newest int8 NOT NULL DEFAULT 0,
            removed int8 NOT NULL DEFAULT 0, PRIMARY KEY (app, shard)) WITH (fillfactor = 50);
        CREATE TABLE event_epochs (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, after_offset int8 NOT NULL,
            epoch int8 NOT NULL, PRIMARY KEY (shard, app, after_offset));
        CREATE TABLE event_feeds (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, feed int8 NOT NULL, epoch int8 NOT NULL,
            sequence int8 NOT NULL, part int8 NOT NULL, position int8 NOT NULL, read_ms int8 NOT NULL,
            PRIMARY KEY (shard, app, feed)) WITH (fillfactor = 50);
        CREATE TABLE events (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, position int8 NOT NULL, type int8 NOT NULL,
            key_type int8 NOT NULL, key text NOT NULL, number int8 NOT NULL, time_ms int8 NOT NULL,
            body bytea NOT NULL, PRIMARY KEY (shard, app, position));
        CREATE TABLE event_marks (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, time_ms int8 NOT NULL,
            position int8 NOT NULL, PRIMARY KEY (shard, app, time_ms));
        CREATE TABLE event_keys (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, type int2 NOT NULL,
            name text COLLATE "C" NOT NULL, number int8 NOT NULL, position int8 NOT NULL,
            members int8 NOT NULL, occupied int8 NOT NULL, due_ms int8,
            PRIMARY KEY (shard, app, type, name)) WITH (fillfactor = 50);
        CREATE INDEX event_keys_by_due ON event_keys (shard, app, due_ms) WHERE due_ms IS NOT NULL;
        CREATE TABLE event_members (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, type int2 NOT NULL,
            name text COLLATE "C" NOT NULL, username text COLLATE "C" NOT NULL,
            PRIMARY KEY (shard, app, type, name, username));
        CREATE TABLE event_readers (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, name bytea NOT NULL, owner text NOT NULL,
            term int8 NOT NULL, lease_end_ms int8 NOT NULL, epoch int8 NOT NULL, position int8 NOT NULL,
            state bytea NOT NULL, last_letter int8 NOT NULL, dropped int8 NOT NULL DEFAULT 0,
            PRIMARY KEY (shard, app, name)) WITH (fillfactor = 50);
        CREATE TABLE dead_letters (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, reader bytea NOT NULL, number int8 NOT NULL,
            epoch int8 NOT NULL, position int8 NOT NULL, time_ms int8 NOT NULL, reason bytea NOT NULL,
            body bytea NOT NULL, PRIMARY KEY (shard, app, reader, number));

        -- What holders of API keys change over HTTP. The texts come from requests, so they are bytes.
        CREATE TABLE audit (
            shard int NOT NULL, app text COLLATE "C" NOT NULL, number int8 NOT NULL, time_ms int8 NOT NULL,
            operator bytea NOT NULL, address bytea NOT NULL, what bytea NOT NULL, whom bytea NOT NULL,
            outcome bytea NOT NULL, omitted int8 NOT NULL, PRIMARY KEY (shard, app, number));
        CREATE INDEX audit_by_kind ON audit (shard, app, operator, what, number);
        """,
        inbox,
        """
        -- The bytes of metadata and of events have shares, too.
        ALTER TABLE usage ADD COLUMN metadata_bytes int8 NOT NULL DEFAULT 0;
        INSERT INTO usage (shard, app, channel_sets, user_sets, locks, history_bytes, metadata_bytes)
            SELECT c.shard, c.app, 0, 0, 0, 0, sum(octet_length(m.key) + octet_length(m.value) + 64)
            FROM metadata m JOIN channels c ON c.shard = m.shard AND c.id = m.channel
            GROUP BY c.shard, c.app
            ON CONFLICT (app, shard) DO UPDATE SET metadata_bytes = excluded.metadata_bytes;
        ALTER TABLE event_apps ADD COLUMN bytes int8 NOT NULL DEFAULT 0;
        UPDATE event_apps a SET bytes = coalesce((
            SELECT sum(octet_length(e.body) + octet_length(e.key) + 64) FROM events e
            WHERE e.shard = a.shard AND e.app = a.app), 0);
        """,
        """
        -- 1,024 times the millisecond, plus the place among the messages that have it (LogTime).
        ALTER TABLE history RENAME COLUMN timestamp_ms TO time;
        UPDATE history SET time = time * 1024;
        """,
    ]
}
