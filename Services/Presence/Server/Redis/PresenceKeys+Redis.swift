import RTMRedisConfiguration
import RTMServiceKit

extension PresenceKeys {
    static let redis = RedisKeySet(
        of: "presence", purpose: "that keeps the rosters for several presence nodes",
        otherwise: "Unset: this process keeps them.")

    static let redisRule = ConfigurationRule(
        leaseTimeToLive, times: redis.timeout,
        because: "a renewal that waits for Redis has to be answered before its lease ends",
        when: { !$0[redis.endpoints].isEmpty })
}
