import RTMModel
import RTMStorageServer
import RTMWire

/// What a group does with stored messages. Partitions end as a whole, so nothing here removes what has
/// expired: every statement leaves it out.
extension PostgresGroupWrite {
    /// The messages to keep. One that arrives when it has expired already is not kept.
    var messages: [StoredMessage] {
        changes.messages.filter { $0.expiry.map { $0 > expired } ?? true }
    }

    /// On which days messages of the group expire, since 1970.
    var expiryDays: Set<Int64> {
        let expiries = messages.compactMap(\.expiry)
        return Set(expiries.map { Int64(clamping: $0) / PostgresPartition.dayMilliseconds })
    }

    /// Whether messages are removed before those of the group are kept.
    var removesMessages: Bool { changes.expiry != nil || !changes.purges.isEmpty }

    /// The hour at whose end a message has expired, since 1970; for one that never does, an hour that
    /// never ends. The purge has the same in SQL.
    private static func hour(ofExpiry expiry: Int64) -> Int64 { (expiry - 1) / 3_600_000 + 1 }

    /// What goes first.
    func removals(_ ids: [ChannelKey: Int64]) -> [Part] {
        var parts: [Part] = []
        if let expiry = changes.expiry {
            // The rows stay until their partition goes.
            let statement = PostgresStatement(
                """
                WITH d AS (DELETE FROM history_usage WHERE shard = $1 AND hour <= $2
                    RETURNING app, bytes, messages),
                s AS (SELECT app, sum(bytes)::int8 AS bytes FROM d GROUP BY app),
                u AS (UPDATE usage SET history_bytes = history_bytes - s.bytes FROM s
                    WHERE usage.shard = $1 AND usage.app = s.app)
                SELECT coalesce(sum(messages), 0)::int8 FROM d
                """, .integer(shard), .number(expiry.time / 3_600_000))
            parts.append(Part(statement: statement, answer: .expired))
        }
        for (index, purge) in changes.purges.enumerated() {
            guard let id = ids[purge.channel] else { continue }
            let statement = PostgresStatement(
                """
                WITH d AS (DELETE FROM history h USING (
                        SELECT time, expiry_ms FROM history
                        WHERE shard = $1 AND channel = $2 AND ($3 = 0 OR time < $3)
                            AND expiry_ms > $6
                        ORDER BY time LIMIT $4) o
                    WHERE h.shard = $1 AND h.channel = $2 AND h.time = o.time
                        AND h.expiry_ms = o.expiry_ms
                    RETURNING (h.expiry_ms - 1) / 3600000 + 1 AS hour, octet_length(h.payload)
                        + octet_length(h.publisher) + octet_length(h.custom_type) + 64 AS bytes),
                s AS (SELECT hour, sum(bytes)::int8 AS bytes, count(*) AS messages FROM d GROUP BY hour),
                h AS (UPDATE history_usage a SET bytes = a.bytes - s.bytes,
                        messages = a.messages - s.messages
                    FROM s WHERE a.shard = $1 AND a.hour = s.hour AND a.app = $5 RETURNING s.bytes),
                u AS (UPDATE usage SET history_bytes =
                        history_bytes - (SELECT coalesce(sum(bytes), 0)::int8 FROM h)
                    WHERE shard = $1 AND app = $5)
                SELECT count(*) FROM d
                """, .integer(shard), .integer(id), .number(purge.beforeTime),
                .integer(Int64(purge.limit)),
                .text(purge.channel.appID), .number(expired))
            parts.append(Part(statement: statement, answer: .purged(index)))
        }
        return parts
    }

    func addMessages(
        _ messages: [StoredMessage], _ id: (ChannelKey) -> Int64?, _ all: inout [PostgresStatement]
    ) {
        guard !messages.isEmpty else { return }
        let contents = messages.map(\.content)
        all.append(
            PostgresStatement(
                """
                INSERT INTO history (shard, channel, time, expiry_ms, publisher, type, custom_type,
                    payload, instance, sequence)
                SELECT $1, u.* FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::text[], $6::int8[],
                    $7::text[], $8::bytea[], $9::int8[], $10::int8[]) u
                """, .integer(shard), .integers(messages.map { id($0.channel) }),
                .numbers(contents.map(\.time.number)),
                .integers(messages.map(\.expiryColumn)),
                .texts(contents.map(\.publisher)), .integers(contents.map { Int64($0.type.rawValue) }),
                .texts(contents.map(\.customType)), .blobs(contents.map(\.payload)),
                .numbers(messages.map { $0.origin?.instance }),
                .numbers(messages.map { $0.origin?.sequence })))
    }

    func addHistoryUsage(_ messages: [StoredMessage], _ all: inout [PostgresStatement]) {
        struct Hour: Hashable {
            let app: String
            let hour: Int64
        }
        var counts: [Hour: (bytes: Int, messages: Int)] = [:]
        for message in messages {
            let hour = Self.hour(ofExpiry: message.expiryColumn)
            let (bytes, count) = counts[.init(app: message.channel.appID, hour: hour)] ?? (0, 0)
            counts[.init(app: message.channel.appID, hour: hour)] = (bytes + message.bytes, count + 1)
        }
        guard !counts.isEmpty else { return }
        let hours = Array(counts)
        all.append(
            PostgresStatement(
                """
                INSERT INTO history_usage AS a (shard, hour, app, bytes, messages)
                SELECT $1, u.* FROM unnest($2::int8[], $3::text[], $4::int8[], $5::int8[]) u
                ON CONFLICT (shard, hour, app) DO UPDATE SET bytes = a.bytes + excluded.bytes,
                    messages = a.messages + excluded.messages
                """, .integer(shard), .integers(hours.map(\.key.hour)), .texts(hours.map(\.key.app)),
                .integers(hours.map { Int64($0.value.bytes) }),
                .integers(hours.map { Int64($0.value.messages) })))
    }
}

extension StoredMessage {
    fileprivate var expiryColumn: Int64 { expiry.map { Int64(clamping: $0) } ?? .max }
}
