package import RTMServiceLink

/// How to reach Redis: one server, the master that sentinels name, or the masters of a Redis Cluster.
package struct RedisConfiguration: Sendable {
    package enum Deployment: Sendable, Hashable {
        case server(RedisEndpoint)
        /// - Parameter master: the name under which the sentinels know the master.
        case sentinel([RedisEndpoint], master: String)
        /// - Parameter seeds: any nodes of the Cluster; the others are found.
        case cluster(seeds: [RedisEndpoint])
    }

    package var deployment: Deployment
    package var credentials = RedisCredentials()
    /// Who logs in to the sentinels.
    package var sentinelCredentials = RedisCredentials()
    package var database = 0
    /// Nil if the connections are in the clear.
    package var tls: ServiceLinkTLS?
    /// The name that certificates have to be for; nil if it is the host of each server.
    package var serverName: String?
    package var connectTimeout: Duration = .seconds(2)
    /// The time limit of every command. When a command isn't answered in time, its connection is given up,
    /// because the later answers there can't be trusted to come.
    package var commandTimeout: Duration = .seconds(2)
    /// Limit: commands without an answer. One more is refused.
    package var commandsMax = 65_536
    package var backoff = Backoff(first: .milliseconds(50), longest: .seconds(2))
    /// So long it may take until a server that is there again is noticed: an attempt that began before has to
    /// fail first.
    package var reconnectMax: Duration { connectTimeout + backoff.longest }
    package var dialer: any RedisDialing = RedisSocketDialer()
    /// Spreads the attempts of many callers; in 0..<1.
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }

    package init(_ deployment: Deployment) { self.deployment = deployment }
}

extension RedisConfiguration.Deployment: CustomStringConvertible {
    package var description: String {
        switch self {
        case .server(let endpoint): "\(endpoint)"
        case .sentinel(let endpoints, let master): "\(master) of the sentinels \(Self.list(endpoints))"
        case .cluster(let seeds): "the Cluster of \(Self.list(seeds))"
        }
    }

    private static func list(_ endpoints: [RedisEndpoint]) -> String {
        endpoints.map(\.description).joined(separator: ", ")
    }
}

/// Why a command has no result.
package enum RedisFailure: Error, Sendable, Hashable {
    /// The command was not sent: there is no connection, for this reason.
    case notConnected(String)
    /// The command was not sent: too many commands wait.
    case tooManyCommands(Int)
    /// There was no answer in time, or the connection was lost before it. The command may have been carried
    /// out.
    case timedOut
    case disconnected
    /// Redis refused the command.
    case refused(String)
}

extension RedisFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConnected(let why): why
        case .tooManyCommands(let count): "\(count) commands wait already"
        case .timedOut: "no answer in time"
        case .disconnected: "the connection was lost before the answer"
        case .refused(let text): text
        }
    }
}
