import Logging
import NIOCore
import RTMServiceKit

/// Stands first on a connection that a trusted load balancer has opened. It reads the header that says who
/// the client is. Only then does the connection begin for the rest of the edge, so that limits and the log
/// see the client's address.
///
/// A balancer sends the header as soon as it connects. One that doesn't is cut off.
final class ProxyHeaderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Phase {
        /// The header hasn't come yet.
        case waiting
        /// The connection has begun, and its bytes are passed to the handlers behind.
        case open
        /// The connection is closed, or about to be. What still comes goes nowhere.
        case refused
    }

    private let timeout: TimeAmount
    private let metrics: EdgeMetrics
    private let logger: Logger
    private let begin: (any Channel, String) throws -> Void
    private var phase = Phase.waiting
    private var timer: Scheduled<Void>?
    /// What has come of the header so far.
    private var bytes = ByteBuffer()

    /// - Parameter begin: admits the client with this address, and completes the pipeline.
    init(
        timeout: TimeAmount, metrics: EdgeMetrics, logger: Logger,
        begin: @escaping (any Channel, String) throws -> Void
    ) {
        self.timeout = timeout
        self.metrics = metrics
        self.logger = logger
        self.begin = begin
    }

    func channelActive(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            self.refuse("no header of the PROXY protocol came in time", context)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .open: context.fireChannelRead(data)
        case .refused: break
        case .waiting:
            bytes.writeImmutableBuffer(unwrapInboundIn(data))
            do { try readHeader(context) } catch { refuse("\(error)", context) }
        }
    }

    private func readHeader(_ context: ChannelHandlerContext) throws {
        guard let header = try ProxyHeader(bytes.readableBytesView) else { return }
        timer?.cancel()
        phase = .open
        try begin(context.channel, header.client ?? context.remoteAddress?.ipAddress ?? "")
        let rest = bytes.getSlice(
            at: bytes.readerIndex + header.length, length: bytes.readableBytes - header.length)
        bytes = ByteBuffer()
        if let rest, rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
    }

    private func refuse(_ cause: String, _ context: ChannelHandlerContext) {
        guard phase != .refused else { return }
        phase = .refused
        metrics.proxyHeaderRefused()
        logger.debug(
            "connection of a load balancer refused",
            metadata: ["cause": "\(cause)", "address": "\(context.remoteAddress?.ipAddress ?? "")"])
        context.close(promise: nil)
    }
}
