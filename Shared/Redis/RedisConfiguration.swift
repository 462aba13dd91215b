package import RTMServiceLink

/// How to reach a Redis server.
package struct RedisConfiguration: Sendable {
    package enum Place: Sendable, Hashable {
        case tcp(host: String, port: Int)
        case unixSocket(String)
    }

    package var place: Place
    /// ACL user; empty: the default one.
    package var user = ""
    /// Never logged.
    package var password = ""
    package var database = 0
    package var connectTimeout: Duration = .seconds(2)
    /// Of every command. When one isn't answered in time, the connection is given up, for its answers can't
    /// be trusted to come.
    package var commandTimeout: Duration = .seconds(2)
    /// Limit: commands without an answer. One more is refused.
    package var commandsMax = 65_536
    package var backoff = Backoff(first: .milliseconds(50), longest: .seconds(2))

    package init(_ place: Place) { self.place = place }
}

extension RedisConfiguration.Place: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): "\(host):\(port)"
        case .unixSocket(let path): path
        }
    }
}

/// Why a command has no result.
package enum RedisFailure: Error, Sendable, Hashable {
    /// Not sent: there is no connection, for this reason.
    case notConnected(String)
    /// Not sent: too many commands wait.
    case tooManyCommands(Int)
    /// No answer in time, or the connection was lost before it. It may have been done.
    case timedOut
    case disconnected
    /// Redis refused it.
    case refused(String)
}
