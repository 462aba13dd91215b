import RTMModel
import RTMRedis

/// The channels of each user, which lie in slots of their own.
///
/// An entry is written before and after its member enters. It is removed after the member has gone, unless
/// the user is in the channel again. A superfluous entry does no harm. One is missing only for the time of
/// one answer, when a member comes back while its entry is being removed; and when a failover has lost it,
/// until the edges have reported their members again.
struct RedisMemberIndex {
    let client: RedisClient
    let keys: RedisKeys

    func entry(_ user: String, _ channel: ChannelKey) -> [RedisCommand] {
        let key = UserKey(appID: channel.appID, userID: user)
        return [
            RedisCommand("SADD", .text(keys.channels(of: key)), .text(RedisKeys.field(channel))),
            RedisCommand("PEXPIRE", .text(keys.channels(of: key)), RedisArgument(RedisIndexLife.span)),
        ]
    }

    func add(_ user: String, _ channel: ChannelKey) {
        for command in entry(user, channel) { client.send(command) { _ in } }
    }

    func remove(_ gone: [String], _ channel: ChannelKey) {
        for user in gone {
            isMember(user, channel) { isMember in
                if !isMember { removeEntry(user, channel) }
            }
        }
    }

    private func removeEntry(_ user: String, _ channel: ChannelKey) {
        let key = UserKey(appID: channel.appID, userID: user)
        let command = RedisCommand("SREM", .text(keys.channels(of: key)), .text(RedisKeys.field(channel)))
        // The user may have come back since the roster was read. It is read again when the entry is certainly
        // gone: in a Cluster the roster may be on another master, which would answer sooner.
        client.send(command) { _ in
            isMember(user, channel) { isMember in
                if isMember { add(user, channel) }
            }
        }
    }

    private func isMember(_ user: String, _ channel: ChannelKey, _ done: @escaping (Bool) -> Void) {
        client.send(RedisCommand("HGET", .text(keys.roster(channel)[0]), .text(user))) { outcome in
            if case .success(let reply) = outcome { done(RosterRow(reply) != nil) }
        }
    }
}
