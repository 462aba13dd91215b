/// The tables, as a list of steps from one version to the next. Steps are only ever added, and a file carries
/// the number of steps it has been through.
package enum SQLiteSchema {
    package static var version: Int { steps.count }

    /// Marks the file as one of Heliograph: the bytes say "Heli".
    static let application = 0x4865_6C69

    /// Brings the file to the present version, each step in a transaction of its own. A file that a newer
    /// version has written is refused, because this version can't know what it means.
    package static func migrate(_ connection: SQLiteConnection, to target: Int = version) throws(StoreFailure)
    {
        let application = try number("application_id", connection)
        let found = try checkVersion(connection)
        guard application == Self.application || (application == 0 && found == 0) else {
            throw StoreFailure(
                kind: .corrupt, reason: "\(connection.path) is a database of another program")
        }
        for step in found..<max(found, target) {
            try connection.execute("BEGIN IMMEDIATE")
            try connection.execute(steps[step])
            try connection.execute("PRAGMA user_version = \(step + 1)")
            try connection.execute("PRAGMA application_id = \(Self.application)")
            try connection.execute("COMMIT")
        }
    }

    /// Returns the number of steps that the file has been through. Throws if this version doesn't know all
    /// of them.
    @discardableResult
    package static func checkVersion(_ connection: SQLiteConnection) throws(StoreFailure) -> Int {
        let found = try number("user_version", connection)
        guard found > version else { return found }
        throw StoreFailure(
            kind: .refused,
            reason: "\(connection.path) has the schema \(found), this version knows up to \(version): "
                + "run the newer version, or restore an older backup")
    }

    /// Throws if storage has not made the tables of this file, which may be an empty one.
    package static func checkOrigin(_ connection: SQLiteConnection) throws(StoreFailure) {
        guard try number("application_id", connection) != application else { return }
        let tables = try number("schema_version", connection)
        throw StoreFailure(
            kind: .corrupt,
            reason: tables == 0
                ? "\(connection.path) is empty: it has no tables"
                : "\(connection.path) is a database of another program")
    }

    private static func number(
        _ pragma: String, _ connection: SQLiteConnection
    ) throws(StoreFailure) -> Int {
        let text = try connection.texts("PRAGMA \(pragma)").first
        return text.flatMap { Int($0) } ?? 0
    }

    private static let steps = [
        """
        -- One row: the number that tokens, revisions of locks and the order of events come from.
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            counter INTEGER NOT NULL
        ) STRICT;
        INSERT INTO store VALUES (1, 0);

        -- Everything that hangs on a channel names it by its id. Type 0: a user, whose metadata it is.
        CREATE TABLE channels (
            id INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            type INTEGER NOT NULL,
            name TEXT NOT NULL,
            metadata_revision INTEGER NOT NULL DEFAULT 0,
            UNIQUE (app, type, name)
        ) STRICT;

        CREATE TABLE metadata (
            channel INTEGER NOT NULL,
            key TEXT NOT NULL,
            place INTEGER NOT NULL,
            value TEXT NOT NULL,
            revision INTEGER NOT NULL,
            updated_ms INTEGER NOT NULL,
            author TEXT NOT NULL,
            PRIMARY KEY (channel, key)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE locks (
            channel INTEGER NOT NULL,
            name TEXT NOT NULL,
            ttl_s INTEGER NOT NULL,
            owner TEXT,
            instance INTEGER NOT NULL,
            token INTEGER NOT NULL,
            PRIMARY KEY (channel, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX locks_with_owner ON locks (channel) WHERE owner IS NOT NULL;

        -- In the order in which it is read: the messages of a channel lie side by side.
        CREATE TABLE history (
            channel INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            expiry_ms INTEGER,
            publisher TEXT NOT NULL,
            type INTEGER NOT NULL,
            custom_type TEXT NOT NULL,
            payload BLOB NOT NULL,
            PRIMARY KEY (channel, timestamp_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX history_by_expiry ON history (expiry_ms) WHERE expiry_ms IS NOT NULL;

        -- Empty but for the moment in which the service tries whether there is room again.
        CREATE TABLE room (filler BLOB NOT NULL) STRICT;

        -- Events that messaging has not acknowledged yet.
        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY,
            source INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            publisher TEXT NOT NULL,
            feature INTEGER NOT NULL,
            event BLOB NOT NULL
        ) STRICT;
        """,
        """
        -- Which message of which client it is, for those that may be sent again: kept once.
        ALTER TABLE history ADD COLUMN instance INTEGER;
        ALTER TABLE history ADD COLUMN sequence INTEGER;
        CREATE UNIQUE INDEX history_by_origin ON history (channel, instance, sequence)
            WHERE instance IS NOT NULL;

        -- What each app has of what has a quota.
        CREATE TABLE usage (
            app TEXT PRIMARY KEY,
            channel_sets INTEGER NOT NULL,
            user_sets INTEGER NOT NULL,
            locks INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO usage
            SELECT app, sum(type <> 0 AND has_set), sum(type = 0 AND has_set), sum(lock_count) FROM (
                SELECT app, type, EXISTS (SELECT 1 FROM metadata WHERE channel = id) AS has_set,
                    (SELECT count(*) FROM locks WHERE channel = id) AS lock_count
                FROM channels)
            GROUP BY app;
        """,
        """
        -- What the clock by which messages expire has reached.
        ALTER TABLE store ADD COLUMN expiry_clock_ms INTEGER;
        """,
        """
        -- The bytes of stored messages have a quota, too.
        ALTER TABLE usage ADD COLUMN history_bytes INTEGER NOT NULL DEFAULT 0;
        INSERT INTO usage (app, channel_sets, user_sets, locks, history_bytes)
            SELECT app, 0, 0, 0, sum(length(payload) + length(CAST(publisher AS BLOB)) + length(CAST(custom_type AS BLOB)) + 64)
            FROM history JOIN channels ON channels.id = history.channel WHERE true GROUP BY app
            ON CONFLICT (app) DO UPDATE SET history_bytes = excluded.history_bytes;
        """,
        """
        -- Users who may not log in.
        CREATE TABLE bans (
            app TEXT NOT NULL,
            user TEXT NOT NULL,
            until_ms INTEGER NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (app, user)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- When and by whom a user was banned.
        ALTER TABLE bans ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE bans ADD COLUMN operator TEXT NOT NULL DEFAULT '';
        """,
        """
        -- Users whose tokens are refused if they were issued before a time.
        CREATE TABLE revocations (
            app TEXT NOT NULL,
            user TEXT NOT NULL,
            until_ms INTEGER NOT NULL,
            tokens_before_s INTEGER NOT NULL,
            reason TEXT NOT NULL,
            since_ms INTEGER NOT NULL,
            operator TEXT NOT NULL,
            PRIMARY KEY (app, user)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- The apps whose events are kept: the offset of the newest event, and of the newest one that was removed.
        CREATE TABLE event_apps (
            id INTEGER PRIMARY KEY,
            app TEXT NOT NULL UNIQUE,
            newest INTEGER NOT NULL DEFAULT 0,
            removed INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        -- Which offsets belong to which epoch: those behind `after`, up to the next one.
        CREATE TABLE event_epochs (
            app INTEGER NOT NULL,
            after INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            PRIMARY KEY (app, after)
        ) STRICT, WITHOUT ROWID;

        -- How far the feed of each shard of messaging was read, and when it was last read to its end.
        CREATE TABLE event_feeds (
            app INTEGER NOT NULL,
            shard INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            partition INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            read_ms INTEGER NOT NULL,
            PRIMARY KEY (app, shard)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE events (
            app INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            type INTEGER NOT NULL,
            key_type INTEGER NOT NULL,
            key TEXT NOT NULL,
            number INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (app, offset)
        ) STRICT, WITHOUT ROWID;

        -- Which offset the events of an app had reached when; removed with the events.
        CREATE TABLE event_marks (
            app INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            PRIMARY KEY (app, time_ms)
        ) STRICT, WITHOUT ROWID;

        -- Of each channel and user: the number and the offset of its newest event, how many members it has, whether it
        -- was announced as occupied, and when it is announced as vacated.
        CREATE TABLE event_keys (
            app INTEGER NOT NULL,
            type INTEGER NOT NULL,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            members INTEGER NOT NULL,
            occupied INTEGER NOT NULL,
            due_ms INTEGER,
            PRIMARY KEY (app, type, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX event_keys_by_due ON event_keys (app, due_ms) WHERE due_ms IS NOT NULL;
        CREATE TABLE event_members (
            app INTEGER NOT NULL,
            type INTEGER NOT NULL,
            name TEXT NOT NULL,
            user TEXT NOT NULL,
            PRIMARY KEY (app, type, name, user)
        ) STRICT, WITHOUT ROWID;

        -- Subscribers of events whose positions are kept, and the events that they have given up.
        CREATE TABLE event_readers (
            app TEXT NOT NULL,
            name TEXT NOT NULL,
            owner TEXT NOT NULL,
            term INTEGER NOT NULL,
            lease_end_ms INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            state BLOB NOT NULL,
            last_letter INTEGER NOT NULL,
            dropped INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (app, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE dead_letters (
            app TEXT NOT NULL,
            reader TEXT NOT NULL,
            number INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            reason TEXT NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (app, reader, number)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- What holders of API keys have changed, or tried to change, over HTTP.
        CREATE TABLE audit (
            app TEXT NOT NULL,
            number INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            operator TEXT NOT NULL,
            address TEXT NOT NULL,
            what TEXT NOT NULL,
            whom TEXT NOT NULL,
            outcome TEXT NOT NULL,
            omitted INTEGER NOT NULL,
            PRIMARY KEY (app, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX audit_by_kind ON audit (app, operator, what, number);
        """,
        """
        -- The bytes of metadata and of events have shares, too.
        ALTER TABLE usage ADD COLUMN metadata_bytes INTEGER NOT NULL DEFAULT 0;
        INSERT INTO usage (app, channel_sets, user_sets, locks, metadata_bytes)
            SELECT app, 0, 0, 0, sum(length(CAST(key AS BLOB)) + length(CAST(value AS BLOB)) + 64)
            FROM metadata JOIN channels ON channels.id = metadata.channel WHERE true GROUP BY app
            ON CONFLICT (app) DO UPDATE SET metadata_bytes = excluded.metadata_bytes;
        ALTER TABLE event_apps ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE event_apps SET bytes = (
            SELECT coalesce(sum(length(body) + length(CAST(key AS BLOB)) + 64), 0) FROM events
            WHERE events.app = event_apps.id);
        """,
        """
        -- 1,024 times the millisecond, plus the place among the messages that have it (LogTime).
        ALTER TABLE history RENAME COLUMN timestamp_ms TO time;
        UPDATE history SET time = time * 1024;
        """,
    ]
}
