import NIOCore
import NIOPosix
import RTMServiceLink
import Testing

@testable import RTMEdgeServer

/// What the use of a descriptor beside its channel rests on.
@Suite("A socket used beside its channel")
struct DirectSocketTests {
    /// Remembers what NIO told it, and when.
    private final class Witness: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let ended: EventLoopPromise<Bool>
        private var context: ChannelHandlerContext?
        private var isInactive = false
        private(set) var socket: DirectSocket?

        init(ended: EventLoopPromise<Bool>) { self.ended = ended }

        func channelActive(context: ChannelHandlerContext) {
            self.context = context
            socket = context.channel.descriptor.map(DirectSocket.init)
        }

        func channelInactive(context: ChannelHandlerContext) {
            isInactive = true
            ended.succeed(true)
        }

        /// Closes, and says whether the end was told within the call.
        func close() -> Bool {
            context?.close(promise: nil)
            return isInactive
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            _ = socket?.send(unwrapInboundIn(data))
        }
    }

    /// Runs the body with an accepted connection's handler and the client's end of it.
    private func withConnection(
        _ body: (NIOLoopBound<Witness>, any Channel) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let witness = try await loop.submit {
            NIOLoopBound(Witness(ended: loop.makePromise()), eventLoop: loop)
        }.get()
        let server = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(witness.value)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        let received = loop.makePromise(of: String.self)
        let client = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(received))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        // The echo shows that the accepted end is there, and that the descriptor is its.
        try await client.writeAndFlush(ByteBuffer(string: "echo"))
        let answer = try await received.futureResult.get()
        #expect(answer == "echo")
        try await body(witness, client)
        try? await client.close()
        try await server.close()
        try await group.shutdownGracefully()
    }

    @Test("a handler hears that its channel is closed within the call that closes it")
    func closedHere() async throws {
        try await withConnection { witness, client in
            let isInactive = try await client.eventLoop.submit { witness.value.close() }.get()
            #expect(isInactive)
        }
    }

    @Test("and hears of it, too, when the other side closes")
    func closedThere() async throws {
        try await withConnection { witness, client in
            let ended = try await client.eventLoop.submit { witness.value.ended }.get()
            try await client.close()
            let isInactive = try await ended.futureResult.get()
            #expect(isInactive)
        }
    }
}

private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: EventLoopPromise<String>

    init(_ received: EventLoopPromise<String>) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.succeed(String(buffer: unwrapInboundIn(data)))
    }
}
