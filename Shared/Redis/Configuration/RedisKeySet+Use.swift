package import RTMServiceKit
import RTMServiceLink

/// What the keys say becomes the configuration of a client.
extension RedisKeySet {
    /// What is wrong with the files of TLS to Redis; nil if they can be used.
    package func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            let tls = try redis(configuration, read)?.tls
            return configuration.problem(of: trust, authorities: tls?.authorities ?? [])
        } catch {
            return error.problems.first
        }
    }

    /// Nil when the service uses no Redis.
    ///
    /// - Parameter read: reads a file.
    package func redis(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> RedisConfiguration? {
        guard let deployment = deployment(configuration) else { return nil }
        var redis = RedisConfiguration(deployment)
        redis.credentials = RedisCredentials(
            user: configuration[user] ?? "", password: configuration[password]?.revealed ?? "")
        redis.sentinelCredentials = RedisCredentials(
            user: configuration[sentinelUser] ?? "",
            password: configuration[sentinelPassword]?.revealed ?? "")
        redis.database = configuration[database]
        redis.commandTimeout = configuration[timeout]
        redis.connectTimeout = configuration[timeout]
        redis.serverName = configuration[serverName]
        redis.tls = try contexts(configuration, read).map(ServiceLinkTLS.init)
        return redis
    }

    private func deployment(_ configuration: Configuration) -> RedisConfiguration.Deployment? {
        let endpoints = configuration[self.endpoints].compactMap { RedisEndpoint($0) }
        guard let first = endpoints.first else { return nil }
        return switch configuration[mode] {
        case .server: .server(first)
        case .sentinel: .sentinel(endpoints, master: configuration[master] ?? "")
        case .cluster: .cluster(seeds: endpoints)
        }
    }

    /// Has the next connection use a new user, a new password and new authorities.
    package func follow(_ context: ServiceContext, with redis: RedisConfiguration) {
        let (credentials, sentinels, tls) = (redis.credentials, redis.sentinelCredentials, redis.tls)
        let certificates = context.certificates
        certificates.take(trust, authorities: tls?.authorities ?? [])
        context.onChange(of: live) { [self] next in
            let (user, password) = (next[user] ?? "", next[password]?.revealed ?? "")
            let sentinelUser = next[sentinelUser] ?? ""
            let sentinelPassword = next[sentinelPassword]?.revealed ?? ""
            let contexts = try contexts(next) { try TextFile.read($0) }
            return {
                credentials.set(user: user, password: password)
                sentinels.set(user: sentinelUser, password: sentinelPassword)
                guard let contexts else { return }
                tls?.take(contexts)
                certificates.take(trust, authorities: contexts.authorities)
            }
        }
    }

    /// Nil without TLS. Throws the key whose file can't be used.
    private func contexts(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> ServiceLinkTLS.Contexts? {
        guard configuration[tls] else { return nil }
        let content = "certificates of authorities"
        let trusting = try configuration.use(trust, for: content, read) {
            try ServiceLinkTLS.Contexts(identity: nil, trust: $0)
        }
        if let trusting { return trusting }
        do {
            return try ServiceLinkTLS.Contexts(identity: nil, trust: nil)
        } catch {
            throw configuration.refusal(of: trust, "the system has none: \(fileFailure(error))", content)
        }
    }
}
