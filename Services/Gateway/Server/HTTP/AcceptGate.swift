import NIOCore
import RTMServiceLink

/// Closes a connection that has got one of the last descriptors of the process.
final class AcceptGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let acceptGuard: AcceptGuard

    init(_ acceptGuard: AcceptGuard) { self.acceptGuard = acceptGuard }

    func handlerAdded(context: ChannelHandlerContext) {
        if !acceptGuard.admits(context.channel) { context.close(promise: nil) }
    }
}
