import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request doesn't arrive as a whole in time. The framework's own idle timeout
/// begins anew with every part of a request, so a client that sends a byte now and then would keep a
/// connection.
final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let time: TimeAmount
    private var closing: Scheduled<Void>?
    /// Whether a whole request was read last, and nothing behind it.
    private var isBetweenRequests = false

    init(_ time: TimeAmount) { self.time = time }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) {
            closing?.cancel()
            closing = nil
            isBetweenRequests = true
        } else {
            isBetweenRequests = false
        }
        context.fireChannelRead(data)
    }

    /// Bytes have come, and if they were no end of a request, they are the beginning of one.
    func channelReadComplete(context: ChannelHandlerContext) {
        if !isBetweenRequests, closing == nil {
            let channel = context.channel
            closing = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        }
        isBetweenRequests = false
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        context.fireChannelInactive()
    }
}
