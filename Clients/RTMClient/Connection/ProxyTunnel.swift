// Asks an HTTP proxy for a tunnel with CONNECT (RFC 9110, 9.3.6). swift-nio-extras has a handler for this,
// but its errors don't say with what status the proxy refuses, and a client needs to know that.

import Foundation
import NIOCore
import NIOHTTP1

/// Why there is no tunnel.
struct ProxyRefusal: Error, CustomStringConvertible {
    let description: String
    let failure: ConnectionFailure?
}

enum ProxyTunnel {
    /// Limit: bytes of the head of the proxy's answer.
    private static let headBytesMax = 64 * 1024

    /// Begins on an open connection to the proxy. What comes after the success goes to the server, and the
    /// pipeline is empty again.
    static func begin(
        on channel: any Channel, to server: ServerAddress, credentials: RTMClient.ProxyCredentials?
    ) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        do {
            let encoder = HTTPRequestEncoder()
            let decoder = ByteToMessageHandler(
                HTTPResponseDecoder(
                    leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
                    limitConfiguration: limits))
            let answer = ProxyAnswerHandler(encoder, decoder, promise)
            try channel.pipeline.syncOperations.addHandlers([encoder, decoder, answer])
            answer.ask(head(for: server, credentials), on: channel)
        } catch {
            promise.fail(error)
        }
        return promise.futureResult
    }

    private static var limits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderListSize = headBytesMax
        return limits
    }

    private static func head(
        for server: ServerAddress, _ credentials: RTMClient.ProxyCredentials?
    ) -> HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: server.authority)
        head.headers.add(name: "Host", value: server.authority)
        if let credentials {
            let text = Data("\(credentials.account):\(credentials.password)".utf8).base64EncodedString()
            head.headers.add(name: "Proxy-Authorization", value: "Basic \(text)")
        }
        return head
    }
}

/// Waits for the proxy's answer, and takes the codec of HTTP out of the pipeline when there is a tunnel.
///
/// The server says nothing before it is spoken to, so nothing comes behind the answer that could be lost.
private final class ProxyAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let encoder: HTTPRequestEncoder
    private let decoder: ByteToMessageHandler<HTTPResponseDecoder>
    private let promise: EventLoopPromise<Void>
    private var isDone = false

    init(
        _ encoder: HTTPRequestEncoder, _ decoder: ByteToMessageHandler<HTTPResponseDecoder>,
        _ promise: EventLoopPromise<Void>
    ) {
        self.encoder = encoder
        self.decoder = decoder
        self.promise = promise
    }

    func ask(_ head: HTTPRequestHead, on channel: any Channel) {
        guard channel.isActive else { return fail("the proxy closed the connection at once") }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return }
        switch unwrapInboundIn(data) {
        case .head(let head) where (200..<300).contains(head.status.code): break
        case .head(let head): refuse(head.status)
        case .body: fail("the proxy's answer is no answer to CONNECT")
        case .end: finish(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { fail("the proxy closed the connection") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError: fail("the proxy doesn't speak HTTP")
        default: fail(ServerConnection.describe(error), ConnectionFailure(error))
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        isDone = true
        let pipeline = context.pipeline.syncOperations
        let removals = [
            pipeline.removeHandler(self), pipeline.removeHandler(decoder), pipeline.removeHandler(encoder),
        ]
        EventLoopFuture.andAllSucceed(removals, on: context.eventLoop).cascade(to: promise)
    }

    private func refuse(_ status: HTTPResponseStatus) {
        switch status.code {
        // Some proxies answer 401 to a wrong password.
        case 401, 407: fail("the proxy wants other credentials: \(status)", .proxyAuthentication)
        case 400..<500: fail("the proxy refuses: \(status)", .proxyRefused)
        // The proxy has tried to reach the server, or can't at the moment.
        case 500...: fail("the proxy can't reach it: \(status)", .unreachable)
        default: fail("the proxy refuses: \(status)")
        }
    }

    private func fail(_ cause: String, _ failure: ConnectionFailure? = nil) {
        guard !isDone else { return }
        isDone = true
        promise.fail(ProxyRefusal(description: cause, failure: failure))
    }
}
