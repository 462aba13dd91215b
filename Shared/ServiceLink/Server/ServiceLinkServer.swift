package import Logging
package import NIOCore
import NIOPosix
import RTMWire
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The place where a service's callers arrive: any number of TCP listeners and in-process endpoints.
///
/// It is safe to use from anywhere. The links that it accepts live on the event loops of `links`; a service
/// that keeps all its state on one loop passes that loop. `handler` is called on the link's loop for every
/// caller that is admitted. It may return the same object each time or a new one.
package final class ServiceLinkServer: Sendable {
    package let configuration: ServiceLinkServerConfiguration
    private let links: any EventLoopGroup
    private let logger: Logger
    private let handler: @Sendable (AcceptedServiceLink) -> any ServiceLinkHandler
    private let registry: ServiceLinkRegistry
    private let listening = Mutex<(channels: [any Channel], endpoints: [InProcessEndpoint])>(([], []))

    package init(
        _ configuration: ServiceLinkServerConfiguration, links: any EventLoopGroup, logger: Logger,
        handler: @escaping @Sendable (AcceptedServiceLink) -> any ServiceLinkHandler
    ) {
        self.configuration = configuration
        self.links = links
        self.logger = logger
        self.handler = handler
        registry = ServiceLinkRegistry(configuration)
    }

    /// Links that are open or in their handshake.
    package var linkCount: Int { registry.count }

    /// Returns the port, which the system chooses for port 0. Throws the system's error, for example when the
    /// port is in use.
    package func listen(host: String, port: Int) async throws -> Int {
        let bootstrap = try await bootstrap("\(configuration.service) at \(host):\(port)")
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        let channel = try await bootstrap.bind(host: host, port: port).get()
        listening.withLock { $0.channels.append(channel) }
        return channel.localAddress?.port ?? port
    }

    /// Lets callers on this machine reach the service who may open the socket at the path: this user, and
    /// root.
    package func listen(path: String) async throws {
        let bootstrap = try await bootstrap("\(configuration.service) at \(path)")
        let channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
            .get()
        chmod(path, 0o600)
        listening.withLock { $0.channels.append(channel) }
    }

    private func bootstrap(_ name: String) async throws -> ServerBootstrap {
        let loop = links.next()
        let acceptGuard = AcceptGuard(name, for: .peer, configuration.accepting)
        let newcomers = try await loop.submit {
            let newcomers = UnauthenticatedConnections(self.configuration, crowded: acceptGuard.easeOff)
            return NIOLoopBound(newcomers, eventLoop: loop)
        }.get()
        return ServerBootstrap(group: loop)
            .serverChannelInitializer(acceptGuard.watch)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.maxMessagesPerRead, value: Self.acceptsPerTurn)
            .childChannelOption(.recvAllocator, value: TCPTransport.readBuffers)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard acceptGuard.admits(channel) else { return channel.close(promise: nil) }
                    try self.begin(channel, among: newcomers.value)
                }
            }
    }

    /// Lets callers in this process reach the service at `endpoint`.
    package func listen(on endpoint: InProcessEndpoint) {
        listening.withLock { $0.endpoints.append(endpoint) }
        endpoint.listen(.init(links: links) { self.accept(on: $0) })
    }

    /// The receiver of a caller's transport, for those who bring a transport of their own.
    package func receiver(on eventLoop: any EventLoop) -> any ServiceLinkTransportReceiver {
        accept(on: eventLoop)
    }

    /// Limit: connections that a turn of the loop accepts, because everybody else on it waits meanwhile.
    private static let acceptsPerTurn: UInt = 4

    private func begin(_ channel: any Channel, among newcomers: UnauthenticatedConnections) throws {
        let link = makeLink(on: channel.eventLoop)
        switch newcomers.admit(link, over: channel) {
        case .admitted: break
        case .refused(let reason): link.refusal = ServiceLinkGoAway(.overflow, reason)
        case .dropped: return channel.close(promise: nil)
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls = configuration.link.tls { try pipeline.addHandler(tls.serverHandler()) }
        try pipeline.addHandler(TCPTransport(receiver: link.makeConnection()))
    }

    func accept(on eventLoop: any EventLoop) -> ServiceLinkConnection {
        makeLink(on: eventLoop).makeConnection()
    }

    private func makeLink(on eventLoop: any EventLoop) -> AcceptedServiceLink {
        AcceptedServiceLink(
            id: registry.makeID(), configuration, registry: registry, on: eventLoop, logger: logger,
            handler: handler)
    }

    /// Accepts no more callers, asks the present ones to go, and returns when their last bytes have been
    /// handed over.
    package func drain() async {
        let (channels, endpoints) = listening.withLock { listening in
            defer { listening = ([], []) }
            return listening
        }
        for endpoint in endpoints { endpoint.stopListening() }
        for channel in channels { try? await channel.close() }
        await registry.drain()
    }
}
