package import NIOCore
package import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// A backend that receives webhooks, on a real socket.
package final class TestReceiver: Sendable {
    package struct Call: Sendable {
        package let path: String
        package let headers: HTTPHeaders
        package let body: String
    }

    package struct Answer: Sendable {
        package var status: HTTPResponseStatus
        package var headers: HTTPHeaders
        package var body: String
        package var delay: TimeAmount

        package init(
            _ status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:], body: String = "",
            delay: TimeAmount = .nanoseconds(0)
        ) {
            (self.status, self.headers, self.body, self.delay) = (status, headers, body, delay)
        }
    }

    /// Nil: the call is never answered.
    package typealias Answering = @Sendable (Call) -> Answer?

    private let state = Mutex<(calls: [Call], answering: Answering)>(([], { _ in Answer() }))
    private let listener: any Channel

    private init(_ listener: any Channel) { self.listener = listener }

    package var port: Int { listener.localAddress?.port ?? 0 }
    package var calls: [Call] { state.withLock { $0.calls } }

    /// Changes what calls are answered with.
    package func answer(_ answering: @escaping Answering) { state.withLock { $0.answering = answering } }

    fileprivate func received(_ call: Call) -> Answer? {
        state.withLock { state in
            state.calls.append(call)
            return state.answering
        }(call)
    }

    /// Listens on loopback for the time of the body.
    ///
    /// - Parameter port: 0 is any.
    package static func with(
        port: Int = 0, certificate: TestCertificate? = nil, answer: @escaping Answering = { _ in Answer() },
        _ body: (TestReceiver) async throws -> Void
    ) async throws {
        let tls = try certificate.map {
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMFile($0.certificate).map { .certificate($0) },
                    privateKey: .privateKey(NIOSSLPrivateKey(file: $0.key, format: .pem))))
        }
        let loops = MultiThreadedEventLoopGroup.singleton
        let made = loops.next().makePromise(of: TestReceiver.self)
        let listener = try await ServerBootstrap(group: loops)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(CallHandler(made.futureResult))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        let receiver = TestReceiver(listener)
        receiver.answer(answer)
        made.succeed(receiver)
        do {
            try await body(receiver)
        } catch {
            try await listener.close()
            throw error
        }
        try await listener.close()
    }
}

private final class CallHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receiver: EventLoopFuture<TestReceiver>
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(_ receiver: EventLoopFuture<TestReceiver>) { self.receiver = receiver }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, ByteBuffer())
        case .body(var part): body.writeBuffer(&part)
        case .end:
            guard let head else { return }
            let call = TestReceiver.Call(path: head.uri, headers: head.headers, body: String(buffer: body))
            let context = NIOLoopBound(context, eventLoop: context.eventLoop)
            let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
            receiver.hop(to: context.value.eventLoop).whenSuccess { receiver in
                guard let answer = receiver.received(call) else { return }
                guard answer.delay > .zero else { return handler.value.send(answer, context.value) }
                context.value.eventLoop.scheduleTask(in: answer.delay) {
                    handler.value.send(answer, context.value)
                }
            }
        }
    }

    private func send(_ answer: TestReceiver.Answer, _ context: ChannelHandlerContext) {
        var headers = answer.headers
        headers.replaceOrAdd(name: "content-length", value: "\(answer.body.utf8.count)")
        let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

extension TimeAmount {
    fileprivate static var zero: TimeAmount { .nanoseconds(0) }
}
