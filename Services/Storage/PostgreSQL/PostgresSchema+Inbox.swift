import RTMStorageServer

extension PostgresSchema {
    /// Publishing from SQL (docs/sql.md). Apps insert by the function alone; storage reads, and empties
    /// the tables.
    ///
    /// The function refuses in the app's transaction what can be seen there. It locks nothing, and is
    /// written in PL/pgSQL, because a function in SQL with settings of its own is planned by each call.
    /// It takes the number of the transaction before the id: `InboxCursor` depends on that, and on ids
    /// that aren't handed out in advance (CACHE 1).
    static let inbox =
        """
        CREATE SEQUENCE inbox_ids;
        CREATE TABLE inbox (
            shard int NOT NULL, id int8 NOT NULL, xact xid8 NOT NULL, slice int2 NOT NULL,
            app text NOT NULL, channel_type int2 NOT NULL, channel text NOT NULL, type int2 NOT NULL,
            custom_type text NOT NULL, publisher text NOT NULL, payload bytea NOT NULL,
            history boolean NOT NULL) PARTITION BY LIST (slice);
        CREATE TABLE inbox_0 PARTITION OF inbox FOR VALUES IN (0);
        CREATE TABLE inbox_1 PARTITION OF inbox FOR VALUES IN (1);
        CREATE TABLE inbox_2 PARTITION OF inbox FOR VALUES IN (2);
        CREATE INDEX inbox_by_id ON inbox (shard, id);
        CREATE INDEX inbox_by_xact ON inbox (shard, xact, id);

        -- How far the inbox of a shard is drained (InboxCursor.swift). The greatest batch counts.
        CREATE TABLE inbox_batches (
            shard int NOT NULL, batch int8 NOT NULL, before pg_snapshot NOT NULL, floor int8 NOT NULL,
            until pg_snapshot, until_floor int8, after_id int8, PRIMARY KEY (shard, batch));
        INSERT INTO inbox_batches (shard, batch, before, floor)
            SELECT shard, 0, pg_current_snapshot(), 0 FROM shards;
        """ + publish("bytea", type: 0, bytes: "payload")
        + publish("text", type: 1, bytes: "convert_to(payload, 'UTF8')")

    /// - Parameters:
    ///   - payload: the type of the argument.
    ///   - type: that of the message.
    ///   - bytes: the payload as bytes.
    private static func publish(_ payload: String, type: Int, bytes: String) -> String {
        """

        CREATE FUNCTION heliograph_publish(
            app text, channel text, payload \(payload), custom_type text DEFAULT '',
            publisher text DEFAULT 'server', history boolean DEFAULT false,
            channel_type text DEFAULT 'message') RETURNS bigint
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
            bytes bytea := \(bytes);
            names CONSTANT text := 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 '
                '!#$%&()+,-:;<=>?@[]^_{|}~';
            kind int := CASE channel_type WHEN 'message' THEN 1 WHEN 'user' THEN 3 END;
            many int;
            hash bytea;
            place int := 0;
            xact xid8;
            number bigint;
        BEGIN
            IF app IS NULL OR channel IS NULL OR bytes IS NULL OR custom_type IS NULL OR publisher IS NULL
                OR history IS NULL
            THEN
                RAISE EXCEPTION 'no argument of heliograph_publish may be NULL' USING ERRCODE = '22004';
            END IF;
            IF kind IS NULL THEN
                RAISE EXCEPTION 'the channel_type is ''message'' or ''user'', not ''%''', channel_type
                    USING ERRCODE = '22023';
            END IF;
            IF octet_length(bytes) > 32768 THEN
                RAISE EXCEPTION 'the payload has % bytes, 32768 are allowed', octet_length(bytes)
                    USING ERRCODE = '22001';
            END IF;
            IF octet_length(app) NOT BETWEEN 1 AND 64 THEN
                RAISE EXCEPTION 'the app has % bytes, 1 to 64 are allowed', octet_length(app)
                    USING ERRCODE = '22023';
            END IF;
            IF octet_length(channel) NOT BETWEEN 1 AND 64
                OR translate(channel, names || CASE kind WHEN 1 THEN '`' ELSE '.' END, '') <> ''
                OR (kind = 1 AND starts_with(channel, '_'))
            THEN
                RAISE EXCEPTION 'the % name ''%'' is not allowed: it has 1 to 64 of the characters a to z, A to Z, 0 to 9, space and %',
                    CASE kind WHEN 1 THEN 'channel' ELSE 'user' END, channel,
                    right(names, 25) || CASE kind WHEN 1 THEN '`, and does not begin with _' ELSE '.' END
                    USING ERRCODE = '22023';
            END IF;
            IF octet_length(publisher) NOT BETWEEN 1 AND 64 OR translate(publisher, names || '.', '') <> ''
            THEN
                RAISE EXCEPTION 'the publisher ''%'' is no user id', publisher USING ERRCODE = '22023';
            END IF;
            IF octet_length(custom_type) > 32 OR custom_type !~ '^[ -~]*$' THEN
                RAISE EXCEPTION 'the custom type has at most 32 printable ASCII characters'
                    USING ERRCODE = '22023';
            END IF;
            SELECT s.shards INTO many FROM heliograph.store s;
            IF many > 1 THEN
                hash := sha256(set_byte('\\x00'::bytea, 0, kind) || convert_to(app, 'UTF8')
                    || '\\xff'::bytea || convert_to(channel, 'UTF8'));
                place := (get_byte(hash, 0) * 65536 + get_byte(hash, 1) * 256 + get_byte(hash, 2)) % many;
            END IF;
            xact := pg_current_xact_id();
            number := nextval('heliograph.inbox_ids');
            INSERT INTO heliograph.inbox (shard, id, xact, slice, app, channel_type, channel, type,
                custom_type, publisher, payload, history)
            VALUES (place, number, xact, extract(epoch FROM clock_timestamp())::bigint / 600 % 3, app,
                kind, channel, \(type), custom_type, publisher, bytes, history);
            RETURN number;
        END $function$;
        REVOKE ALL ON FUNCTION heliograph_publish(text, text, \(payload), text, text, boolean, text)
            FROM PUBLIC;

        """
    }
}
