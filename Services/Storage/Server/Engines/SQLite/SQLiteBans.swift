import RTMModel
import RTMWire

/// The users who may not log in, in a SQLite file.
struct SQLiteBans {
    let connection: SQLiteConnection

    /// The bans that hold after `now`, as in the other functions.
    func all(after now: UInt64) throws(StoreFailure) -> [Ban] {
        var found: [Ban] = []
        try connection.rows(
            "SELECT app, user, until_ms, reason, since_ms, operator FROM bans WHERE until_ms > ?1",
            .number(now)
        ) { row in found.append(row.ban) }
        return found
    }

    func count(after now: UInt64) throws(StoreFailure) -> Int {
        var count = 0
        try connection.rows("SELECT count(*) FROM bans WHERE until_ms > ?1", .number(now)) { row in
            count = Int(row.number(0))
        }
        return count
    }

    func ban(of user: BannedUser, after now: UInt64) throws(StoreFailure) -> Ban? {
        var found: Ban?
        try connection.rows(
            """
            SELECT app, user, until_ms, reason, since_ms, operator FROM bans
            WHERE app = ?1 AND user = ?2 AND until_ms > ?3
            """, .text(user.appID), .text(user.userID), .number(now)
        ) { row in found = row.ban }
        return found
    }

    func page(after place: BansRequest, now: UInt64, limit: Int) throws(StoreFailure) -> [Ban] {
        var found: [Ban] = []
        try connection.rows(
            """
            SELECT app, user, until_ms, reason, since_ms, operator FROM bans
            WHERE (app, user) > (?1, ?2) AND until_ms > ?3 ORDER BY app, user LIMIT ?4
            """, .text(place.afterApp), .text(place.afterUser), .number(now), .integer(Int64(limit))
        ) { row in found.append(row.ban) }
        return found
    }

    /// Keeps a ban, or removes the one that holds.
    func set(_ ban: Ban?, of user: BannedUser) throws(StoreFailure) {
        guard let ban else {
            try connection.run(
                "DELETE FROM bans WHERE app = ?1 AND user = ?2", .text(user.appID), .text(user.userID))
            return
        }
        try connection.run(
            """
            INSERT INTO bans (app, user, until_ms, reason, since_ms, operator) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (app, user) DO UPDATE SET until_ms = excluded.until_ms, reason = excluded.reason,
                since_ms = excluded.since_ms, operator = excluded.operator
            """,
            .text(ban.appID), .text(ban.userID), .number(ban.untilMilliseconds), .text(ban.reason),
            .number(ban.sinceMilliseconds), .text(ban.by))
    }

    func removeEnded(by now: UInt64) throws(StoreFailure) {
        try connection.run("DELETE FROM bans WHERE until_ms <= ?1", .number(now))
    }
}

extension SQLiteStatement {
    fileprivate var ban: Ban {
        Ban(
            appID: text(0), userID: text(1), untilMilliseconds: number(2), reason: text(3),
            endsSession: true, sinceMilliseconds: number(4), by: text(5))
    }
}
