import RTMWire

/// The audit trail of apps, in a SQLite file (W-31).
struct SQLiteAudit {
    let connection: SQLiteConnection

    /// Keeps the line, and removes the oldest ones of its key and kind beyond the limit. A key that does one
    /// thing all the time takes no place from the others.
    func keep(_ audit: KeepAudit) throws(StoreFailure) {
        let line = audit.line
        try connection.run(
            """
            INSERT INTO audit (app, number, time_ms, operator, address, what, whom, outcome, omitted)
            SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM audit WHERE app = ?1
            """,
            .text(audit.appID), .number(line.timeMilliseconds), .text(line.by), .text(line.address),
            .text(line.what), .text(line.whom), .text(line.outcome), .number(line.omitted))
        try connection.run(
            """
            DELETE FROM audit WHERE app = ?1 AND operator = ?2 AND what = ?3 AND number <=
                (SELECT number FROM audit WHERE app = ?1 AND operator = ?2 AND what = ?3
                 ORDER BY number DESC LIMIT 1 OFFSET ?4)
            """, .text(audit.appID), .text(line.by), .text(line.what),
            .integer(Int64(AuditTrail.linesPerKindMax)))
    }

    func page(_ request: AuditRequest, limit: Int) throws(StoreFailure) -> [AuditLine] {
        var found: [AuditLine] = []
        let before = request.before == 0 ? UInt64(Int64.max) : request.before
        try connection.rows(
            """
            SELECT number, time_ms, operator, address, what, whom, outcome, omitted FROM audit
            WHERE app = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3
            """, .text(request.appID), .number(min(before, UInt64(Int64.max))), .integer(Int64(limit))
        ) { row in
            found.append(
                AuditLine(
                    number: row.number(0), timeMilliseconds: row.number(1), by: row.text(2),
                    address: row.text(3), what: row.text(4), whom: row.text(5), outcome: row.text(6),
                    omitted: row.number(7)))
        }
        return found
    }
}
