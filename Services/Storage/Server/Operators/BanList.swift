import RTMWire

/// The users who are shut out, as each edge gets them when its link opens. Pure.
struct BanList {
    private struct User: Hashable {
        let appID: String
        let userID: String
        let isOfTokens: Bool
    }

    private var bans: [User: Ban] = [:]
    /// With so many bans those that have ended are removed, so that the list stays as long as what storage
    /// keeps, or twice that.
    private var countMax = Self.countMaxAtFirst
    static let countMaxAtFirst = 1_000

    var count: Int { bans.count }

    /// One without a user, which says that there are no others than those before.
    static let end = Ban(appID: "", userID: "", endsSession: false)

    /// All bans, and the end of the list.
    var announcement: [Ban] { Array(bans.values) + [Self.end] }

    mutating func take(_ ban: Ban, nowMilliseconds: UInt64) {
        if bans.count >= countMax {
            bans = bans.filter { $0.value.untilMilliseconds > nowMilliseconds }
            countMax = max(Self.countMaxAtFirst, 2 * bans.count)
        }
        let user = User(
            appID: ban.appID, userID: ban.userID, isOfTokens: ban.tokensBeforeSeconds > 0)
        bans[user] = ban.untilMilliseconds > 0 ? ban : nil
    }
}
