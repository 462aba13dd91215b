internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RTMServiceLink

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// One request of HTTP over a connection of its own, which ends with the answer.
struct HTTPCall: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: ByteBuffer
    }

    /// Limit: the bytes of an answer. The report of a node with 10,000 apps has about 1 MB.
    private static let bodyBytesMax = 4 * 1024 * 1024

    let method: HTTPMethod
    let path: String
    let contentType: String?
    let body: ByteBuffer

    static func get(_ path: String) -> HTTPCall {
        HTTPCall(method: .GET, path: path, contentType: nil, body: ByteBuffer())
    }

    static func post(_ body: ByteBuffer, _ contentType: String, to path: String) -> HTTPCall {
        HTTPCall(method: .POST, path: path, contentType: contentType, body: body)
    }

    func answer(
        of address: HostPort, on loop: any EventLoop, within timeout: TimeAmount
    ) -> EventLoopFuture<Answer> {
        let answer = loop.makePromise(of: Answer.self)
        let timer = loop.scheduleTask(in: timeout) { answer.fail(ChannelError.connectTimeout(timeout)) }
        ClientBootstrap(group: loop)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandlers([
                        NIOHTTPClientResponseAggregator(maxContentLength: Self.bodyBytesMax),
                        HTTPExchange(self, with: address, answer),
                    ])
                }
            }
            .connect(host: address.host, port: address.port)
            .whenFailure { answer.fail($0) }
        answer.futureResult.whenComplete { _ in timer.cancel() }
        return answer.futureResult
    }

    /// Why there was no answer.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { reason($0.error) } ?? "the name has no address"
        case ChannelError.connectTimeout(let timeout):
            return "nothing came within \(timeout.nanoseconds / 1_000_000) ms"
        case ChannelError.eof: return "the connection was closed without an answer"
        default: return connectFailure(error)
        }
    }
}

/// One request, and the end of the connection with its answer or with the patience of the caller.
private final class HTTPExchange: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull
    typealias OutboundOut = HTTPClientRequestPart

    private let call: HTTPCall
    private let host: String
    private let answer: EventLoopPromise<HTTPCall.Answer>

    init(_ call: HTTPCall, with address: HostPort, _ answer: EventLoopPromise<HTTPCall.Answer>) {
        self.call = call
        host = "\(address)"
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        var headers: HTTPHeaders = ["Host": host, "Connection": "close"]
        if let type = call.contentType {
            headers.add(name: "Content-Type", value: type)
            headers.add(name: "Content-Length", value: "\(call.body.readableBytes)")
        }
        let head = HTTPRequestHead(version: .http1_1, method: call.method, uri: call.path, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if call.body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(call.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        let channel = context.channel
        answer.futureResult.whenFailure { _ in channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let response = unwrapInboundIn(data)
        let body = response.body ?? ByteBuffer()
        answer.succeed(HTTPCall.Answer(status: Int(response.head.status.code), body: body))
        context.close(promise: nil)
    }

    /// Whoever has the answer already doesn't notice.
    func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }
}
