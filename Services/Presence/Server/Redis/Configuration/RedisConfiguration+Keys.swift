import RTMRedis
import RTMServiceKit
import RTMServiceLink

extension RedisPlace {
    private static let socketPrefix = "unix:"

    /// Reads `HOST:PORT` or `unix:PATH`. Returns nil for a text that `refusal` has something to say about.
    init?(_ text: String) {
        if text.hasPrefix(Self.socketPrefix) {
            let path = String(text.dropFirst(Self.socketPrefix.count))
            guard !path.isEmpty else { return nil }
            self = .unixSocket(path)
        } else {
            guard let address = try? HostPort(text: text), address.port > 0 else { return nil }
            self = .tcp(host: address.host, port: address.port)
        }
    }

    /// Why the text is no place, as a clause that follows the text; nil if it is one.
    static func refusal(_ text: String) -> String? {
        guard RedisPlace(text) == nil else { return nil }
        if text.hasPrefix(socketPrefix) { return "names no socket; write unix:/path/to/socket" }
        do {
            _ = try HostPort(text: text)
            return "has the port 0; write HOST:PORT or unix:PATH"
        } catch {
            return error.reason
        }
    }
}

extension RedisConfiguration {
    /// What is wrong with the files of TLS to Redis; nil if they can be used.
    @Sendable static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            _ = try RedisConfiguration(configuration, read)
            return nil
        } catch {
            return error.problems.first
        }
    }

    /// Nil when the rosters are kept in this process.
    ///
    /// - Parameter read: reads a file.
    init?(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) {
        guard let deployment = Self.deployment(configuration) else { return nil }
        self.init(deployment)
        credentials = RedisCredentials(
            user: Self.user(configuration), password: Self.password(configuration))
        sentinelCredentials = RedisCredentials(
            user: configuration[PresenceKeys.redisSentinelUser] ?? "",
            password: configuration[PresenceKeys.redisSentinelPassword]?.revealed ?? "")
        database = configuration[PresenceKeys.redisDatabase]
        commandTimeout = configuration[PresenceKeys.redisTimeout]
        connectTimeout = configuration[PresenceKeys.redisTimeout]
        serverName = configuration[PresenceKeys.redisServerName]
        tls = try Self.contexts(configuration, read).map(ServiceLinkTLS.init)
    }

    private static func deployment(_ configuration: Configuration) -> Deployment? {
        let places = configuration[PresenceKeys.redisEndpoints].compactMap { RedisPlace($0) }
        guard let first = places.first else { return nil }
        return switch configuration[PresenceKeys.redisMode] {
        case .server: .server(first)
        case .sentinel: .sentinel(places, master: configuration[PresenceKeys.redisMaster] ?? "")
        case .cluster: .cluster(seeds: places)
        }
    }

    /// Has the next connection use a new user, a new password and new authorities.
    func follow(_ context: ServiceContext) {
        let (credentials, sentinels, tls) = (credentials, sentinelCredentials, tls)
        context.onChange(of: PresenceKeys.liveRedis) { next in
            let (user, password) = (Self.user(next), Self.password(next))
            let sentinelUser = next[PresenceKeys.redisSentinelUser] ?? ""
            let sentinelPassword = next[PresenceKeys.redisSentinelPassword]?.revealed ?? ""
            let contexts = try Self.contexts(next) { try TextFile.read($0) }
            return {
                credentials.set(user: user, password: password)
                sentinels.set(user: sentinelUser, password: sentinelPassword)
                if let contexts { tls?.take(contexts) }
            }
        }
    }

    private static func user(_ configuration: Configuration) -> String {
        configuration[PresenceKeys.redisUser] ?? ""
    }

    private static func password(_ configuration: Configuration) -> String {
        configuration[PresenceKeys.redisPassword]?.revealed ?? ""
    }

    /// Nil without TLS. Throws the key whose file can't be used.
    private static func contexts(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> ServiceLinkTLS.Contexts? {
        guard configuration[PresenceKeys.redisTLS] else { return nil }
        let content = "certificates of authorities"
        let trusting = try configuration.use(PresenceKeys.redisTrust, for: content, read) {
            try ServiceLinkTLS.Contexts(identity: nil, trust: $0)
        }
        if let trusting { return trusting }
        do {
            return try ServiceLinkTLS.Contexts(identity: nil, trust: nil)
        } catch {
            throw configuration.refusal(of: PresenceKeys.redisTrust, "the system has none: \(error)", content)
        }
    }
}
