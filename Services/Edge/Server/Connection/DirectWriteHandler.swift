import NIOCore

/// Writes what TLS has encrypted straight to the client's socket, as `ConnectionHandler` does without TLS. It
/// lies between the socket and the handler of TLS.
///
/// Only what the socket doesn't take at once goes through NIO, and then everything behind it until NIO has
/// written that.
final class DirectWriteHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Nil once the connection has ended.
    private var socket: DirectSocket?
    /// Writes through NIO that the socket has not taken yet.
    private var writes = 0

    init(_ socket: DirectSocket?) { self.socket = socket }

    func channelInactive(context: ChannelHandlerContext) {
        socket = nil
        context.fireChannelInactive()
    }

    /// TLS flushes each time it writes, so nothing is kept for a flush.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard writes == 0, let socket else { return pass(data, promise, to: context) }
        var bytes = unwrapOutboundIn(data)
        bytes.moveReaderIndex(forwardBy: socket.send(bytes))
        guard bytes.readableBytes > 0 else {
            promise?.succeed()
            return
        }
        pass(wrapOutboundOut(bytes), promise, to: context)
    }

    private func pass(_ data: NIOAny, _ promise: EventLoopPromise<Void>?, to context: ChannelHandlerContext) {
        let written = promise ?? context.eventLoop.makePromise()
        writes += 1
        written.futureResult.assumeIsolated().whenComplete { _ in self.writes -= 1 }
        context.write(data, promise: written)
    }

    func flush(context: ChannelHandlerContext) {
        if writes > 0 { context.flush() }
    }
}
