import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOSSL
import RTMServiceKit

/// Connections whose tasks run on the event loop that reads and writes them.
///
/// The framework answers each connection in a task. On Swift's own pool of threads such a task would change
/// threads whenever it waits for bytes, for the links or for a write, and on one core two threads would take
/// turns all the time: that was more work than the requests themselves. What a task does between two waits
/// holds up its loop, so nothing on the path of a request may block, and long bodies are decoded elsewhere.
struct LoopBoundChannel<Base: ServerChildChannel>: ServerChildChannel {
    /// Made for each connection.
    let base: @Sendable () -> Base
    /// Nil on a listener in the clear.
    let tls: ListenerTLS?
    /// Prepares a connection, on its loop.
    let begin: @Sendable (any Channel) throws -> Void

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            if let tls {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context))
            }
            // Whoever gets no place, or is watched, is so before TLS.
            try begin(channel)
        }.flatMap { base().setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                let pipeline = value.channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(ConnectionRules(), position: .after(decoder))
                try pipeline.addHandler(
                    HostRule(), position: .before(pipeline.handler(type: HTTP1ToHTTPServerCodec.self)))
                return value
            }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(eventLoop: value.channel.eventLoop)) {
            await base().handle(value: value, logger: logger)
        }
    }
}

/// Runs tasks on an event loop, each piece of them at the end of the turn in which it became ready.
final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Refuses a request of HTTP/1.1 that doesn't say once for which host it is, as RFC 9112 demands: of two
/// hosts a proxy and this server might believe different ones.
private final class HostRule: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Nothing behind a request that was refused is read.
    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        if case .head(let head) = unwrapInboundIn(data) {
            let count = head.headers["host"].count
            guard count == 1 || count == 0 && head.version == .http1_0 else {
                hasRefused = true
                return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
            }
        }
        context.fireChannelRead(data)
    }
}
