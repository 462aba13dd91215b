import NIOCore
import NIOPosix
import NIOSSL
import RTMProtocol
import SwiftProtobuf

/// A client that may do everything wrong: it sends bytes and receives frames over a real socket.
struct RawConnection {
    let channel: any Channel
    /// Returns when the server closes the connection.
    let frames: AsyncStream<Rtm_Client_ServerFrame>

    /// - Parameters:
    ///   - staysOpen: whether it stays open when the server closes its direction.
    ///   - tls: nil for a connection in the clear.
    ///   - receiveBufferBytes: nil for what the system chooses.
    static func open(
        _ address: String, staysOpen: Bool = false, tls: NIOSSLContext? = nil,
        receiveBufferBytes: Int? = nil
    ) async throws -> RawConnection {
        let parts = address.split(separator: ":")
        let (frames, continuation) = AsyncStream.makeStream(of: Rtm_Client_ServerFrame.self)
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: staysOpen)
        if let receiveBufferBytes {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBufferBytes)
        }
        let channel =
            try await bootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(FrameCollector(continuation))
                }
            }
            .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
        return RawConnection(channel: channel, frames: frames)
    }

    func send(bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func send(_ id: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body) async throws {
        try await send(bytes: Self.frame(id, body))
    }

    static func frame(_ id: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body?) throws -> [UInt8] {
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = id
        frame.body = body
        let bytes: [UInt8] = try frame.serializedBytes()
        return withUnsafeBytes(of: UInt32(bytes.count).bigEndian, Array.init) + bytes
    }

    func hello() async throws {
        var hello = Rtm_Client_Hello()
        hello.versionMin = 1
        hello.versionMax = 1
        try await send(1, .hello(hello))
    }

    func logIn(
        _ user: String, app: String = "dev", token: String = "", inboxAfter: Rtm_Client_StreamPosition? = nil,
        instance: UInt64 = 0
    ) async throws {
        try await hello()
        var login = Rtm_Client_Login()
        login.appID = app
        login.userID = user
        login.token = token
        login.instance = instance
        if let inboxAfter { login.inboxAfter = inboxAfter }
        try await send(2, .login(login))
    }

    /// Logs in, and waits for the answer. What comes before it is skipped.
    func enter(_ user: String) async throws {
        try await logIn(user)
        for await frame in frames {
            if case .loggedIn = frame.body { return }
        }
        throw NotLoggedIn()
    }

    struct NotLoggedIn: Error {}

    func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

    func close() async throws { try await channel.close() }
}

private final class FrameCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var bytes = ByteBuffer()
    private let frames: AsyncStream<Rtm_Client_ServerFrame>.Continuation

    init(_ frames: AsyncStream<Rtm_Client_ServerFrame>.Continuation) { self.frames = frames }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var chunk = unwrapInboundIn(data)
        bytes.writeBuffer(&chunk)
        while let length = bytes.getInteger(at: bytes.readerIndex, as: UInt32.self),
            bytes.readableBytes >= 4 + Int(length)
        {
            bytes.moveReaderIndex(forwardBy: 4)
            let frame = bytes.readBytes(length: Int(length)) ?? []
            if let frame = try? Rtm_Client_ServerFrame(serializedBytes: frame) { frames.yield(frame) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { frames.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
