import RTMWire

/// The users who are shut out, as each edge gets them when its link opens. Pure.
struct BanList {
    private struct User: Hashable {
        let appID: String
        let userID: String
        let isOfTokens: Bool
    }

    private var bans: [User: Ban] = [:]
    /// False from the moment at which this node leads until the store has said who is shut out.
    private var isComplete: Bool
    /// Whether the store is to be asked who is shut out, because it couldn't be or has failed.
    private(set) var isToBeListed = false
    /// With so many bans those that have ended are removed, so that the list stays as long as what storage
    /// keeps, or twice that.
    private var countMax = Self.countMaxAtFirst
    static let countMaxAtFirst = 1_000

    init(isComplete: Bool = true) { self.isComplete = isComplete }

    var count: Int { bans.count }

    /// One without a user, which says that there are no others than those before.
    static let end = Ban(appID: "", userID: "", endsSession: false)

    /// All bans and the end of the list; empty while that isn't known.
    var announcement: [Ban] { isComplete ? Array(bans.values) + [Self.end] : [] }

    /// The store was asked.
    ///
    /// - Parameter isQueued: whether it will answer.
    mutating func asked(isQueued: Bool) { isToBeListed = !isQueued }

    /// The store could not say it.
    mutating func notListed() { isToBeListed = true }

    /// All bans of the store were taken. Returns whether the end of the list is news.
    mutating func listed() -> Bool {
        defer { isComplete = true }
        return !isComplete
    }

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
