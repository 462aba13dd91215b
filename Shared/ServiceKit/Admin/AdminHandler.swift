internal import NIOCore
internal import NIOHTTP1

/// One connection to the admin port: requests come in, answers of `AdminPages` go out.
final class AdminHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let pages: AdminPages
    private let deadline: TimeAmount
    private var head: HTTPRequestHead?
    private var bodyBytes = 0
    private var timer: Scheduled<Void>?

    init(pages: AdminPages, deadline: TimeAmount) {
        self.pages = pages
        self.deadline = deadline
    }

    func channelActive(context: ChannelHandlerContext) {
        armTimer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // Who asks on without reading the answers would make this process hold them.
            guard context.channel.isWritable else { return context.close(promise: nil) }
            self.head = head
            bodyBytes = 0
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            if bodyBytes > AdminServer.AdminLimits.bodyBytesMax { context.close(promise: nil) }
        case .end:
            guard let head else { return }
            self.head = nil
            timer?.cancel()
            answer(head, context)
        }
    }

    /// The answer may come later. The next request of the connection waits for it.
    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let promise = context.eventLoop.makePromise(of: AdminAnswer.self)
        promise.completeWithTask { [pages] in
            await pages.answer(
                method: head.method.rawValue, uri: head.uri,
                authorization: head.headers.first(name: "Authorization"),
                host: head.headers.first(name: "Host"), origin: head.headers.first(name: "Origin"))
        }
        promise.futureResult.assumeIsolated().whenSuccess { answer in
            if context.channel.isActive { self.send(answer, to: head, context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(
        _ answer: AdminAnswer, to request: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        let body = ByteBuffer(string: answer.body)
        var headers: HTTPHeaders = [
            "Content-Type": answer.contentType, "Content-Length": "\(body.readableBytes)",
            "Cache-Control": "no-store",
        ]
        if let allowed = answer.allowed { headers.add(name: "Allow", value: allowed) }
        if answer.asksForKey { headers.add(name: "WWW-Authenticate", value: "Bearer") }
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        let head = HTTPResponseHead(version: request.version, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        armTimer(context)
        if !request.isKeepAlive {
            written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }

    /// One deadline covers the whole request and not each read: a drip of bytes must not keep a connection
    /// open.
    private func armTimer(_ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: deadline) { context.close(promise: nil) }
    }
}
