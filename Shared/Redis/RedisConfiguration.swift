package import RTMServiceLink

/// How to reach a Redis server.
package struct RedisConfiguration: Sendable {
    package enum Place: Sendable, Hashable {
        case tcp(host: String, port: Int)
        case unixSocket(String)
    }

    package var place: Place
    package var credentials = RedisCredentials()
    package var database = 0
    /// Nil if the connection is in the clear.
    package var tls: ServiceLinkTLS?
    package var connectTimeout: Duration = .seconds(2)
    /// The time limit of every command. When a command isn't answered in time, the connection is given up,
    /// because its later answers can't be trusted to come.
    package var commandTimeout: Duration = .seconds(2)
    /// Limit: commands without an answer. One more is refused.
    package var commandsMax = 65_536
    package var backoff = Backoff(first: .milliseconds(50), longest: .seconds(2))

    package init(_ place: Place) { self.place = place }
}

extension RedisConfiguration.Place: CustomStringConvertible {
    /// The host that a certificate has to be for.
    var host: String {
        switch self {
        case .tcp(let host, _): host
        case .unixSocket: "localhost"
        }
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): "\(host):\(port)"
        case .unixSocket(let path): path
        }
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
