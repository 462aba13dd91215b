import Logging
import NIOCore

/// The users about whom one loop logs more than usual, and until when. Pure: the time is a parameter.
struct RaisedLevels {
    /// Limit: users at a time.
    static let countMax = 100
    static let longest: Duration = .seconds(86_400)

    struct User: Sendable, Hashable {
        let appID: String
        let userID: String
    }

    /// The level of one user.
    struct Entry: Sendable, Equatable {
        let level: Logger.Level
        let until: NIODeadline
        /// The same in UTC, milliseconds since 1970, as the operator sees it.
        let untilMilliseconds: UInt64
    }

    private(set) var entries: [User: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    /// When the next of them ends.
    var nextEnd: NIODeadline? { entries.values.map(\.until).min() }

    func level(of appID: String, _ userID: String) -> Logger.Level? {
        entries[User(appID: appID, userID: userID)]?.level
    }

    /// Returns false, and changes nothing, if there are as many as there may be.
    mutating func raise(_ user: User, _ entry: Entry) -> Bool {
        guard entries[user] != nil || entries.count < Self.countMax else { return false }
        entries[user] = entry
        return true
    }

    /// Returns whether it was there.
    mutating func end(_ user: User) -> Bool { entries.removeValue(forKey: user) != nil }

    mutating func expire(now: NIODeadline) { entries = entries.filter { $0.value.until > now } }
}
