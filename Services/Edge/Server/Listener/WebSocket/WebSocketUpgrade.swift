import Logging
import NIOCore
import NIOHTTP1
import NIOWebSocket
import RTMEdgeWebSocket
import RTMModel
import RTMServiceLink
import RTMWire

/// The beginning of a client connection over WebSocket: one HTTP request, which becomes the WebSocket or is
/// refused. After it the connection belongs to its `ConnectionHandler`.
///
/// The connection's time to log in has begun already. The limits below hold until then; NIO answers 400 to a
/// head that goes beyond them, and to what isn't HTTP at all.
enum WebSocketUpgrade {
    /// Limits of the head of the request. Browsers send half a kilobyte, and the cookies of the site.
    static let headBytesMax = 16 * 1024
    static let headFieldsMax = 64

    /// Lets the client in as soon as the gate does.
    static func begin(
        on channel: any Channel, through gate: WebSocketGate, as connection: ConnectionHandler,
        _ loop: EdgeLoop
    ) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = headBytesMax
        limits.maxHeaderListSize = headBytesMax
        limits.maxHeaderFieldCount = headFieldsMax
        let encoder = HTTPResponseEncoder()
        let others: [any RemovableChannelHandler & ChannelHandler] = [
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)),
            HTTPServerProtocolErrorHandler(), UpgradeRequestHandler(gate: gate, loop: loop),
        ]
        let upgrade = NIOTypedHTTPServerUpgradeHandler(
            httpEncoder: encoder, extraHTTPHandlers: others,
            upgradeConfiguration: .init(upgraders: [upgrader(connection, channel, loop)]) { $0.close() })
        try channel.pipeline.syncOperations.addHandlers([encoder] + others + [upgrade])
    }

    private static func upgrader(
        _ connection: ConnectionHandler, _ channel: any Channel, _ loop: EdgeLoop
    ) -> NIOTypedWebSocketServerUpgrader<Void> {
        let limits = loop.configuration.limits
        let bound = NIOLoopBound((connection, loop), eventLoop: channel.eventLoop)
        return NIOTypedWebSocketServerUpgrader(
            maxFrameSize: limits.frameBytesMax + FrameReader.prefixLength, enableAutomaticErrorHandling: false
        ) { channel, request in
            let agreement = agreement(on: request, limits)
            let headers = agreement.map { HTTPHeaders([("Sec-WebSocket-Extensions", $0.answer)]) }
            return channel.eventLoop.makeSucceededFuture(headers ?? HTTPHeaders())
        } upgradePipelineHandler: { channel, request in
            channel.eventLoop.makeCompletedFuture {
                let (connection, loop) = bound.value
                let compression = agreement(on: request, limits).map {
                    WebSocketCodec.Compression(
                        agreement: $0, messages: loop.messageCompression, metrics: loop.metrics)
                }
                try channel.pipeline.syncOperations.addHandlers([
                    WebSocketCodec(limits: limits, compression: compression), connection,
                ])
            }
        }
    }

    /// Nothing is compressed unless the operator wants it.
    private static func agreement(
        on request: HTTPRequestHead, _ limits: EdgeLimits
    ) -> CompressionAgreement? {
        guard limits.compressesWebSockets else { return nil }
        return CompressionAgreement(offers: request.headers["Sec-WebSocket-Extensions"])
    }

    /// A connection beyond the limits of this server is refused at once, whatever it asks for.
    static func refuse(_ channel: any Channel, _ reason: String) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([HTTPResponseEncoder(), RefusedUpgrade(reason)])
    }
}

/// Stands before NIO's handshake until the WebSocket is open. It watches the time, and lets only a request
/// pass that will become a WebSocket. NIO keeps the head of other requests to itself, so they couldn't be
/// answered behind it.
private final class UpgradeRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let gate: WebSocketGate
    private let loop: EdgeLoop
    private var timer: Scheduled<Void>?
    private var isRefused = false

    init(gate: WebSocketGate, loop: EdgeLoop) {
        self.gate = gate
        self.loop = loop
    }

    func handlerAdded(context: ChannelHandlerContext) {
        loop.metrics.connectionOpened()
        let timeout = loop.configuration.limits.handshakeTimeout
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        loop.metrics.connectionClosed()
        timer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(let head) = unwrapInboundIn(data), let refusal = gate.refusal(of: head) else {
            return context.fireChannelRead(data)
        }
        isRefused = true
        loop.logger.debug(
            "refused to open a WebSocket",
            metadata: ["status": "\(refusal.status.code)", "reason": "\(refusal.reason.cut(200))"])
        write(refusal, context) { context.close(mode: .output, promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        loop.logger.debug(
            "a WebSocket could not be opened",
            metadata: ["cause": "\(connectFailure(error))", "type": "\(type(of: error))"])
        context.close(promise: nil)
    }
}

/// Answers that the server is full.
private final class RefusedUpgrade: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = HTTPServerResponsePart

    private let refusal: HTTPRefusal

    init(_ reason: String) { refusal = HTTPRefusal(.serviceUnavailable, reason, [("Retry-After", "5")]) }

    /// Behind a load balancer the channel is active already.
    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { refuse(context) }
    }

    func channelActive(context: ChannelHandlerContext) { refuse(context) }

    private func refuse(_ context: ChannelHandlerContext) {
        write(refusal, context) { context.close(mode: .output, promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

extension ChannelInboundHandler where OutboundOut == HTTPServerResponsePart {
    fileprivate func write(
        _ refusal: HTTPRefusal, _ context: ChannelHandlerContext, then next: @escaping () -> Void
    ) {
        context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in next() }
    }
}
