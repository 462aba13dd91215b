import NIOCore
import NIOPosix

/// A link over a socket. It is the last handler in its channel's pipeline, and the only one without TLS.
///
/// Bytes go to the receiver as they were read, and a batch is one `writeAndFlush`. Beyond NIO's high-water
/// mark the link keeps its batch, so one large buffer waits instead of many small ones.
final class TCPTransport: ChannelInboundHandler, ServiceLinkTransport {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var receiver: (any ServiceLinkTransportReceiver)?
    private var context: ChannelHandlerContext?
    private var failure: (any Error)?
    private var lingering: Scheduled<Void>?

    init(receiver: any ServiceLinkTransportReceiver) { self.receiver = receiver }

    var isWritable: Bool { context?.channel.isWritable ?? false }

    var peerAddress: String { context?.channel.remoteAddress?.ipAddress ?? "" }

    var queuedBytes: Int {
        guard let options = context?.channel.syncOptions else { return 0 }
        // A closed channel no longer has this option, and nothing waits in it.
        return (try? options.getOption(.bufferedWritableBytes)) ?? 0
    }

    func write(_ batch: ByteBuffer) {
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(batch), promise: nil)
    }

    func finish(_ batch: ByteBuffer, linger: TimeAmount) {
        receiver = nil
        guard let context else { return }
        let loop = context.eventLoop.assumeIsolated()
        let channel = context.channel
        lingering = loop.scheduleTask(in: linger) { channel.close(promise: nil) }
        // Only our direction is closed. If both were closed while the peer still sends, the kernel would
        // reset the connection, and the peer would lose our last frames.
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(batch), promise: written)
    }

    func pass(to receiver: any ServiceLinkTransportReceiver) { self.receiver = receiver }

    func setReading(_ isReading: Bool) {
        // A closed channel no longer has this option, and nothing is read from it.
        try? context?.channel.syncOptions?.setOption(.autoRead, value: isReading)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { receiver?.transportOpened(self) }
    }

    func channelActive(context: ChannelHandlerContext) { receiver?.transportOpened(self) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receiver?.transportReceived(unwrapInboundIn(data))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { receiver?.transportBecameWritable() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        lingering?.cancel()
        lingering = nil
        self.context = nil
        let receiver = self.receiver.take()
        receiver?.transportClosed(failure.map { .broken(connectFailure($0)) } ?? .closedByPeer)
    }
}

extension TCPTransport {
    /// The buffers with which a busy link reads. An idle link holds none.
    static let readBuffers = AdaptiveRecvByteBufferAllocator(
        minimum: 1 << 10, initial: 1 << 14, maximum: 1 << 18)

    /// Connects on the receiver's event loop and passes the result to the receiver.
    static func connect(
        to host: String, port: Int, tls: ServiceLinkTLS?, timeout: Duration,
        receiver: any ServiceLinkTransportReceiver,
        on eventLoop: any EventLoop
    ) {
        let bound = NIOLoopBound(receiver, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: readBuffers)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(tls.clientHandler(to: host))
                    }
                    try channel.pipeline.syncOperations.addHandler(TCPTransport(receiver: bound.value))
                }
            }
            .connect(host: host, port: port)
            .whenFailure { bound.value.transportFailed(connectFailure($0)) }
    }

    /// Connects to a socket that has a path.
    static func connect(
        to path: String, timeout: Duration, receiver: any ServiceLinkTransportReceiver,
        on eventLoop: any EventLoop
    ) {
        let bound = NIOLoopBound(receiver, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(timeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TCPTransport(receiver: bound.value))
                }
            }
            .connect(unixDomainSocketPath: path)
            .whenFailure { bound.value.transportFailed(connectFailure($0)) }
    }
}
