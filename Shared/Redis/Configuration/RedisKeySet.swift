package import RTMServiceKit

/// How Redis is deployed.
package enum RedisMode: String, Sendable, CaseIterable {
    case server, sentinel, cluster
}

/// The configuration keys of the Redis that a service uses, such as `presence.redis.endpoints`.
package struct RedisKeySet: KeySet {
    package let endpoints: ConfigurationKey<[String]>
    let mode: ConfigurationKey<RedisMode>
    let master: ConfigurationKey<String?>
    let sentinelUser: ConfigurationKey<String?>
    let sentinelPassword: ConfigurationKey<Secret?>
    let user: ConfigurationKey<String?>
    let password: ConfigurationKey<Secret?>
    let tls: ConfigurationKey<Bool>
    let trust: ConfigurationKey<String?>
    let serverName: ConfigurationKey<String?>
    let database: ConfigurationKey<Int>
    package let prefix: ConfigurationKey<String>
    package let timeout: ConfigurationKey<Duration>
    private let section: String

    /// - Parameters:
    ///   - purpose: what Redis does for the service, as a clause behind "Where the Redis is".
    ///   - otherwise: what happens without Redis, as a sentence.
    package init(of service: String, purpose: String, otherwise: String) {
        let section = "\(service).redis"
        self.section = section
        endpoints =
            .list(
                "\(section).endpoints", countMax: 100,
                "Where the Redis is \(purpose), as HOST:PORT or unix:PATH: the server, the sentinels, or "
                    + "some nodes of the Cluster. \(otherwise)"
            ).forOwnProcess
        mode =
            .choice(
                "\(section).mode", default: .server,
                "What the endpoints are: one server, the sentinels of a master, or nodes of a Redis Cluster."
            ).forOwnProcess
        master =
            .optionalString(
                "\(section).sentinel.master", "The name under which the sentinels know the master."
            ).forOwnProcess
        sentinelUser =
            .optionalString(
                "\(section).sentinel.user", "ACL user of the sentinels. Unset: the default user."
            ).live.forOwnProcess
        sentinelPassword =
            .secret(
                "\(section).sentinel.password", "Password of the sentinels. Unset: they ask for none."
            ).live.forOwnProcess
        user =
            .optionalString(
                "\(section).user", "ACL user in Redis. Unset: the default user."
            ).live.forOwnProcess
        password =
            .secret(
                "\(section).password", "Password of the user in Redis."
            ).live.forOwnProcess
        tls =
            .bool(
                "\(section).tls", default: false,
                "Whether the connections to Redis and its sentinels use TLS."
            ).forOwnProcess
        trust =
            .optionalFile(
                "\(section).trust",
                "PEM file with the authorities whose certificates are accepted of Redis. "
                    + "Unset: those that the system trusts."
            ).live.certificates.forOwnProcess
        serverName =
            .optionalString(
                "\(section).serverName",
                "The name that the certificates of Redis have to be for. Unset: the host that is connected to."
            ).forOwnProcess
        database =
            .int(
                "\(section).database", default: 0, in: 0...65_535,
                "Number of the database in Redis; a Cluster has only 0."
            ).forOwnProcess
        prefix =
            .string(
                "\(section).prefix", default: "rtm:\(service):", "Prefix of every key in Redis."
            ).forOwnProcess
        timeout =
            .duration(
                "\(section).timeout", default: .seconds(2), in: .milliseconds(10) ... .seconds(60),
                "After this time without an answer from Redis a call is refused, and the node connects again."
            ).forOwnProcess
    }

    package var rules: [ConfigurationRule] {
        [
            ConfigurationRule(endpoints) { endpoints in
                endpoints.lazy.compactMap { endpoint in
                    RedisEndpoint.refusal(endpoint).map { "has the endpoint \"\(endpoint)\", which \($0)" }
                }.first
            },
            ConfigurationRule(endpoints) { [self] endpoints, configuration in
                guard configuration[mode] == .server, endpoints.count > 1 else { return nil }
                return "has \(endpoints.count) endpoints, but one server has one: set \(section).mode to "
                    + "sentinel or cluster, or give one endpoint"
            },
            ConfigurationRule(mode) { [self] mode, configuration in
                guard mode != .server, configuration[endpoints].isEmpty else { return nil }
                return "\(mode.rawValue) needs \(section).endpoints: set it to the addresses of "
                    + (mode == .cluster ? "some nodes of the Cluster" : "the sentinels")
            },
            ConfigurationRule(mode) { [self] mode, configuration in
                switch (mode, configuration[master]) {
                case (.sentinel, nil):
                    "sentinel needs \(section).sentinel.master: set it to the name that "
                        + "SENTINEL MASTERS shows"
                case (.server, .some), (.cluster, .some):
                    "\(mode.rawValue) has no use for \(section).sentinel.master: set \(section).mode to "
                        + "sentinel, or unset the name"
                default: nil
                }
            },
            ConfigurationRule(database) { [self] database, configuration in
                guard configuration[mode] == .cluster, database != 0 else { return nil }
                return "\(database) is no database of a Redis Cluster, which has only 0: unset it"
            },
        ]
    }
}
