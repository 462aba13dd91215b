import RTMModel
import RTMRedis

/// The channels of each user, and the members under each lease.
///
/// A member's entries are written before and after it enters. They are removed after it has gone, unless it
/// is in the channel again. A superfluous entry does no harm. One is missing
/// only for the time of one answer, when a member comes back while its entries are being removed.
struct RedisMemberIndex {
    let client: RedisClient
    let keys: RedisKeys

    func add(_ user: String, _ lease: UInt64, _ channel: ChannelKey) {
        let key = UserKey(appID: channel.appID, userID: user)
        client.sendOnly(["SADD", .text(keys.channels(of: key)), .text(RedisKeys.field(channel))])
        client.sendOnly(["PEXPIRE", .text(keys.channels(of: key)), RedisArgument(RedisIndexLife.span)])
        client.sendOnly(["SADD", .text(keys.members(under: lease)), .text(RedisKeys.field(channel, user))])
    }

    func remove(_ gone: [(user: String, lease: UInt64)], _ channel: ChannelKey) {
        for (user, lease) in gone {
            read(user, channel) { row in
                if row?.lease != lease { remove(user, lease, channel, isThere: row != nil) }
            }
        }
    }

    private func remove(_ user: String, _ lease: UInt64, _ channel: ChannelKey, isThere: Bool) {
        if !isThere {
            let key = UserKey(appID: channel.appID, userID: user)
            client.sendOnly(["SREM", .text(keys.channels(of: key)), .text(RedisKeys.field(channel))])
        }
        client.sendOnly([
            "SREM", .text(keys.members(under: lease)), .text(RedisKeys.field(channel, user)),
        ])
        // The user may have come back since the roster was read.
        read(user, channel) { row in
            if let row { add(user, row.lease, channel) }
        }
    }

    private func read(_ user: String, _ channel: ChannelKey, _ done: @escaping (RosterRow?) -> Void) {
        client.send(RedisCommand("HGET", .text(keys.roster(channel)[0]), .text(user))) { outcome in
            if case .success(let reply) = outcome { done(RosterRow(reply)) }
        }
    }
}

extension RedisClient {
    /// Sends a command whose answer changes nothing: when the connection is lost, all other commands fail,
    /// too.
    func sendOnly(_ arguments: [RedisArgument]) { send(RedisCommand(arguments)) { _ in } }
}
