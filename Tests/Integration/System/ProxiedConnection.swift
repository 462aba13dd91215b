import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One connection through a `FaultProxy`: its two sockets, and the bytes on the way between them. It belongs
/// to one event loop.
final class ProxiedConnection {
    enum Side { case client, server }

    /// The bytes that came from one side and go to the other.
    private struct Lane {
        /// Nil at the end, when the side that sent them has closed.
        var waiting: [(due: NIODeadline, bytes: ByteBuffer?)] = []
    }

    var delay = TimeAmount.zero
    private let client: any Channel
    /// The server's bytes are read at a pace.
    private let isPaced: Bool
    private var server: (any Channel)?
    private var isStalled = false
    private var fromClient = Lane()
    private var fromServer = Lane()

    init(_ client: any Channel, isPaced: Bool) {
        self.client = client
        self.isPaced = isPaced
    }

    func connected(_ outcome: Result<any Channel, any Error>) {
        guard case .success(let channel) = outcome, client.isActive else {
            if case .success(let channel) = outcome { channel.close(promise: nil) }
            return client.close(promise: nil)
        }
        server = channel
        read()
        if isPaced { pace(channel) }
    }

    /// Reads once in a hundredth of a second.
    private func pace(_ server: any Channel) {
        guard server.isActive else { return }
        if !isStalled { server.read() }
        client.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(10)) { self.pace(server) }
    }

    func received(_ bytes: ByteBuffer?, from side: Side) {
        // The first waiting bytes decide when the rest may go, so the order is kept whatever the delay does.
        let due = NIODeadline.now() + delay
        switch side {
        case .client: fromClient.waiting.append((due, bytes))
        case .server: fromServer.waiting.append((due, bytes))
        }
        pass()
    }

    func suffer(_ fault: FaultProxy.Fault) {
        switch fault {
        case .close:
            client.close(promise: nil)
            server?.close(promise: nil)
        case .reset:
            for channel in [client, server].compactMap({ $0 }) {
                let linger = linger(l_onoff: 1, l_linger: 0)
                guard let socket = channel as? any SocketOptionProvider else { continue }
                // The socket is closed already, so there is nothing left to reset.
                socket.setSoLinger(linger).whenComplete { _ in channel.close(promise: nil) }
            }
        case .stall:
            isStalled = true
            read()
        case .resume:
            isStalled = false
            read()
            pass()
        case .delay(let delay):
            self.delay = delay
        }
    }

    /// While nothing passes, nothing is read either, as on a line whose buffers are full.
    private func read() {
        for channel in [client, isPaced ? nil : server].compactMap({ $0 }) {
            channel.setOption(.autoRead, value: !isStalled).whenFailure { _ in }
        }
    }

    private func pass() {
        guard !isStalled, let server else { return }
        pass(\.fromClient, to: server)
        pass(\.fromServer, to: client)
    }

    /// A failed write comes back here, so the bytes leave the lane before anything is written.
    private func pass(_ lane: ReferenceWritableKeyPath<ProxiedConnection, Lane>, to channel: any Channel) {
        let now = NIODeadline.now()
        let ready = self[keyPath: lane].waiting.prefix { $0.due <= now }
        self[keyPath: lane].waiting.removeFirst(ready.count)
        if let next = self[keyPath: lane].waiting.first {
            client.eventLoop.assumeIsolated().scheduleTask(deadline: next.due) { self.pass() }
        }
        for (_, bytes) in ready {
            if let bytes {
                channel.write(bytes, promise: nil)
            } else {
                // A FIN comes after everything that was sent before it.
                channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
            }
        }
        channel.flush()
    }
}

/// One socket of a proxied connection.
final class ProxiedSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: ProxiedConnection
    private let side: ProxiedConnection.Side

    private let whenActive: () -> Void

    init(
        of connection: ProxiedConnection, _ side: ProxiedConnection.Side,
        whenActive: @escaping () -> Void = {}
    ) {
        self.connection = connection
        self.side = side
        self.whenActive = whenActive
    }

    func channelActive(context: ChannelHandlerContext) { whenActive() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.received(unwrapInboundIn(data), from: side)
    }

    func channelInactive(context: ChannelHandlerContext) { connection.received(nil, from: side) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
