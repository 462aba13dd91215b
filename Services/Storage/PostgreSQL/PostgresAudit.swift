import RTMStorageServer
import RTMWire

/// The audit lines that a group keeps, as statements (W-31).
struct PostgresAudit {
    let shard: Int64

    /// Numbers the lines of each app in their order, and removes the oldest ones of each key and kind
    /// beyond the limit. A key that does one thing all the time takes no place from the others.
    func keep(_ audits: [KeepAudit]) -> [PostgresStatement] {
        guard !audits.isEmpty else { return [] }
        let lines = audits.map(\.line)
        func bytes(_ text: KeyPath<AuditLine, String>) -> PostgresValue {
            .blobs(lines.map { Array($0[keyPath: text].utf8) })
        }
        return [
            PostgresStatement(
                """
                INSERT INTO audit
                    (shard, app, number, time_ms, operator, address, what, whom, outcome, omitted)
                SELECT $1, u.app, row_number() OVER (PARTITION BY u.app ORDER BY u.place)
                        + coalesce((SELECT max(number) FROM audit a WHERE a.shard = $1 AND a.app = u.app), 0),
                    u.time_ms, u.operator, u.address, u.what, u.whom, u.outcome, u.omitted
                FROM unnest($2::text[], $3::int8[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[],
                    $8::bytea[], $9::int8[]) WITH ORDINALITY
                    u (app, time_ms, operator, address, what, whom, outcome, omitted, place)
                """, .integer(shard), .texts(audits.map(\.appID)),
                .numbers(lines.map(\.timeMilliseconds)),
                bytes(\.by), bytes(\.address), bytes(\.what), bytes(\.whom), bytes(\.outcome),
                .numbers(lines.map(\.omitted))),
            PostgresStatement(
                """
                DELETE FROM audit a USING (
                    SELECT DISTINCT app, operator, what
                    FROM unnest($2::text[], $3::bytea[], $4::bytea[]) k (app, operator, what)) u
                WHERE a.shard = $1 AND a.app = u.app AND a.operator = u.operator AND a.what = u.what
                    AND a.number <= (SELECT number FROM audit b WHERE b.shard = $1 AND b.app = u.app
                        AND b.operator = u.operator AND b.what = u.what
                        ORDER BY number DESC LIMIT 1 OFFSET $5)
                """, .integer(shard), .texts(audits.map(\.appID)), bytes(\.by), bytes(\.what),
                .integer(Int64(AuditTrail.linesPerKindMax))),
        ]
    }
}
