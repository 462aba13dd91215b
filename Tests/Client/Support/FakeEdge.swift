import Foundation
import NIOCore
import NIOPosix
import RTMProtocol
import SwiftProtobuf
import Synchronization

/// A small edge over a real socket that answers as its script says, and remembers what it was sent.
final class FakeEdge: Sendable {
    typealias Script = @Sendable (Rtm_Client_ClientFrame) -> [Rtm_Client_ServerFrame]

    private struct Contents {
        var script: Script
        var listener: (any Channel)?
        var received: [Rtm_Client_ClientFrame] = []
        var channels: [any Channel] = []
        var accepted = 0
    }

    private let contents: Mutex<Contents>

    private init(_ script: @escaping Script) { contents = Mutex(Contents(script: script)) }

    static func start(
        port: Int = 0, _ script: @escaping Script = { [FakeEdge.usual($0)].compactMap { $0 } }
    ) async throws -> FakeEdge {
        let edge = FakeEdge(script)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PeerHandler(edge))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        edge.contents.withLock { $0.listener = listener }
        return edge
    }

    var port: Int { contents.withLock { $0.listener?.localAddress?.port ?? 0 } }

    /// What an edge answers that has no reason to refuse.
    static func usual(_ frame: Rtm_Client_ClientFrame) -> Rtm_Client_ServerFrame? {
        answer(to: frame) { answer in
            switch frame.body {
            case .hello:
                answer.welcome.version = 1
                answer.welcome.server = "fake"
            case .login: answer.loggedIn.sessionID = 1
            case .heartbeat: answer.heartbeatAck = Rtm_Client_HeartbeatAck()
            case .subscribe(let subscribe):
                answer.subscribed.position = subscribe.hasAfter ? subscribe.after : .with { $0.epoch = 1 }
            case .unsubscribe: answer.unsubscribed = Rtm_Client_Unsubscribed()
            case .publish: answer.published = .with { ($0.offset, $0.timestampMs) = (1, 1_790_000_000_000) }
            case .renewToken: answer.tokenRenewed = Rtm_Client_TokenRenewed()
            case .whoNow: answer.onlineUsers = Rtm_Client_OnlineUsers()
            case .whereNow: answer.userChannels = Rtm_Client_UserChannels()
            case .getState(let request): answer.userState.userID = request.userID
            case .setState, .removeState: answer.done = Rtm_Client_Done()
            case .subscribeUserMetadata(let subscribe):
                answer.userMetadataSubscribed.position =
                    subscribe.hasAfter ? subscribe.after : .with { $0.epoch = 1 }
            case .unsubscribeUserMetadata, .releaseLock: answer.done = Rtm_Client_Done()
            case .logout: answer.loggedOut = Rtm_Client_LoggedOut()
            default: break
            }
        }
    }

    static func answer(
        to frame: Rtm_Client_ClientFrame, _ fill: (inout Rtm_Client_ServerFrame) -> Void
    ) -> Rtm_Client_ServerFrame {
        var answer = Rtm_Client_ServerFrame()
        answer.requestID = frame.requestID
        fill(&answer)
        return answer
    }

    static func refusal(
        of frame: Rtm_Client_ClientFrame, _ code: Rtm_Client_ErrorCode, _ reason: String = "refused",
        retryAfterMs: UInt32 = 0
    ) -> Rtm_Client_ServerFrame {
        answer(to: frame) {
            ($0.error.code, $0.error.reason, $0.error.retryAfterMs) = (code, reason, retryAfterMs)
        }
    }

    static func publication(
        _ channel: String, offset: UInt64, text: String, type: Rtm_Client_ChannelType = .message
    ) -> Rtm_Client_ServerFrame {
        var publication = Rtm_Client_Publication()
        publication.channelType = type
        publication.channel = channel
        publication.offset = offset
        publication.timestampMs = 1_790_000_000_000 + offset
        publication.publisher = "bob"
        publication.message.type = .text
        publication.message.payload = .init(text.utf8)
        return .with { $0.publication = publication }
    }

    /// A number of failures, one at a time.
    final class Failures: Sendable {
        private let remaining: Mutex<Int>

        init(_ count: Int) { remaining = Mutex(count) }

        func next() -> Bool {
            remaining.withLock { remaining in
                remaining -= 1
                return remaining >= 0
            }
        }
    }

    var received: [Rtm_Client_ClientFrame] { contents.withLock { $0.received } }
    var connectionsAccepted: Int { contents.withLock { $0.accepted } }
    var connectionsOpen: Int { contents.withLock { $0.channels.count } }

    func follow(_ script: @escaping Script) { contents.withLock { $0.script = script } }

    /// Sends to every connection.
    func push(_ frames: [Rtm_Client_ServerFrame]) {
        for channel in contents.withLock({ $0.channels }) {
            channel.writeAndFlush(Self.bytes(frames), promise: nil)
        }
    }

    /// Sends to every connection and waits until the sockets took it, or were closed.
    func pushAndWait(_ frames: [Rtm_Client_ServerFrame]) async {
        for channel in contents.withLock({ $0.channels }) {
            try? await channel.writeAndFlush(Self.bytes(frames)).get()
        }
    }

    func pushBytes(_ bytes: [UInt8]) {
        for channel in contents.withLock({ $0.channels }) {
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        }
    }

    func dropConnections() {
        for channel in contents.withLock({ $0.channels }) { channel.close(promise: nil) }
    }

    func stop() async throws {
        try await contents.withLock { $0.listener }?.close()
        dropConnections()
    }

    fileprivate func opened(_ channel: any Channel) {
        contents.withLock { contents in
            contents.channels.append(channel)
            contents.accepted += 1
        }
    }

    fileprivate func closed(_ channel: any Channel) {
        contents.withLock { $0.channels.removeAll { $0 === channel } }
    }

    fileprivate func answers(to frame: Rtm_Client_ClientFrame) -> [Rtm_Client_ServerFrame] {
        let script = contents.withLock { contents in
            contents.received.append(frame)
            return contents.script
        }
        return script(frame)
    }

    fileprivate static func bytes(_ frames: [Rtm_Client_ServerFrame]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for frame in frames {
            guard let bytes: [UInt8] = try? frame.serializedBytes() else { continue }
            buffer.writeInteger(UInt32(bytes.count))
            buffer.writeBytes(bytes)
        }
        return buffer
    }
}

private final class PeerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let edge: FakeEdge
    private var buffer = ByteBuffer()

    init(_ edge: FakeEdge) { self.edge = edge }

    func channelActive(context: ChannelHandlerContext) { edge.opened(context.channel) }
    func channelInactive(context: ChannelHandlerContext) { edge.closed(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        buffer.writeImmutableBuffer(unwrapInboundIn(data))
        var answers: [Rtm_Client_ServerFrame] = []
        while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self),
            buffer.readableBytes >= 4 + Int(length)
        {
            buffer.moveReaderIndex(forwardBy: 4)
            guard let bytes = buffer.readBytes(length: Int(length)),
                let frame = try? Rtm_Client_ClientFrame(serializedBytes: bytes)
            else { return context.close(promise: nil) }
            answers += edge.answers(to: frame)
        }
        guard !answers.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(FakeEdge.bytes(answers)), promise: nil)
    }
}
