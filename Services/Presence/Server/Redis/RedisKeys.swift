import RTMModel
import RTMRedis

/// The names of the keys in Redis (docs/presence-redis.md).
///
/// The channels are spread over parts. All keys of a part share a hash tag, so they lie in one slot of a
/// Redis Cluster: one script can change a roster together with what is known of all rosters of its part, and
/// a failover keeps or loses both.
struct RedisKeys: Sendable {
    /// How many parts there are. It never changes: nodes that count differently would not find each other's
    /// rosters. In a Cluster up to so many masters have a share of the rosters.
    static let partCount = 32
    /// By part: its hash tag, the smallest number whose slot lies in that 32nd of all slots. So masters that
    /// share the slots evenly share the parts evenly.
    static let tags: [String] = {
        var tags = [String?](repeating: nil, count: partCount)
        var number = 0
        while tags.contains(nil) {
            let part = HashSlot.of("\(number)") * partCount / HashSlot.count
            tags[part] = tags[part] ?? "\(number)"
            number += 1
        }
        return tags.compactMap(\.self)
    }()

    /// The prefix of every key.
    let prefix: String

    static func part(of channel: ChannelKey) -> Int {
        Int(HashSlot.checksum(of: field(channel))) % partCount
    }

    /// The keys of a channel's roster and then those of its part, in the order in which the roster scripts
    /// take them.
    func roster(_ channel: ChannelKey) -> [String] {
        let part = Self.part(of: channel)
        let base = "\(inPart(part))\(channel.appID)/\(channel.type.rawValue)/\(channel.name)"
        return [
            "members", "states", "online", "deadlines", "header", "batch", "changed", "outbox",
        ].map { "\(base):\($0)" } + [due(part), under(part), facts(part), absent(part)]
    }

    /// A set of the channels of a user, as `field` writes them. It may hold channels that the user has left.
    func channels(of user: UserKey) -> String { "\(prefix){user/\(user.appID)/\(user.userID)}:channels" }

    // MARK: - Parts

    /// A sorted set of the channels by the time at which they are due for a visit.
    func due(_ part: Int) -> String { "\(inPart(part))due" }
    /// A sorted set of the members by their lease: lease, NUL, and what `field` writes.
    func under(_ part: Int) -> String { "\(inPart(part))under" }
    /// When the data of the part began, and which run of Redis has them (Scripts/part.lua).
    func facts(_ part: Int) -> String { "\(inPart(part))part" }
    /// A key that never exists (Scripts/part.lua).
    func absent(_ part: Int) -> String { "\(inPart(part))absent" }
    /// The number of the newest link under a lease (Scripts/hold.lua).
    func newestLink(under lease: UInt64, in part: Int) -> String { "\(inPart(part))link/\(lease)" }

    private func inPart(_ part: Int) -> String { "\(prefix){\(Self.tags[part])}:" }

    /// The command that gives the members under a lease in a part, in the order of their bytes.
    ///
    /// - Parameter last: the member after which it begins; nil stands for the first one.
    func members(
        under lease: UInt64, in part: Int, after last: RedisReply? = nil, countMax: Int? = nil
    ) -> RedisCommand {
        let from = last?.string.map { "(\($0)" } ?? "[\(lease)\0"
        // All entries of a lease begin with it and NUL.
        let range: [RedisArgument] = [
            "ZRANGEBYLEX", .text(under(part)), .text(from), .text("(\(lease)\u{1}"),
        ]
        return RedisCommand(
            range + (countMax.map { ["LIMIT", "0", RedisArgument(UInt64($0))] } ?? []))
    }

    // MARK: - Leases

    /// A sorted set of the leases by their end.
    var leases: String { "\(prefix){leases}:ends" }
    /// A set of the leases that were renewed and haven't ended since.
    var knownLeases: String { "\(prefix){leases}:known" }
    /// A key that says that a round was made through the members under a lease.
    func round(of lease: UInt64) -> String { "\(prefix){lease/\(lease)}:round" }
    /// The number of the newest link under a lease, beside the leases.
    func newestLink(under lease: UInt64) -> String { "\(prefix){leases}:link/\(lease)" }
    /// A key that never exists, beside the leases.
    var noLeases: String { "\(prefix){leases}:absent" }
    /// The clock that all nodes share.
    var clock: String { "\(prefix)clock" }

    // MARK: - Fields

    /// Joins the parts with NUL. A part may hold any other character, and no name has a NUL.
    static func field(_ channel: ChannelKey, _ user: String? = nil) -> String {
        ([channel.appID, "\(channel.type.rawValue)", channel.name] + (user.map { [$0] } ?? []))
            .joined(separator: "\0")
    }

    static func parse(_ field: RedisReply) -> (channel: ChannelKey, user: String)? {
        field.string.flatMap(parse)
    }

    /// What `field` wrote into an entry of `under`.
    static func fieldUnder(_ entry: RedisReply) -> String? {
        entry.string.map { String($0.drop { $0 != "\0" }.dropFirst()) }
    }

    static func parseUnder(_ entry: RedisReply) -> (channel: ChannelKey, user: String)? {
        fieldUnder(entry).flatMap(parse)
    }

    static func parse(_ field: String) -> (channel: ChannelKey, user: String)? {
        let parts = field.split(separator: "\0", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4,
            let type = Int(parts[1]).flatMap(ChannelType.init(rawValue:))
        else { return nil }
        return (
            ChannelKey(appID: String(parts[0]), type: type, name: String(parts[2])),
            parts.count == 4 ? String(parts[3]) : ""
        )
    }
}
