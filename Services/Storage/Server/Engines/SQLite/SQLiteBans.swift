import RTMModel
import RTMWire

/// The users who may not log in, or not with older tokens, in a SQLite file.
struct SQLiteBans {
    let connection: SQLiteConnection

    /// The bans that hold after `now`, as in the other functions.
    func all(after now: UInt64) throws(StoreFailure) -> [Ban] {
        var found: [Ban] = []
        try connection.rows(
            """
            SELECT app, user, until_ms, 0, reason, since_ms, operator FROM bans WHERE until_ms > ?1
            UNION ALL
            SELECT app, user, until_ms, tokens_before_s, reason, since_ms, operator FROM revocations
            WHERE until_ms > ?1
            """, .number(now)
        ) { row in found.append(row.ban) }
        return found
    }

    func count(after now: UInt64) throws(StoreFailure) -> Int {
        var count = 0
        try connection.rows(
            """
            SELECT (SELECT count(*) FROM bans WHERE until_ms > ?1)
                + (SELECT count(*) FROM revocations WHERE until_ms > ?1)
            """, .number(now)
        ) { row in count = Int(row.number(0)) }
        return count
    }

    func ban(of user: BannedUser, after now: UInt64) throws(StoreFailure) -> Ban? {
        let ofUser: StaticString = """
            SELECT app, user, until_ms, 0, reason, since_ms, operator FROM bans
            WHERE app = ?1 AND user = ?2 AND until_ms > ?3
            """
        let ofTokens: StaticString = """
            SELECT app, user, until_ms, tokens_before_s, reason, since_ms, operator FROM revocations
            WHERE app = ?1 AND user = ?2 AND until_ms > ?3
            """
        var found: Ban?
        try connection.rows(
            user.isOfTokens ? ofTokens : ofUser, .text(user.appID), .text(user.userID), .number(now)
        ) { row in found = row.ban }
        return found
    }

    /// Users who are shut out.
    func page(after place: BansRequest, now: UInt64, limit: Int) throws(StoreFailure) -> [Ban] {
        var found: [Ban] = []
        try connection.rows(
            """
            SELECT app, user, until_ms, 0, reason, since_ms, operator FROM bans
            WHERE (app, user) > (?1, ?2) AND until_ms > ?3 ORDER BY app, user LIMIT ?4
            """, .text(place.afterApp), .text(place.afterUser), .number(now), .integer(Int64(limit))
        ) { row in found.append(row.ban) }
        return found
    }

    /// Keeps a ban, or removes the one that holds.
    func set(_ ban: Ban?, of user: BannedUser) throws(StoreFailure) {
        guard let ban else {
            try connection.run(
                user.isOfTokens
                    ? "DELETE FROM revocations WHERE app = ?1 AND user = ?2"
                    : "DELETE FROM bans WHERE app = ?1 AND user = ?2",
                .text(user.appID), .text(user.userID))
            return
        }
        if user.isOfTokens {
            try connection.run(
                """
                INSERT OR REPLACE INTO revocations
                    (app, user, until_ms, reason, since_ms, operator, tokens_before_s)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """,
                .text(ban.appID), .text(ban.userID), .number(ban.untilMilliseconds), .text(ban.reason),
                .number(ban.sinceMilliseconds), .text(ban.by), .number(ban.tokensBeforeSeconds))
        } else {
            try connection.run(
                """
                INSERT OR REPLACE INTO bans (app, user, until_ms, reason, since_ms, operator)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """,
                .text(ban.appID), .text(ban.userID), .number(ban.untilMilliseconds), .text(ban.reason),
                .number(ban.sinceMilliseconds), .text(ban.by))
        }
    }

    func removeEnded(by now: UInt64) throws(StoreFailure) {
        try connection.run("DELETE FROM bans WHERE until_ms <= ?1", .number(now))
        try connection.run("DELETE FROM revocations WHERE until_ms <= ?1", .number(now))
    }
}

extension SQLiteStatement {
    fileprivate var ban: Ban {
        Ban(
            appID: text(0), userID: text(1), untilMilliseconds: number(2), reason: text(4),
            endsSession: true, sinceMilliseconds: number(5), by: text(6), tokensBeforeSeconds: number(3))
    }
}
