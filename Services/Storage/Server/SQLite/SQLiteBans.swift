import RTMModel
import RTMWire

/// The users who may not log in, in a SQLite file.
struct SQLiteBans: BanStore {
    let connection: SQLiteConnection

    func all() throws(StoreFailure) -> [Ban] {
        var found: [Ban] = []
        try connection.rows("SELECT app, user, until_ms, reason FROM bans") { row in
            found.append(
                Ban(
                    appID: row.text(0), userID: row.text(1), untilMilliseconds: row.number(2),
                    reason: row.text(3), endsSession: true))
        }
        return found
    }

    func save(_ ban: Ban) throws(StoreFailure) {
        try connection.run(
            """
            INSERT INTO bans (app, user, until_ms, reason) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (app, user) DO UPDATE SET until_ms = excluded.until_ms, reason = excluded.reason
            """,
            .text(ban.appID), .text(ban.userID), .number(ban.untilMilliseconds), .text(ban.reason))
    }

    func remove(_ userID: String, of appID: String) throws(StoreFailure) {
        try connection.run("DELETE FROM bans WHERE app = ?1 AND user = ?2", .text(appID), .text(userID))
    }

    func removeEnded(by now: UInt64) throws(StoreFailure) {
        try connection.run("DELETE FROM bans WHERE until_ms <= ?1", .number(now))
    }
}
