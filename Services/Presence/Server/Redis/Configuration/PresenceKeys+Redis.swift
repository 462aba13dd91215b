import RTMRedis
package import RTMServiceKit

/// How Redis is deployed.
package enum RedisMode: String, Sendable, CaseIterable {
    case server, sentinel, cluster
}

/// The configuration keys of the Redis that keeps the rosters.
extension PresenceKeys {
    package static let redisEndpoints = ConfigurationKey<[String]>.list(
        "presence.redis.endpoints", countMax: 100,
        "Where the Redis is that keeps the rosters for several presence nodes, as HOST:PORT or unix:PATH: the server, the sentinels, or some nodes of the Cluster. Unset: this process keeps them."
    )
    package static let redisMode = ConfigurationKey<RedisMode>.choice(
        "presence.redis.mode", default: .server,
        "What the endpoints are: one server, the sentinels of a master, or nodes of a Redis Cluster.")
    package static let redisMaster = ConfigurationKey<String?>.optionalString(
        "presence.redis.sentinel.master", "The name under which the sentinels know the master.")
    package static let redisSentinelUser = ConfigurationKey<String?>.optionalString(
        "presence.redis.sentinel.user", "ACL user of the sentinels. Unset: the default user.")
    package static let redisSentinelPassword = ConfigurationKey<Secret?>.secret(
        "presence.redis.sentinel.password", "Password of the sentinels. Unset: they ask for none.")
    package static let redisUser = ConfigurationKey<String?>.optionalString(
        "presence.redis.user", "ACL user in Redis. Unset: the default user.")
    package static let redisPassword = ConfigurationKey<Secret?>.secret(
        "presence.redis.password", "Password of the user in Redis.")
    package static let redisTLS = ConfigurationKey<Bool>.bool(
        "presence.redis.tls", default: false, "Whether the connections to Redis and its sentinels use TLS.")
    package static let redisTrust = ConfigurationKey<String?>.optionalFile(
        "presence.redis.trust",
        "PEM file with the authorities whose certificates are accepted of Redis. Unset: those that the system trusts."
    )
    package static let redisServerName = ConfigurationKey<String?>.optionalString(
        "presence.redis.serverName",
        "The name that the certificates of Redis have to be for. Unset: the host that is connected to.")
    package static let redisDatabase = ConfigurationKey<Int>.int(
        "presence.redis.database", default: 0, in: 0...65_535,
        "Number of the database in Redis; a Cluster has only 0.")
    package static let redisPrefix = ConfigurationKey<String>.string(
        "presence.redis.prefix", default: "rtm:presence:", "Prefix of every key in Redis.")
    package static let redisTimeout = ConfigurationKey<Duration>.duration(
        "presence.redis.timeout", default: .seconds(2), in: .milliseconds(10) ... .seconds(60),
        "After this time without an answer from Redis a call is refused, and the node connects again.")

    static let redis: [KeyDeclaration] = [
        redisEndpoints.declaration, redisMode.declaration, redisMaster.declaration,
        redisSentinelUser.declaration, redisSentinelPassword.declaration, redisUser.declaration,
        redisPassword.declaration, redisTLS.declaration, redisTrust.declaration,
        redisServerName.declaration, redisDatabase.declaration, redisPrefix.declaration,
        redisTimeout.declaration,
    ]

    /// What a running node takes over from a changed configuration.
    static let liveRedis: [KeyDeclaration] = [
        redisUser.declaration, redisPassword.declaration, redisSentinelUser.declaration,
        redisSentinelPassword.declaration, redisTrust.declaration,
    ]

    static let redisRules = [
        ConfigurationRule(
            leaseTimeToLive, times: redisTimeout,
            because: "a renewal that waits for Redis has to be answered before its lease ends",
            when: { !$0[redisEndpoints].isEmpty }),
        ConfigurationRule(redisEndpoints) { places in
            places.lazy.compactMap { place in
                RedisPlace.refusal(place).map { "has the endpoint \"\(place)\", which \($0)" }
            }.first
        },
        ConfigurationRule(redisEndpoints) { places, configuration in
            guard configuration[redisMode] == .server, places.count > 1 else { return nil }
            return "has \(places.count) endpoints, but one server has one: set presence.redis.mode to "
                + "sentinel or cluster, or give one endpoint"
        },
        ConfigurationRule(redisMode) { mode, configuration in
            guard mode != .server, configuration[redisEndpoints].isEmpty else { return nil }
            return "\(mode.rawValue) needs presence.redis.endpoints: set it to the addresses of "
                + (mode == .cluster ? "some nodes of the Cluster" : "the sentinels")
        },
        ConfigurationRule(redisMode) { mode, configuration in
            switch (mode, configuration[redisMaster]) {
            case (.sentinel, nil):
                "sentinel needs presence.redis.sentinel.master: set it to the name that SENTINEL MASTERS shows"
            case (.server, .some), (.cluster, .some):
                "\(mode.rawValue) has no use for presence.redis.sentinel.master: set presence.redis.mode to "
                    + "sentinel, or unset the name"
            default: nil
            }
        },
        ConfigurationRule(redisDatabase) { database, configuration in
            guard configuration[redisMode] == .cluster, database != 0 else { return nil }
            return "\(database) is no database of a Redis Cluster, which has only 0: unset it"
        },
    ]
}
