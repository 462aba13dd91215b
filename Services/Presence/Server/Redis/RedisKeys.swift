import RTMModel
import RTMRedis

/// The names of the keys in Redis (docs/presence-redis.md).
struct RedisKeys: Sendable {
    /// The prefix of every key.
    let prefix: String

    /// The eight keys of a channel's roster, in the order in which its scripts take them. They share a hash
    /// tag.
    func roster(_ channel: ChannelKey) -> [String] {
        let base = "\(prefix){\(channel.appID)/\(channel.type.rawValue)/\(channel.name)}"
        return [
            "members", "states", "online", "deadlines", "header", "batch", "changes", "outbox",
        ].map { "\(base):\($0)" }
    }

    /// A set of the channels of a user, as `field` writes them. It may hold channels that the user has left.
    func channels(of user: UserKey) -> String { "\(prefix){user/\(user.appID)/\(user.userID)}:channels" }

    /// A set of the members under a lease, as `field` writes them. It may hold members that have left.
    func members(under lease: UInt64) -> String { "\(prefix){lease/\(lease)}:members" }

    /// A sorted set of the leases by their end.
    var leases: String { "\(prefix){leases}:ends" }
    /// A set of the leases that were renewed and haven't ended since.
    var knownLeases: String { "\(prefix){leases}:known" }
    /// A sorted set of the channels by the time at which they are due for a visit.
    var due: String { "\(prefix)due" }
    /// The clock that all nodes share.
    var clock: String { "\(prefix)clock" }
    /// The time at which the data in Redis began.
    var born: String { "\(prefix)born" }

    // MARK: - Fields

    /// Joins the parts with NUL. A part may hold any other character, and no name has a NUL.
    static func field(_ channel: ChannelKey, _ user: String? = nil) -> String {
        ([channel.appID, "\(channel.type.rawValue)", channel.name] + (user.map { [$0] } ?? []))
            .joined(separator: "\0")
    }

    static func parse(_ field: RedisReply) -> (channel: ChannelKey, user: String)? {
        let parts = field.string?.split(separator: "\0", omittingEmptySubsequences: false) ?? []
        guard parts.count == 3 || parts.count == 4,
            let type = Int(parts[1]).flatMap(ChannelType.init(rawValue:))
        else { return nil }
        return (
            ChannelKey(appID: String(parts[0]), type: type, name: String(parts[2])),
            parts.count == 4 ? String(parts[3]) : ""
        )
    }
}
