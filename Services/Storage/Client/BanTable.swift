package import RTMModel
package import RTMWire

/// Who is banned, and until when, as storage announces it. Pure: the time is a parameter.
package struct BanTable {
    private struct Entry {
        let until: UInt64
        let reason: String
        let list: List
    }

    /// The list in which a shard of storage named a ban last.
    private struct List: Hashable {
        let shard: Int
        let number: Int
    }

    /// Tokens that were issued before a time.
    private struct Revocation {
        let beforeSeconds: UInt64
        let until: UInt64
        let list: List
    }

    private struct User: Hashable {
        let appID: String
        let userID: String
    }

    private var entries: [User: Entry] = [:]
    private var revocations: [User: Revocation] = [:]
    /// By shard, the number of the present list.
    private var lists: [Int: Int] = [:]
    /// With so many entries those that have ended are removed.
    private var countMax = Self.countMaxAtFirst
    private var revocationsMax = Self.countMaxAtFirst
    package static let countMaxAtFirst = 1_000

    /// The end of a ban that has none, in milliseconds since 1970: the end of the year 9999, which is the
    /// last time that texts of times have.
    package static let forever: UInt64 = 253_402_300_799_999

    package var count: Int { entries.count + revocations.count }

    package init() {}

    /// - Throws: `.loginRejected` (-10012) without a time to wait, so that the client gives up (T3).
    package func check(_ userID: String, of appID: String, nowMilliseconds: UInt64) throws(RTMError) {
        guard !entries.isEmpty, let entry = entries[User(appID: appID, userID: userID)],
            entry.until > nowMilliseconds
        else { return }
        let seconds = (entry.until - nowMilliseconds + 999) / 1_000
        let term = entry.until >= Self.forever ? "any more" : "for \(seconds) s"
        let why = entry.reason.isEmpty ? "" : ": \(entry.reason)"
        throw RTMError(.loginRejected, "user \"\(userID)\" may not log in \(term)\(why)")
    }

    /// Until when a user is banned; nil if the user isn't.
    package func until(_ userID: String, of appID: String, nowMilliseconds: UInt64) -> UInt64? {
        entries[User(appID: appID, userID: userID)].flatMap { $0.until > nowMilliseconds ? $0.until : nil }
    }

    /// - Throws: `.tokenExpired` (-10009) for a token that was revoked, so that a client asks for a new one.
    package func checkToken(
        issuedAtSeconds: UInt32, of userID: String, of appID: String, nowMilliseconds: UInt64
    ) throws(RTMError) {
        guard !revocations.isEmpty,
            let revocation = revocations[User(appID: appID, userID: userID)],
            revocation.until > nowMilliseconds
        else { return }
        // Of a token that says that it is issued in the future nobody knows when it was issued.
        let issued = UInt64(issuedAtSeconds)
        guard issued < revocation.beforeSeconds || issued > nowMilliseconds / 1_000 else { return }
        throw RTMError(.tokenExpired, "the token was revoked; one that is issued from now on is accepted")
    }

    /// A shard of storage names its bans anew.
    package mutating func listBegins(of shard: Int) { lists[shard, default: 0] += 1 }

    private func list(of shard: Int) -> List { List(shard: shard, number: lists[shard] ?? 0) }

    /// - Parameter shard: in which storage keeps it.
    /// - Returns: whether this is news. Storage repeats everything when its link comes back.
    package mutating func take(_ ban: Ban, of shard: Int, nowMilliseconds: UInt64) -> Bool {
        let list = list(of: shard)
        guard !ban.userID.isEmpty else {
            entries = entries.filter { $0.value.list.shard != shard || $0.value.list == list }
            revocations = revocations.filter { $0.value.list.shard != shard || $0.value.list == list }
            return false
        }
        let user = User(appID: ban.appID, userID: ban.userID)
        guard ban.tokensBeforeSeconds == 0 else {
            return take(ban, of: user, list, nowMilliseconds: nowMilliseconds)
        }
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

    private mutating func take(
        _ ban: Ban, of user: User, _ list: List, nowMilliseconds: UInt64
    ) -> Bool {
        if revocations.count >= revocationsMax {
            revocations = revocations.filter { $0.value.until > nowMilliseconds }
            revocationsMax = max(Self.countMaxAtFirst, 2 * revocations.count)
        }
        let isNews = revocations[user]?.beforeSeconds != ban.tokensBeforeSeconds
        revocations[user] = Revocation(
            beforeSeconds: ban.tokensBeforeSeconds, until: ban.untilMilliseconds, list: list)
        return isNews
    }
}
