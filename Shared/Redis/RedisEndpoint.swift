/// Where a server of Redis or a sentinel listens.
package enum RedisEndpoint: Sendable, Hashable {
    case tcp(host: String, port: Int)
    case unixSocket(String)
}

extension RedisEndpoint: CustomStringConvertible {
    /// The host that a certificate has to be for.
    var host: String {
        switch self {
        case .tcp(let host, _): host
        case .unixSocket: "localhost"
        }
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}
