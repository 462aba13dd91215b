import RTMAccessToken
import RTMModel
import RTMStorageClient
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

    /// Refuses a token that an operator has revoked. An app id as credential is none.
    func check(_ grant: TokenGrant?, of userID: String, of appID: String) throws(RTMError) {
        guard let grant else { return }
        try table.checkToken(
            issuedAtSeconds: grant.issuedAtSeconds, of: userID, of: appID, nowMilliseconds: wallClock())
    }

    /// All bans that a shard of storage keeps follow.
    func listBegins(of shard: Int) { table.listBegins(of: shard) }

    /// Returns how many sessions it ended.
    func received(_ ban: Ban, of shard: Int) -> Int {
        let isNews = table.take(ban, of: shard, nowMilliseconds: wallClock())
        // A numbered ban comes from an operator who waits for the report.
        guard isNews || ban.number != 0, ban.endsSession else { return 0 }
        let isOfTokens = ban.tokensBeforeSeconds > 0
        let now = wallClock() / 1_000
        let why = isOfTokens ? "the token was revoked" : "an operator has ended the session"
        let reason = Disconnect(isOfTokens ? .tokenExpired : .kicked, ban.reason.isEmpty ? why : ban.reason)
        let ended = Array(sessions.all).filter {
            $0.userID == ban.userID && $0.appID == ban.appID
                && (!isOfTokens || $0.hasToken(issuedBefore: ban.tokensBeforeSeconds, now: now))
        }
        for session in ended { session.connection?.disconnect(reason) }
        return ended.count
    }
}

extension Session {
    /// A token that says that it is issued in the future is here already, so it was issued before.
    fileprivate func hasToken(issuedBefore seconds: UInt64, now: UInt64) -> Bool {
        grant.map { UInt64($0.issuedAtSeconds) < seconds || UInt64($0.issuedAtSeconds) > now } ?? false
    }
}
