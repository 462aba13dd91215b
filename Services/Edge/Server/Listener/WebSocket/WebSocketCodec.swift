import NIOCore
import NIOWebSocket
import RTMEdgeWebSocket
import RTMWire

/// Frames of the protocol above, WebSocket below: a binary message carries whole frames as they are over TCP,
/// so that the buffer that all subscribers of a channel share goes out as it is, behind a header of its own.
///
/// It is where TLS is, below the `ConnectionHandler`, and adds what WebSocket has beside messages: it
/// answers pings, and both sides end the connection with a close frame. When a client breaks a rule, the
/// connection first sends the reason as a frame of the protocol, and then the close frame with its code.
final class WebSocketCodec: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = WebSocketFrame

    /// What goes out is cut into messages of this size, between frames. As much as a megabyte may have
    /// gathered for a client that reads slowly, and some clients refuse such a message.
    static let messageBytesMax = 64 * 1024
    /// The longest reason that a close frame may carry beside its code, in bytes.
    private static let closeReasonBytesMax = 123

    private enum State {
        case open
        /// The client broke a rule; the connection is about to close.
        case violated(WebSocketViolation)
        /// Our close frame is on its way.
        case closing
        /// The socket failed, so nothing can be sent any more.
        case broken
    }

    private var assembly: MessageAssembly
    private let compression: Compression?
    private let lingerTimeout: TimeAmount
    private var state = State.open
    private var pong = PongQueue()
    private var linger: Scheduled<Void>?

    /// What compresses the messages of a client that has agreed on it, and counts what that saves.
    struct Compression {
        let agreement: CompressionAgreement
        let messages: MessageCompression
        let metrics: EdgeMetrics

        fileprivate func compressed(_ message: ByteBuffer) -> ByteBuffer? {
            guard let compressed = messages.deflate(message, windowBits: agreement.windowBits) else {
                return nil
            }
            metrics.compressed(message.readableBytes, to: compressed.readableBytes)
            return compressed
        }
    }

    init(limits: EdgeLimits, compression: Compression? = nil) {
        self.compression = compression
        assembly = MessageAssembly(
            frameBytesMax: limits.frameBytesMax, compression: compression?.messages)
        lingerTimeout = limits.lingerTimeout
    }

    func channelInactive(context: ChannelHandlerContext) {
        linger?.cancel()
        linger = nil
        context.fireChannelInactive()
    }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard case .open = state else {
            // What comes after a violation or our close frame is ignored, except for the client's close
            // frame.
            if case .closing = state, frame.opcode == .connectionClose { context.close(promise: nil) }
            return
        }
        do throws(WebSocketViolation) {
            try assembly.check(frame)
            switch frame.opcode {
            case .ping:
                context.fireUserInboundEventTriggered(WebSocketPing())
                if let ping = pong.add(frame.unmaskedData) { answer(ping, context) }
            case .pong: break
            case .connectionClose:
                answerClose(try MessageAssembly.closeCode(frame.unmaskedData), context)
            default:
                if let message = try assembly.add(frame), message.readableBytes > 0 {
                    context.fireChannelRead(wrapInboundOut(message))
                }
            }
        } catch {
            violated(error, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOWebSocketError {
            return violated(WebSocketViolation(error, bytesMax: assembly.bytesMax), context)
        }
        guard case .open = state else {
            // The decoder reports its failure again with everything that still comes.
            return
        }
        state = .broken
        context.fireErrorCaught(error)
    }

    /// The connection above gets it as an error and ends itself. Its last frame goes out before the close
    /// frame.
    private func violated(_ violation: WebSocketViolation, _ context: ChannelHandlerContext) {
        guard case .open = state else { return }
        state = .violated(violation)
        context.fireErrorCaught(violation)
    }

    private func answer(_ ping: ByteBuffer, _ context: ChannelHandlerContext) {
        let frame = WebSocketFrame(fin: true, opcode: .pong, data: ping)
        context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { _ in
            if let next = self.pong.written(), case .open = self.state { self.answer(next, context) }
        }
    }

    // MARK: OutboundQueue

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var rest = unwrapOutboundIn(data)
        if case .closing = state {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        while rest.readableBytes > Self.messageBytesMax {
            let length = rest.lengthOfWholeFrames(bytesMax: Self.messageBytesMax)
            guard length > 0, length < rest.readableBytes, let message = rest.readSlice(length: length)
            else { break }
            context.write(wrapOutboundOut(frame(of: message)), promise: nil)
        }
        context.write(wrapOutboundOut(frame(of: rest)), promise: promise)
    }

    private func frame(of message: ByteBuffer) -> WebSocketFrame {
        guard let compressed = compression?.compressed(message) else {
            return WebSocketFrame(fin: true, opcode: .binary, data: message)
        }
        return WebSocketFrame(fin: true, rsv1: true, opcode: .binary, data: compressed)
    }

    // MARK: The end

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // A socket that has taken nothing for a while will not take the close frame either.
        guard mode != .input, context.channel.isWritable, let body = closeBody() else {
            return context.close(mode: mode, promise: promise)
        }
        context.channel.closeFuture.cascade(to: promise)
        sendClose(body, context) {
            // The other direction stays open for the client's close frame. Closing it with unread bytes would
            // destroy what is on its way to the client.
            context.close(mode: .output, promise: nil)
        }
    }

    /// The body of the close frame to send; nil if it was sent, or can't be.
    private func closeBody() -> ByteBuffer? {
        switch state {
        case .open: return Self.closeFrame(.normalClosure)
        case .violated(let violation):
            return Self.closeFrame(violation.closeCode, violation.disconnect.reason)
        case .closing, .broken: return nil
        }
    }

    /// The client closes: it gets its code back, and the server closes the socket first (RFC 6455, 7.1.1).
    private func answerClose(_ code: WebSocketErrorCode?, _ context: ChannelHandlerContext) {
        sendClose(code.map { Self.closeFrame($0) } ?? ByteBuffer(), context) {
            context.close(promise: nil)
        }
    }

    private func sendClose(
        _ body: ByteBuffer, _ context: ChannelHandlerContext, then next: @escaping () -> Void
    ) {
        state = .closing
        linger = context.eventLoop.assumeIsolated().scheduleTask(in: lingerTimeout) {
            context.close(promise: nil)
        }
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: body)
        context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { _ in next() }
    }

    private static func closeFrame(_ code: WebSocketErrorCode, _ reason: String = "") -> ByteBuffer {
        var frame = ByteBuffer()
        frame.write(webSocketErrorCode: code)
        if reason.utf8.count <= closeReasonBytesMax { frame.writeString(reason) }
        return frame
    }
}

/// A ping has come. The connection above counts them.
struct WebSocketPing {}

/// The pings that wait for their answer. One is being answered, and only the newest of the others is kept
/// (RFC 6455, 5.5.3), so a client that pings and doesn't read costs nothing.
private struct PongQueue {
    private var isWriting = false
    private var next: ByteBuffer?

    /// Returns the ping if it has to be answered now.
    mutating func add(_ ping: ByteBuffer) -> ByteBuffer? {
        guard isWriting else {
            isWriting = true
            return ping
        }
        next = ping
        return nil
    }

    /// The answer was written. Returns the ping to answer next.
    mutating func written() -> ByteBuffer? {
        defer { next = nil }
        isWriting = next != nil
        return next
    }
}
