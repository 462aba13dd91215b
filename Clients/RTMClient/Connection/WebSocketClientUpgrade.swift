import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Turns an open connection into a WebSocket with one HTTP request. The handler of the connection joins the
/// pipeline when the server has agreed. Until then only a failure is reported to it.
enum WebSocketClientUpgrade {
    static func begin(
        on channel: any Channel, to server: ServerAddress, path: String,
        as bound: NIOLoopBound<ServerConnection>
    ) {
        guard bound.value.upgrades(channel) else { return }
        guard channel.isActive else {
            return bound.value.connectFailed("\(server) closed the connection at once")
        }
        do {
            let response = UpgradeResponseHandler(server, bound.value)
            let pipeline = channel.pipeline.syncOperations
            let upgrader = upgrader(NIOLoopBound(response, eventLoop: channel.eventLoop), bound)
            var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
            head.headers.add(name: "Host", value: server.authority)
            var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
                upgradeConfiguration: .init(upgradeRequestHead: head, upgraders: [upgrader]) {
                    $0.eventLoop.makeSucceededVoidFuture()
                })
            configuration.leftOverBytesStrategy = .forwardBytes
            configuration.decoderConfiguration.maxHeaderListSize = headBytesMax
            _ = try pipeline.configureUpgradableHTTPClientPipeline(configuration: configuration)
            try pipeline.addHandler(response)
        } catch {
            bound.value.connectFailed("\(server): \(ServerConnection.describe(error))")
        }
    }

    /// Limit: bytes of the head of the server's answer.
    private static let headBytesMax = 64 * 1024

    private static func upgrader(
        _ response: NIOLoopBound<UpgradeResponseHandler>, _ connection: NIOLoopBound<ServerConnection>
    ) -> NIOTypedWebSocketClientUpgrader<Void> {
        NIOTypedWebSocketClientUpgrader(
            maxFrameSize: ServerFrameReader.prefixBytes + ServerFrameReader.frameBytesMax,
            enableAutomaticErrorHandling: false
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                response.value.isDone = true
                _ = pipeline.removeHandler(response.value)
                try pipeline.addHandlers([WebSocketClientCodec(), connection.value])
            }
        }
    }
}

/// Stands at the end of the pipeline until the WebSocket is open, and says why it doesn't become one.
private final class UpgradeResponseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// How much of a refusal's text is shown.
    private static let reasonBytesMax = 200

    private let server: ServerAddress
    private let connection: ServerConnection
    private var refusal: (status: HTTPResponseStatus, reason: ByteBuffer)?
    /// The WebSocket is open, or it is certain that there will be none.
    var isDone = false

    init(_ server: ServerAddress, _ connection: ServerConnection) {
        self.server = server
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): refusal = (head.status, ByteBuffer())
        case .body(var bytes):
            let left = Self.reasonBytesMax - (refusal?.reason.readableBytes ?? 0)
            if let text = bytes.readSlice(length: min(left, bytes.readableBytes)) {
                refusal?.reason.writeImmutableBuffer(text)
            }
        case .end: refused()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if refusal == nil { failed("the connection was closed by the other side") } else { refused() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as NIOHTTPClientUpgradeError where error == .upgraderDeniedUpgrade:
            failed("the answer to the WebSocket handshake is wrong")
        case is HTTPParserError:
            failed("the server speaks no HTTP at this port", .serverWithoutHTTP)
        default: failed(ServerConnection.describe(error), .init(error))
        }
    }

    private func refused() {
        guard let refusal else { return }
        let reason = String(buffer: refusal.reason).split(whereSeparator: \.isNewline).first
        failed(
            "the server opens no WebSocket, but answers \(refusal.status)" + (reason.map { ": \($0)" } ?? ""),
            refusal.status.mayPass ? nil : .webSocketRefused)
    }

    private func failed(_ cause: String, _ failure: ConnectionFailure? = nil) {
        guard !isDone else { return }
        isDone = true
        connection.connectFailed("\(server) can't be reached: \(cause)", failure)
    }
}

extension HTTPResponseStatus {
    /// Whether the same request may be answered otherwise a little later: a server is overloaded, or a proxy
    /// doesn't reach it.
    fileprivate var mayPass: Bool { code >= 500 || [408, 425, 429].contains(code) }
}
