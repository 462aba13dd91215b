import NIOCore
import NIOWebSocket

/// Carries the frames of the protocol over a WebSocket: a binary message holds whole frames, as they are over
/// TCP.
///
/// What comes in is handed on as a stream of bytes, whether it is a message or a fragment of one, because the
/// frames in it say themselves where they end.
final class WebSocketClientCodec: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = WebSocketFrame

    /// Limit: bytes of a message. An edge accepts messages that are as long as its longest frame, and no edge
    /// can be configured for less than this.
    static let messageBytesMax = 40 * 1024

    /// Why the server ended the WebSocket, or why it had to be ended.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private var isClosing = false
    private var isAnsweringPing = false
    /// The newest of the pings that came while one was being answered (RFC 6455, 5.5.3).
    private var nextPing: ByteBuffer?

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard !isClosing else { return }
        switch frame.opcode {
        case .binary, .continuation: context.fireChannelRead(wrapInboundOut(frame.unmaskedData))
        case .ping: answer(frame.unmaskedData, context)
        case .pong: break
        case .connectionClose: context.fireErrorCaught(Self.failure(closedWith: frame.unmaskedData))
        default: context.fireErrorCaught(Failure(description: "the server sent a message that isn't binary"))
        }
    }

    private static func failure(closedWith data: ByteBuffer) -> Failure {
        var data = data
        guard let code = data.readWebSocketErrorCode() else {
            return Failure(description: "the server closed the WebSocket")
        }
        let reason = data.readableBytes > 0 ? ": \(String(buffer: data))" : ""
        return Failure(
            description:
                "the server closed the WebSocket with code \(UInt16(webSocketErrorCode: code))\(reason)")
    }

    private func answer(_ ping: ByteBuffer, _ context: ChannelHandlerContext) {
        guard !isAnsweringPing else {
            nextPing = ping
            return
        }
        isAnsweringPing = true
        let written = context.writeAndFlush(wrapOutboundOut(Self.frame(.pong, ping)))
        written.assumeIsolated().whenComplete { _ in
            self.isAnsweringPing = false
            if let next = self.nextPing.take(), !self.isClosing { self.answer(next, context) }
        }
    }

    // MARK: Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var rest = unwrapOutboundIn(data)
        while rest.readableBytes > Self.messageBytesMax {
            let length = rest.lengthOfWholeFrames(bytesMax: Self.messageBytesMax)
            guard length < rest.readableBytes, let message = rest.readSlice(length: length), length > 0
            else { break }
            context.write(wrapOutboundOut(Self.frame(.binary, message)), promise: nil)
        }
        context.write(wrapOutboundOut(Self.frame(.binary, rest)), promise: promise)
    }

    /// The server gets the close frame if the socket takes it at once. Waiting for an answer would keep
    /// dead connections.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all, !isClosing {
            isClosing = true
            var code = ByteBuffer()
            code.write(webSocketErrorCode: .normalClosure)
            context.writeAndFlush(wrapOutboundOut(Self.frame(.connectionClose, code)), promise: nil)
        }
        context.close(mode: mode, promise: promise)
    }

    /// Clients mask what they send (RFC 6455, 5.3).
    private static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    }
}

extension ByteBuffer {
    /// The length of the longest run of whole frames at the beginning that has at most so many bytes. If the
    /// first frame alone is longer, it is the length of that frame.
    func lengthOfWholeFrames(bytesMax: Int) -> Int {
        var length = 0
        while let prefix = getInteger(at: readerIndex + length, as: UInt32.self) {
            let end = length + ServerFrameReader.prefixBytes + Int(prefix)
            guard end <= readableBytes, end <= bytesMax || length == 0 else { break }
            length = end
        }
        return length
    }
}
