import NIOCore
import NIOHTTP1
import RTMWire

/// Stands before TLS until the client's first bytes have come. A client that speaks HTTP in the clear gets an
/// answer in its own protocol: TLS has no answer to it, and would only reset the connection. To one that
/// sends frames in the clear TLS answers by itself, with an alert.
///
/// The handler behind TLS watches the time that the client has, as it does for every connection.
final class PlainHTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let refusal = HTTPRefusal(
        .badRequest, "this port speaks TLS: write wss:// instead of ws://, or https:// instead of http://")

    private var isAnswered = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        let first = unwrapInboundIn(data).peekInteger(as: UInt32.self)
        guard let first, ForeignProtocol(firstBytes: first) == .http else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            return
        }
        isAnswered = true
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let answer = ByteBuffer(string: Self.refusal.text)
        // Bytes of the client that are unread would reset the connection, and the answer would be lost.
        context.writeAndFlush(wrapOutboundOut(answer)).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }
}
