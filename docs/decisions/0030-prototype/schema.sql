-- The schema of the prototypes; the DDL of decision 0030 is taken from here. PostgreSQL 13 or newer.
CREATE SCHEMA heliograph;
SET search_path = heliograph;

-- One row. A newer schema is refused, another number of shards too.
CREATE TABLE store (
    id int PRIMARY KEY CHECK (id = 1),
    schema_version int NOT NULL,
    shards int NOT NULL,
    -- Which database this is: another one after a dump was restored, where transactions have other numbers.
    system text NOT NULL);
INSERT INTO store VALUES (1, 1, 1, (SELECT system_identifier::text FROM pg_control_system()));

-- The fence: who owns a shard, in which term. It is updated at changes of the owner and renewals of the lease.
CREATE TABLE shards (
    shard int PRIMARY KEY,
    owner text NOT NULL DEFAULT '',
    term bigint NOT NULL DEFAULT 0,
    follows bigint NOT NULL DEFAULT 0,
    lease_end timestamptz NOT NULL DEFAULT '-infinity') WITH (fillfactor = 10);
INSERT INTO shards SELECT s FROM generate_series(0, 3) s;

-- What the owners have committed, one row a transaction; only appended, and dropped by the hour but for the last.
CREATE TABLE batches (
    shard int NOT NULL, batch bigint NOT NULL, hour bigint NOT NULL, term bigint NOT NULL,
    counter bigint NOT NULL, PRIMARY KEY (shard, batch, hour)) PARTITION BY RANGE (hour);
CREATE TABLE batches_all PARTITION OF batches DEFAULT;

CREATE TABLE nodes (name text PRIMARY KEY, address text NOT NULL, lease_end timestamptz NOT NULL);

CREATE TABLE channels (
    shard int NOT NULL, id bigint NOT NULL,
    app text COLLATE "C" NOT NULL, type smallint NOT NULL, name text COLLATE "C" NOT NULL,
    metadata_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (shard, id), UNIQUE (shard, app, type, name)) WITH (fillfactor = 70);

CREATE TABLE metadata (
    shard int NOT NULL, channel bigint NOT NULL, key text COLLATE "C" NOT NULL,
    place bigint NOT NULL, value bytea NOT NULL, revision bigint NOT NULL, updated_ms bigint NOT NULL,
    author text NOT NULL, PRIMARY KEY (shard, channel, key)) WITH (fillfactor = 70);

CREATE TABLE locks (
    shard int NOT NULL, channel bigint NOT NULL, name text COLLATE "C" NOT NULL, ttl_s bigint NOT NULL,
    owner text, instance bigint NOT NULL, token bigint NOT NULL, PRIMARY KEY (shard, channel, name));

-- In partitions by the day on which messages expire: a day that is over is dropped as a whole.
CREATE TABLE history (
    shard int NOT NULL, channel bigint NOT NULL, timestamp_ms bigint NOT NULL,
    expiry_ms bigint NOT NULL, publisher text NOT NULL, type smallint NOT NULL, custom_type text NOT NULL,
    payload bytea NOT NULL, instance bigint, sequence bigint,
    PRIMARY KEY (shard, channel, timestamp_ms, expiry_ms)) PARTITION BY RANGE (expiry_ms);
CREATE INDEX history_by_origin ON history (shard, channel, instance, sequence) WHERE instance IS NOT NULL;
CREATE TABLE history_never PARTITION OF history FOR VALUES FROM (9223372036854775807) TO (MAXVALUE);

CREATE TABLE usage (
    shard int NOT NULL, app text COLLATE "C" NOT NULL, channel_sets bigint NOT NULL, user_sets bigint NOT NULL,
    locks bigint NOT NULL, PRIMARY KEY (shard, app)) WITH (fillfactor = 50);
-- Bytes of messages by the hour in which they expire, so that dropping a partition needs no count.
CREATE TABLE history_usage (
    shard int NOT NULL, app text COLLATE "C" NOT NULL, expiry_hour bigint NOT NULL, bytes bigint NOT NULL,
    PRIMARY KEY (shard, app, expiry_hour)) WITH (fillfactor = 50);

-- Appended and never updated; the partition of an hour is dropped when all positions are behind it.
CREATE TABLE outbox (
    shard int NOT NULL, sequence bigint NOT NULL, hour bigint NOT NULL, source bigint NOT NULL,
    channel bigint NOT NULL, publisher text NOT NULL, feature int NOT NULL, event bytea NOT NULL,
    PRIMARY KEY (shard, sequence, hour)) PARTITION BY RANGE (hour);
-- Everything up to `sequence` is acknowledged, and the ranges beyond it; at most 64.
CREATE TABLE outbox_positions (
    shard int PRIMARY KEY, sequence bigint NOT NULL DEFAULT 0, ranges int8[] NOT NULL DEFAULT '{}')
    WITH (fillfactor = 10);
INSERT INTO outbox_positions (shard) SELECT shard FROM shards;

-- Publishing from SQL. Apps only insert, by the function; storage only reads and drops partitions.
CREATE SEQUENCE inbox_ids;
CREATE TABLE inbox (
    id bigint NOT NULL, shard int NOT NULL, xact xid8 NOT NULL, made timestamptz NOT NULL,
    app text NOT NULL, channel_type smallint NOT NULL, channel text NOT NULL,
    type smallint NOT NULL, custom_type text NOT NULL, publisher text NOT NULL, payload bytea NOT NULL,
    history boolean NOT NULL) PARTITION BY RANGE (made);
CREATE INDEX inbox_by_xact ON inbox (shard, xact);
CREATE TABLE inbox_default PARTITION OF inbox DEFAULT;
-- A batch is what `snapshot` sees and the snapshot of the batch before didn't, in the order of `id`.
CREATE TABLE inbox_batches (
    shard int NOT NULL, batch bigint NOT NULL, snapshot pg_snapshot NOT NULL, first_sequence bigint NOT NULL,
    rows int NOT NULL, PRIMARY KEY (shard, batch));

-- PL/pgSQL: a function in SQL with these settings is planned anew by each call (76 µs instead of 15 µs).
CREATE FUNCTION heliograph_publish(
    app text, channel text, payload bytea, type int DEFAULT 1, custom_type text DEFAULT '',
    publisher text DEFAULT 'sql', history boolean DEFAULT false) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint := nextval('heliograph.inbox_ids');
    hash bytea := sha256('\x01'::bytea || convert_to(app, 'UTF8') || '\xff'::bytea || convert_to(channel, 'UTF8'));
BEGIN
    IF octet_length(payload) > 32768 THEN
        RAISE EXCEPTION 'the payload has % bytes, 32768 are allowed', octet_length(payload) USING ERRCODE = '22001';
    END IF;
    INSERT INTO heliograph.inbox (id, shard, xact, made, app, channel_type, channel, type, custom_type,
        publisher, payload, history)
    VALUES (number, (get_byte(hash, 0) << 16 | get_byte(hash, 1) << 8 | get_byte(hash, 2)) % 1 /* shards */,
        pg_current_xact_id(), clock_timestamp(), app, 1, channel, type, custom_type, publisher, payload, history);
    RETURN number;
END $$;
REVOKE ALL ON FUNCTION heliograph_publish FROM PUBLIC;

-- What the tests and measurements need.
CREATE TABLE history_day PARTITION OF history FOR VALUES FROM (0) TO (9223372036854775807);
CREATE TABLE outbox_all PARTITION OF outbox DEFAULT;
