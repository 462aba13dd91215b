package import NIOCore
import NIOPosix
import RTMServiceLink

/// Opens the channels of connections to Redis. The handler at the end of their pipeline learns that they are
/// active, and everything else.
package protocol RedisDialing: Sendable {
    /// - Parameter failed: is called on the event loop if there is no channel.
    func dial(
        _ endpoint: RedisEndpoint, _ configuration: RedisConfiguration,
        for handler: any ChannelInboundHandler,
        on eventLoop: any EventLoop, failed: @escaping (_ cause: String) -> Void)
}

/// Opens sockets, with TLS if that is configured.
struct RedisSocketDialer: RedisDialing {
    func dial(
        _ endpoint: RedisEndpoint, _ configuration: RedisConfiguration,
        for handler: any ChannelInboundHandler,
        on eventLoop: any EventLoop, failed: @escaping (_ cause: String) -> Void
    ) {
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        let host = configuration.serverName ?? endpoint.host
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(.init(configuration.connectTimeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls = configuration.tls {
                        try channel.pipeline.syncOperations.addHandler(tls.clientHandler(to: host))
                    }
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
        let connected =
            switch endpoint {
            case .tcp(let host, let port): bootstrap.connect(host: host, port: port)
            case .unixSocket(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connected.assumeIsolated().whenFailure { failed(connectFailure($0)) }
    }
}
