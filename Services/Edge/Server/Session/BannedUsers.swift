import RTMModel
import RTMWire

/// Refuses users whom an operator has banned, and ends their sessions (S-4). Storage says who they are.
/// While it can't be reached, the edge keeps to what it knows.
final class BannedUsers {
    private let sessions: Sessions
    private let wallClock: () -> UInt64
    private var table = BanTable()

    init(sessions: Sessions, wallClock: @escaping () -> UInt64) {
        self.sessions = sessions
        self.wallClock = wallClock
    }

    func check(_ userID: String, of appID: String) throws(RTMError) {
        try table.check(userID, of: appID, nowMilliseconds: wallClock())
    }

    /// All bans follow.
    func listBegins() { table.listBegins() }

    /// Returns how many sessions it ended.
    func received(_ ban: Ban) -> Int {
        let isNews = table.take(ban, nowMilliseconds: wallClock())
        // A numbered ban comes from an operator who waits for the report.
        guard isNews || ban.number != 0, ban.endsSession else { return 0 }
        let reason = ban.reason.isEmpty ? "an operator has ended the session" : ban.reason
        let ended = Array(sessions.all).filter { $0.userID == ban.userID && $0.appID == ban.appID }
        for session in ended { session.connection?.disconnect(Disconnect(.kicked, reason)) }
        return ended.count
    }
}

/// Who is banned, and until when. Pure: the time is a parameter.
struct BanTable {
    private struct Entry {
        let until: UInt64
        let reason: String
        /// The list in which storage named it last.
        var list: Int
    }

    private struct User: Hashable {
        let appID: String
        let userID: String
    }

    private var entries: [User: Entry] = [:]
    private var list = 0
    /// With so many entries those that have ended are removed.
    private var countMax = Self.countMaxAtFirst
    static let countMaxAtFirst = 1_000

    var count: Int { entries.count }

    /// - Throws: `.loginRejected` (-10012) without a time to wait, so that the client gives up (T3).
    func check(_ userID: String, of appID: String, nowMilliseconds: UInt64) throws(RTMError) {
        guard !entries.isEmpty, let entry = entries[User(appID: appID, userID: userID)],
            entry.until > nowMilliseconds
        else { return }
        let seconds = (entry.until - nowMilliseconds + 999) / 1_000
        let why = entry.reason.isEmpty ? "" : ": \(entry.reason)"
        throw RTMError(.loginRejected, "user \"\(userID)\" may not log in for \(seconds) s\(why)")
    }

    mutating func listBegins() { list += 1 }

    /// - Returns: whether this is news. Storage repeats everything when its link comes back.
    mutating func take(_ ban: Ban, nowMilliseconds: UInt64) -> Bool {
        guard !ban.userID.isEmpty else {
            entries = entries.filter { $0.value.list == list }
            return false
        }
        let user = User(appID: ban.appID, userID: ban.userID)
        guard ban.untilMilliseconds > 0 else {
            entries[user] = nil
            return true
        }
        if entries.count >= countMax {
            entries = entries.filter { $0.value.until > nowMilliseconds }
            countMax = max(Self.countMaxAtFirst, 2 * entries.count)
        }
        let isNews = entries[user]?.until != ban.untilMilliseconds
        entries[user] = Entry(until: ban.untilMilliseconds, reason: ban.reason, list: list)
        return isNews
    }
}
