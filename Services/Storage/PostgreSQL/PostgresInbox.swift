import RTMModel
import RTMStorageServer
import RTMWire

/// The SQL inbox of a shard as statements: what is read, and how far it is drained.
///
/// Rows are only appended. They lie in three tables by the time of their publishing, ten minutes each,
/// and a table is emptied as a whole when everything in it is drained. So no row is deleted one by one,
/// and no table has to be made before an app publishes, however long storage is away.
struct PostgresInbox {
    /// Limit: bytes of the payloads of a page. One row more may go beyond it.
    private static let pageBytesMax: Int64 = 8 * 1024 * 1024

    let shard: Int64

    // MARK: Reading

    /// How far it is drained, as it was kept.
    var position: PostgresStatement {
        PostgresStatement(
            """
            SELECT batch, before::text, floor, until::text, until_floor, after_id FROM inbox_batches
            WHERE shard = $1 ORDER BY batch DESC LIMIT 1
            """, .integer(shard))
    }

    func cursor(_ rows: PostgresRows) -> InboxCursor? {
        rows.first.map { row in
            InboxCursor(
                number: row.integer(0), before: InboxSnapshot(text: row.text(1)), floor: row.integer(2),
                open: row.isNull(3)
                    ? nil
                    : .init(
                        until: InboxSnapshot(text: row.text(3)), floor: row.integer(4),
                        after: row.integer(5)))
        }
    }

    /// The last id comes from a statement of its own, because it has to be older than the snapshot.
    ///
    /// What is new lies above the floor, in the order of the index of ids. What transactions have left
    /// that were running at the last snapshot is found by their numbers. Both are looked up so that
    /// neither drained rows nor statistics make a difference: the one condition on `xact` can't use an
    /// index, and the other asks for the order of its index.
    func page(_ cursor: InboxCursor, rows: Int) -> [PostgresStatement] {
        [
            PostgresStatement("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM inbox_ids"),
            PostgresStatement(
                """
                SELECT pg_current_snapshot()::text, n.* FROM (SELECT 1) o LEFT JOIN (
                    SELECT * FROM (
                        SELECT p.*, count(*) OVER () AS found,
                            sum(octet_length(payload)) OVER (ORDER BY id) AS bytes
                        FROM (
                            SELECT * FROM ((
                                SELECT i.id, i.app, i.channel_type, i.channel, i.type, i.custom_type,
                                    i.publisher, i.payload, i.history
                                FROM inbox i WHERE i.shard = $1 AND i.id > $2
                                    AND NOT pg_visible_in_snapshot(i.xact, $3::text::pg_snapshot)
                                    AND ($4::text IS NULL
                                        OR pg_visible_in_snapshot(i.xact, $4::text::pg_snapshot))
                                ORDER BY i.id LIMIT $6)
                            UNION ALL
                            SELECT r.* FROM unnest($5::text[]) x (xact) CROSS JOIN LATERAL (
                                SELECT i.id, i.app, i.channel_type, i.channel, i.type, i.custom_type,
                                    i.publisher, i.payload, i.history
                                FROM inbox i
                                WHERE i.shard = $1 AND i.xact BETWEEN x.xact::xid8 AND x.xact::xid8
                                    AND i.id > $7 AND ($4::text IS NULL
                                        OR pg_visible_in_snapshot(i.xact, $4::text::pg_snapshot))
                                ORDER BY i.shard, i.xact, i.id LIMIT $6) r
                            ) u ORDER BY id LIMIT $6) p
                        ) q WHERE q.bytes - octet_length(q.payload) < $8
                    ) n ON true ORDER BY n.id
                """, .integer(shard), .integer(cursor.after),
                .text(cursor.before.withoutRunning.text), .text(cursor.open?.until.text),
                .texts(cursor.before.running), .integer(Int64(rows)), .integer(cursor.open?.after ?? 0),
                .integer(Self.pageBytesMax)),
        ]
    }

    func take(_ answers: [PostgresRows], after cursor: InboxCursor, rows limit: Int) -> InboxPage {
        guard let first = answers[1].first else {
            return InboxPage(rows: [], cursor: cursor, hasMore: false, isUsed: false)
        }
        let rows = first.isNull(1) ? [] : answers[1].map(\.inboxRow)
        let hasMore = !rows.isEmpty && (rows.count == limit || rows.count < Int(first.integer(10)))
        let found = InboxCursor.Found(
            snapshot: InboxSnapshot(text: first.text(0)), lastID: answers[0].first?.integer(0) ?? 0,
            lastRow: rows.last?.id, hasMore: hasMore)
        return InboxPage(
            rows: rows, cursor: cursor.following(found), hasMore: hasMore, isUsed: found.lastID > 0)
    }

    // MARK: Keeping

    /// The row before is removed by its key, so that nobody ever reads past what was removed.
    func keeping(_ cursor: InboxCursor) -> [PostgresStatement] {
        [
            PostgresStatement(
                "DELETE FROM inbox_batches WHERE shard = $1 AND batch = $2", .integer(shard),
                .integer(cursor.number - 1)),
            PostgresStatement(
                """
                INSERT INTO inbox_batches (shard, batch, before, floor, until, until_floor, after_id)
                VALUES ($1, $2, $3::text::pg_snapshot, $4, $5::text::pg_snapshot, $6, $7)
                """, .integer(shard), .integer(cursor.number), .text(cursor.before.text),
                .integer(cursor.floor), .text(cursor.open?.until.text), .integer(cursor.open?.floor),
                .integer(cursor.open?.after)),
        ]
    }

    // MARK: Emptying

    /// For how long rows go into one table, in seconds.
    static let sliceSeconds: Int64 = 600
    static let slices: Int64 = 3

    /// The time as a number of slices.
    static func slice(at milliseconds: UInt64) -> Int64 {
        Int64(clamping: milliseconds) / (sliceSeconds * 1_000)
    }

    /// Empties the table that comes after the present one, if all its rows are drained. A transaction
    /// that still writes to it, or a dump that reads it, isn't waited for: the table is emptied the next
    /// time.
    ///
    /// Rows that a shard has still to drain are found by its snapshot, which sees everything drained.
    static func emptying(slice: Int64) -> String {
        let table = "heliograph.inbox_\((slice + 1) % slices)"
        return """
            BEGIN; SET LOCAL lock_timeout = '100ms';
            DO $$ BEGIN
                IF pg_relation_size('\(table)') = 0 THEN RETURN; END IF;
                LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE;
                IF NOT EXISTS (
                    SELECT 1 FROM heliograph.shards s CROSS JOIN LATERAL (
                        SELECT before FROM heliograph.inbox_batches b WHERE b.shard = s.shard
                        ORDER BY batch DESC LIMIT 1) b
                    CROSS JOIN LATERAL (
                        (SELECT 1 FROM \(table) i
                        WHERE i.shard = s.shard AND i.xact >= pg_snapshot_xmax(b.before) LIMIT 1)
                        UNION ALL
                        (SELECT 1 FROM pg_snapshot_xip(b.before) x (xact), LATERAL (
                            SELECT 1 FROM \(table) i WHERE i.shard = s.shard
                                AND i.xact BETWEEN x.xact AND x.xact LIMIT 1) r LIMIT 1)) r)
                THEN
                    TRUNCATE \(table);
                END IF;
            END $$;
            COMMIT
            """
    }

    // MARK: Another server

    /// Whether this is another server than the one that has made the snapshots: a dump was restored, or
    /// pg_upgrade has run. Transactions have other numbers then. Servers that were copied from one have
    /// the same identifier, and are recognised by numbers that they have not come to yet.
    static var isMoved: PostgresStatement {
        PostgresStatement(
            """
            SELECT system <> (SELECT system_identifier::text FROM pg_control_system())
                OR EXISTS (SELECT 1 FROM inbox_batches
                    WHERE pg_snapshot_xmax(before) > pg_snapshot_xmax(pg_current_snapshot()))
            FROM store
            """)
    }

    /// What the dump says to be drained is removed by the old numbers, and what it has beyond that counts
    /// as published by this transaction. Several owners may come here at once.
    static let moving = """
        BEGIN;
        DO $$
        DECLARE present text := (SELECT system_identifier::text FROM pg_control_system());
        BEGIN
            LOCK TABLE heliograph.inbox IN ACCESS EXCLUSIVE MODE;
            IF (SELECT system FROM heliograph.store) = present AND NOT EXISTS (
                SELECT 1 FROM heliograph.inbox_batches
                WHERE pg_snapshot_xmax(before) > pg_snapshot_xmax(pg_current_snapshot()))
            THEN RETURN; END IF;
            DELETE FROM heliograph.inbox i USING (
                SELECT DISTINCT ON (shard) * FROM heliograph.inbox_batches ORDER BY shard, batch DESC) b
            WHERE i.shard = b.shard AND (pg_visible_in_snapshot(i.xact, b.before)
                OR (b.until IS NOT NULL AND i.id <= b.after_id
                    AND pg_visible_in_snapshot(i.xact, b.until)));
            UPDATE heliograph.inbox SET xact = pg_current_xact_id();
            UPDATE heliograph.inbox_batches SET before = pg_current_snapshot(), floor = 0, until = NULL,
                until_floor = NULL, after_id = NULL;
            UPDATE heliograph.store SET system = present;
        END $$;
        COMMIT
        """
}

extension PostgresRow {
    fileprivate var inboxRow: InboxRow {
        InboxRow(
            id: integer(1),
            channel: ChannelKey(
                appID: text(2), type: ChannelType(rawValue: Int(integer(3))) ?? .none, name: text(4)),
            type: MessageType(rawValue: Int(integer(5))) ?? .binary, customType: text(6),
            publisher: text(7), payload: blob(8), isStored: integer(9) != 0)
    }
}
