import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy that does to its connections what networks do: it cuts them, holds them up, and delays them.
///
/// A client that connects through it can't tell it from a bad line. It adds no bytes, and loses none as long
/// as a connection lives.
final class FaultProxy: Sendable {
    /// What happens to the connections that it spoils.
    enum Fault: Sendable {
        /// Both sides get a FIN, after the bytes that have arrived so far.
        case close
        /// Both sides get a RST, and the bytes that are under way are lost.
        case reset
        /// Nothing passes any more, in neither direction, and nobody is told: a side that goes away isn't
        /// missed by the other one.
        case stall
        /// The bytes that were held up pass again, in order.
        case resume
        /// Everything takes this much longer, in order.
        case delay(TimeAmount)
    }

    private struct Connections {
        var lastID = 0
        var open: [Int: NIOLoopBound<ProxiedConnection>] = [:]
        /// The fault with which new connections begin.
        var delay = TimeAmount.zero
        var refuses = false
    }

    private let target: SocketAddress
    /// How many bytes of the target pass in each hundredth of a second; nil for all that come.
    private let paceBytes: Int?
    private let connections = Mutex(Connections())
    private let listener = Mutex<(any Channel)?>(nil)

    private init(to target: SocketAddress, paceBytes: Int?) {
        self.target = target
        self.paceBytes = paceBytes
    }

    /// - Parameter bytesPerSecond: how fast a slow line takes what comes from the target, which then waits
    ///   there; nil for a line that takes everything.
    static func start(to address: String, bytesPerSecond: Int? = nil) async throws -> FaultProxy {
        let parts = address.split(separator: ":")
        let target = try SocketAddress(ipAddress: String(parts[0]), port: Int(parts[1]) ?? 0)
        let proxy = FaultProxy(to: target, paceBytes: bytesPerSecond.map { $0 / 100 })
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try proxy.accept(channel) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        proxy.listener.withLock { $0 = channel }
        return proxy
    }

    /// The address to connect to instead of the target's.
    var address: String { "127.0.0.1:\(listener.withLock { $0?.localAddress?.port } ?? 0)" }

    var connectionCount: Int { connections.withLock { $0.open.count } }

    /// - Parameter share: the share of the connections. They are chosen by chance, the newest and the oldest
    ///   alike.
    func spoil(_ share: Double = 1, _ fault: Fault, using random: inout some RandomNumberGenerator) {
        let open = connections.withLock { $0.open.sorted { $0.key < $1.key }.map(\.value) }
        for connection in open where share >= 1 || Double.random(in: 0..<1, using: &random) < share {
            connection.eventLoop.execute { connection.value.suffer(fault) }
        }
    }

    func spoil(_ fault: Fault) {
        var random = SystemRandomNumberGenerator()
        spoil(1, fault, using: &random)
    }

    /// Connections that begin from now on are delayed, too.
    func delayAll(_ delay: TimeAmount) {
        connections.withLock { $0.delay = delay }
        spoil(.delay(delay))
    }

    /// New connections are closed as soon as they come.
    func refuse(_ refuses: Bool) { connections.withLock { $0.refuses = refuses } }

    /// Ends the listener and all connections.
    func stop() async throws {
        refuse(true)
        spoil(.reset)
        let channel = listener.withLock { $0.take() }
        // Resetting its lines may have closed the channel already; it is closed either way.
        do { try await channel?.close() } catch is ChannelError {}
    }

    private func accept(_ channel: any Channel) throws {
        let connection = ProxiedConnection(channel, isPaced: paceBytes != nil)
        let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
        let id: Int? = connections.withLock { connections in
            guard !connections.refuses else { return nil }
            connections.lastID += 1
            connections.open[connections.lastID] = bound
            connection.delay = connections.delay
            return connections.lastID
        }
        guard let id else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in
            self.connections.withLock { _ = $0.open.removeValue(forKey: id) }
        }
        // The accepted side must be active first; otherwise the other one may be ready sooner.
        let client = ProxiedSide(of: connection, .client) { self.connect(bound) }
        try channel.pipeline.syncOperations.addHandler(client)
    }

    private func connect(_ connection: NIOLoopBound<ProxiedConnection>) {
        var bootstrap = ClientBootstrap(group: connection.eventLoop)
        if let paceBytes {
            let buffers = FixedSizeRecvByteBufferAllocator(capacity: paceBytes)
            bootstrap =
                bootstrap
                .channelOption(.socketOption(.so_rcvbuf), value: 8_192)
                .channelOption(.recvAllocator, value: buffers)
                .channelOption(.maxMessagesPerRead, value: 1)
        }
        bootstrap
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(ProxiedSide(of: connection.value, .server))
                }
            }
            .connect(to: target)
            .whenComplete { outcome in connection.value.connected(outcome) }
    }
}
