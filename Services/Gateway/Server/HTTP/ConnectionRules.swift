import HTTPTypes
import NIOCore
import NIOHTTP1

/// What HTTP asks of a connection beside its requests and answers, and what the framework leaves out.
///
/// A client that sends `Expect: 100-continue` waits with the body until it is asked for it, and many give up
/// after a second. A client of HTTP/1.0 takes the end of the connection for the end of the answer, and
/// doesn't know chunks. Whoever asks to close, in any spelling, gets an answer that says so. And bytes that
/// are no request are refused in the words of all refusals.
final class ConnectionRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Request {
        /// Whether it is of HTTP/1.0.
        let isOld: Bool
        let isLast: Bool
        /// Whether the client waits until it may send the body.
        var waits: Bool
    }

    /// The requests that aren't answered, the oldest first.
    private var open = CircularBuffer<Request>()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            let isOld = head.version == .http1_0
            let request = Request(
                isOld: isOld, isLast: isOld || !head.isKeepAlive, waits: !isOld && head.expectsContinue)
            // The framework knows only this spelling.
            if request.isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            open.append(request)
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body:
            // It has come unasked.
            if !open.isEmpty { open[open.index(before: open.endIndex)].waits = false }
            context.fireChannelRead(data)
        case .end: context.fireChannelRead(data)
        }
    }

    /// The body hasn't come together with the head.
    func channelReadComplete(context: ChannelHandlerContext) {
        askForBody(context)
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if let request = open.first {
                if request.isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
                if request.isOld { head.version = .http1_0 }
            }
            // Every answer of ours has an id. This one is the framework's, to what it can't read.
            let isOurs = head.headers.contains(name: HTTPField.Name.requestID.rawName)
            guard isOurs || head.status != .badRequest else { return refuse(context, head, promise) }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            _ = open.popFirst()
            askForBody(context)
        }
    }

    private func refuse(
        _ context: ChannelHandlerContext, _ head: HTTPResponseHead, _ promise: EventLoopPromise<Void>?
    ) {
        let id = RequestID.made()
        let body = APIError(
            .badRequest, "malformed",
            "the request is not HTTP/1.1: it is malformed, names no host or several, or its head has more than "
                + "\(GatewayListener.headersMax) fields or \(GatewayListener.headerBytesMax) bytes"
        ).text(for: id)
        var head = head
        head.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        head.headers.replaceOrAdd(name: "Content-Length", value: "\(body.utf8.count)")
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        head.headers.replaceOrAdd(name: HTTPField.Name.requestID.rawName, value: id)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        let bytes = context.channel.allocator.buffer(string: body)
        context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
    }

    /// The oldest request is the one whose answer, and whose `100 Continue`, comes next.
    private func askForBody(_ context: ChannelHandlerContext) {
        guard let first = open.first, first.waits else { return }
        open[open.startIndex].waits = false
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }
}

extension HTTPRequestHead {
    fileprivate var expectsContinue: Bool {
        headers[canonicalForm: "Expect"].contains { $0.lowercased() == "100-continue" }
    }
}
