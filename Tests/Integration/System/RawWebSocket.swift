import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RTMProtocol
import SwiftProtobuf

/// A WebSocket client that may do everything wrong: it sends single WebSocket frames and receives all kinds
/// of them.
struct RawWebSocket {
    enum Event: Equatable {
        case frame(Rtm_Client_ServerFrame)
        case pong(String)
        /// The server's close frame.
        case close(WebSocketErrorCode?)
    }

    let channel: any Channel
    /// Returns when the server closes the connection.
    let events: AsyncStream<Event>

    static func open(
        _ address: String, path: String = "/rtm", headers: HTTPHeaders = [:]
    ) async throws -> RawWebSocket {
        let parts = address.split(separator: ":")
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let upgrader = NIOTypedWebSocketClientUpgrader<any Channel>(maxFrameSize: 1 << 24) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(EventCollector(continuation))
                return channel
            }
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: path,
            headers: HTTPHeaders([("Host", address)] + headers.map { ($0.name, $0.value) }))
        let upgraded = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
                        upgradeConfiguration: .init(upgradeRequestHead: head, upgraders: [upgrader]) {
                            $0.eventLoop.makeFailedFuture(NotUpgraded())
                        })
                    configuration.leftOverBytesStrategy = .forwardBytes
                    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                        configuration: configuration)
                }
            }
        return RawWebSocket(channel: try await upgraded.get(), events: events)
    }

    struct NotUpgraded: Error {}

    func send(
        _ opcode: WebSocketOpcode, _ bytes: [UInt8], isLast: Bool = true, isMasked: Bool = true,
        isCompressed: Bool = false
    ) async throws {
        let frame = WebSocketFrame(
            fin: isLast, rsv1: isCompressed, opcode: opcode, maskKey: isMasked ? .random() : nil,
            data: ByteBuffer(bytes: bytes))
        try await channel.writeAndFlush(frame)
    }

    func send(_ id: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body) async throws {
        try await send(.binary, RawConnection.frame(id, body))
    }

    static func hello() -> Rtm_Client_ClientFrame.OneOf_Body {
        .hello(
            .with {
                $0.versionMin = 1
                $0.versionMax = 1
            })
    }

    static func login(_ user: String) -> Rtm_Client_ClientFrame.OneOf_Body {
        .login(
            .with {
                $0.appID = "dev"
                $0.userID = user
            })
    }

    /// Logs in. Returns nil if the answer is not the expected one.
    func logIn(_ user: String, _ events: inout AsyncStream<Event>.Iterator) async throws
        -> Rtm_Client_LoggedIn?
    {
        try await send(1, Self.hello())
        try await send(2, Self.login(user))
        guard case .frame(let first)? = await events.next(isolation: #isolation), case .welcome = first.body,
            case .frame(let second)? = await events.next(isolation: #isolation),
            case .loggedIn(let answer) = second.body
        else { return nil }
        return answer
    }

    /// What the server sends at the end: the code of Disconnect, and that of its close frame.
    func end() async -> End {
        var end = End()
        for await event in events {
            switch event {
            case .frame(let frame):
                if case .disconnect(let disconnect) = frame.body { end.disconnect = disconnect.code }
            case .close(let code): end.close = code
            case .pong: break
            }
        }
        return end
    }

    struct End: Equatable {
        var disconnect: Rtm_Client_DisconnectCode?
        var close: WebSocketErrorCode?
    }
}

/// Doesn't answer a close frame; a test that wants an answer sends one.
private final class EventCollector: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let events: AsyncStream<RawWebSocket.Event>.Continuation

    init(_ events: AsyncStream<RawWebSocket.Event>.Continuation) { self.events = events }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        var bytes = frame.data
        switch frame.opcode {
        case .binary:
            while let length = bytes.readInteger(as: UInt32.self),
                let body = bytes.readBytes(length: Int(length))
            {
                if let frame = try? Rtm_Client_ServerFrame(serializedBytes: body) {
                    events.yield(.frame(frame))
                }
            }
        case .pong: events.yield(.pong(String(buffer: bytes)))
        case .connectionClose: events.yield(.close(bytes.readWebSocketErrorCode()))
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) { events.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Sends bytes over TCP, and returns everything that comes until the server closes.
func answer(to request: String, at address: String) async throws -> String {
    let parts = address.split(separator: ":")
    let (chunks, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ChunkCollector(continuation))
            }
        }
        .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
    channel.writeAndFlush(ByteBuffer(string: request), promise: nil)
    var answer = ByteBuffer()
    for await chunk in chunks { answer.writeImmutableBuffer(chunk) }
    return String(buffer: answer)
}

private final class ChunkCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let chunks: AsyncStream<ByteBuffer>.Continuation

    init(_ chunks: AsyncStream<ByteBuffer>.Continuation) { self.chunks = chunks }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { chunks.yield(unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) { chunks.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
