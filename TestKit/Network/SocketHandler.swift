import Foundation
import NIOCore
import NIOEmbedded

/// The socket below a pipeline: what a handler of ours writes goes into the simulated network, and what comes
/// from there is read.
final class SocketHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private let socket: Socket
    private var written: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []

    private init(_ socket: Socket) { self.socket = socket }

    /// Connects a pipeline that ends in `handler` with a socket.
    ///
    /// - Parameter between: stands between the two.
    @discardableResult
    static func attach(
        _ handler: any ChannelHandler, to socket: Socket, between: [any ChannelHandler] = [],
        on loop: EmbeddedEventLoop
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handlers: [SocketHandler(socket)] + between + [handler], loop: loop)
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
        socket.open(
            onBytes: { bytes in
                channel.pipeline.syncOperations.fireChannelRead(NIOAny(bytes))
                channel.pipeline.syncOperations.fireChannelReadComplete()
            },
            onEnd: { ending in
                if ending == .reset {
                    let error = IOError(errnoCode: ECONNRESET, reason: "read")
                    channel.pipeline.syncOperations.fireErrorCaught(error)
                }
                channel.close(promise: nil)
            })
        return channel
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written.append((unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) {
        let written = written
        self.written = []
        for (bytes, promise) in written { socket.write(bytes) { promise?.succeed() } }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        socket.close()
        context.close(mode: mode, promise: promise)
    }
}
