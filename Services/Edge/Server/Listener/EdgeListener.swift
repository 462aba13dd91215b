import Logging
import NIOCore
import NIOPosix
import NIOSSL
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Synchronization

#if os(Linux)
    import Glibc
#endif

/// An address where clients connect: in the clear or with TLS, for TCP or for WebSocket. Every accepted
/// connection belongs to the loop that accepted it, for life.
struct EdgeListener: Service {
    let name: String
    private let purpose: String
    private let address: HostPort
    /// Whether the process continues if the address is taken, because nobody has asked for it.
    private let isOptional: Bool
    private let tls: ListenerTLS?
    private let webSocket: WebSocketGate?
    private let balancers: [AddressRange]
    private let loops: EdgeNode
    private let limiter: ConnectionLimiter
    private let acceptGuard: AcceptGuard
    private let metrics: EdgeMetrics
    private let logger: Logger
    private let bound = BoundChannel()

    /// - Parameters:
    ///   - tls: nil if clients talk in the clear.
    ///   - webSocket: nil if the frames travel over TCP as they are.
    ///   - balancers: who says in a header of the PROXY protocol where the client is.
    init(
        purpose: String, address: HostPort, isOptional: Bool, tls: ListenerTLS?, webSocket: WebSocketGate?,
        balancers: [AddressRange], loops: EdgeNode, limiter: ConnectionLimiter,
        accepting: AcceptPolicy, metrics: EdgeMetrics, logger: Logger
    ) {
        name = "\(purpose) listener"
        self.purpose = purpose
        self.address = address
        self.isOptional = isOptional
        self.tls = tls
        self.webSocket = webSocket
        self.balancers = balancers
        self.loops = loops
        self.limiter = limiter
        acceptGuard = AcceptGuard("\(purpose) at \(address)", for: .peer, accepting)
        self.metrics = metrics
        self.logger = logger
    }

    func start() async throws {
        var bootstrap = ServerBootstrap(group: loops.group)
            .serverChannelInitializer(acceptGuard.watch)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 4_096)
            // Accepted sockets inherit it.
            .serverChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: Self.acceptsPerTurn)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try accept(channel) }
            }
        #if os(Linux)
            // Accepted sockets inherit it.
            bootstrap = bootstrap.serverChannelOption(
                .tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsentBytesMax)
        #endif
        do {
            let channel = try await bootstrap.bind(host: address.host, port: address.port).get()
            bound.channel.withLock { $0 = channel }
        } catch {
            let failure = ServiceFailure.cannotBind(address, for: "\(purpose).listen", error)
            guard isOptional, failure.isAddressTaken else { throw failure }
            failure.leftOut(logger)
        }
    }

    /// Accepts no more connections. The open ones belong to the loops.
    func shutdown(deadline: ContinuousClock.Instant) async {
        let channel = bound.channel.withLock { $0.take() }
        try? await channel?.close()
    }

    var listening: [ListeningAddress] {
        get async {
            guard let channel = bound.channel.withLock({ $0 }) else { return [] }
            let port = channel.localAddress?.port ?? address.port
            return [ListeningAddress(purpose, HostPort(host: address.host, port: port))]
        }
    }

    /// Limit: connections that a turn of the loop accepts. To accept one and to deal with its first bytes
    /// takes a quarter of a millisecond, while all other clients of the loop wait.
    private static let acceptsPerTurn: UInt = 4

    /// Limit: bytes that the kernel takes for a connection beyond what the client's window lets it send.
    /// Without it the kernel takes up to 4 MB for a client that doesn't read, which no limit of an edge
    /// counts. The rest waits in the edge, where R-18 counts it.
    private static let unsentBytesMax: Int = 128 << 10

    private func accept(_ channel: any Channel) throws {
        let descriptor = channel.descriptor
        guard acceptGuard.admits(descriptor) else { return channel.close(promise: nil) }
        // This isn't a child option because the bootstrap makes a chain of futures for those each time.
        try channel.syncOptions?.setOption(.recvAllocator, value: ReadSize())
        guard let peer = channel.remoteAddress, balancers.contains(where: { $0.contains(peer) }) else {
            return try begin(channel, descriptor, from: channel.remoteAddress?.ipAddress ?? "")
        }
        let timeout = loops.loop(of: channel.eventLoop).configuration.limits.handshakeTimeout
        try channel.pipeline.syncOperations.addHandler(
            ProxyHeaderHandler(timeout: timeout, metrics: metrics, logger: logger) {
                try begin($0, descriptor, from: $1)
            })
    }

    /// - Parameter remote: where the client is.
    private func begin(_ channel: any Channel, _ descriptor: CInt?, from remote: String) throws {
        let pipeline = channel.pipeline.syncOperations
        let socket = descriptor.map(DirectSocket.init)
        if let tls {
            try pipeline.addHandlers([
                DirectWriteHandler(socket), PlainHTTPHandler(), NIOSSLServerHandler(context: tls.context),
            ])
        }
        let loop = loops.loop(of: channel.eventLoop)
        switch limiter.admit(remote, makingRoom: loop.evictUnauthenticated) {
        case .admitted:
            let isOnSocket = tls == nil && webSocket == nil
            // TLS and WebSocket have a farewell of their own. Without it they are closed at once.
            if isOnSocket { try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true) }
            let connection = ConnectionHandler(loop: loop, socket: isOnSocket ? socket : nil)
            connection.admitted(ConnectionSlot(channel: channel, address: remote, limiter: limiter))
            channel.closeFuture.assumeIsolated().whenComplete { _ in connection.release() }
            if let webSocket {
                try WebSocketUpgrade.begin(on: channel, through: webSocket, as: connection, loop)
            } else {
                try pipeline.addHandler(connection)
            }
        case .refused(let reason):
            // With TLS the refusal waits for the client's handshake, and that may never come.
            let timeout = loop.configuration.limits.lingerTimeout
            let end = channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
            let limiter = self.limiter
            channel.closeFuture.whenComplete { _ in
                end.cancel()
                limiter.releaseRefused()
            }
            if webSocket != nil { return try WebSocketUpgrade.refuse(channel, reason) }
            let refusal = Disconnect(.tooManyConnections, reason, retryAfter: .seconds(5))
            try pipeline.addHandler(RefusedConnection(refusal))
        case .dropped:
            channel.close(promise: nil)
        }
    }
}

private final class BoundChannel: Sendable {
    let channel = Mutex<(any Channel)?>(nil)
}

/// Sends a client the reason why it can't come in, and closes.
private final class RefusedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let refusal: Disconnect
    private var drainedBytes = 0

    init(_ refusal: Disconnect) { self.refusal = refusal }

    /// Behind a load balancer the channel is active already.
    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { refuse(context) }
    }

    func channelActive(context: ChannelHandlerContext) { refuse(context) }

    private func refuse(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        // Bytes of the client that are unread would reset the connection, and the refusal would be lost.
        context.writeAndFlush(wrapOutboundOut(ServerFrame(refusal).frame)).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        drainedBytes += unwrapInboundIn(data).readableBytes
        if drainedBytes > InboundBuffer.drainedBytesMax { context.close(promise: nil) }
    }
}
