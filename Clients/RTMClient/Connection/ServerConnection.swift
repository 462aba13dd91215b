// One socket to an edge: frames come in, frames go out, and it ends exactly once.
//
// Frames that are sent within one turn of the event loop leave in one write. Everything runs on the event
// loop of the receiver, so that a received message reaches its consumers without a task or an actor hop.

import NIOCore
import RTMProtocol

/// The owner of a connection. All methods are called on the event loop.
protocol FrameReceiver: AnyObject {
    /// The socket is open, and frames may be sent.
    func opened(_ connection: ServerConnection)
    /// Bytes came. The frames that they complete follow.
    func receivedBytes(on connection: ServerConnection)
    func received(_ frame: Rtm_Client_ServerFrame, on connection: ServerConnection)
    /// The connection ended by itself or couldn't be opened. This is called once, and not after `close()`.
    func closed(_ connection: ServerConnection, cause: String)
}

final class ServerConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Limit: bytes that wait for the socket. A publish beyond it is refused with
    /// `.channelPublishMessageTooFrequent` (-11025).
    static let unsentBytesMax = 16 * 1024 * 1024

    private let eventLoop: any EventLoop
    /// The connection holds its receiver until it ends, which breaks the cycle. Whoever dials must end what
    /// it dialled.
    private var receiver: (any FrameReceiver)?
    private var context: ChannelHandlerContext?
    /// The channel while the handshake of WebSocket runs on it. This handler isn't in its pipeline yet.
    private var upgrading: (any Channel)?
    private var reader = ServerFrameReader()
    private var outbound = ByteBuffer()
    private var isFlushDue = false
    private var isReading = false
    private var isEnded = false
    private var cause: String?
    /// Why the connection could not be opened, as far as it has a name.
    private(set) var failure: ConnectionFailure?
    /// Bytes that were written, and that the socket has not taken yet.
    private var bytesInWrites = 0

    init(eventLoop: any EventLoop, receiver: any FrameReceiver) {
        self.eventLoop = eventLoop
        self.receiver = receiver
    }

    var localAddress: SocketAddress? { context?.channel.localAddress }

    var isBacklogged: Bool { bytesInWrites + outbound.readableBytes > Self.unsentBytesMax }

    /// Sends a frame together with everything else that is sent in this turn. After the end this does
    /// nothing.
    ///
    /// - Returns: how many bytes it has.
    @discardableResult
    func send(_ frame: Rtm_Client_ClientFrame) -> Int {
        guard !isEnded else { return 0 }
        let before = outbound.readableBytes
        do {
            try outbound.writeFrame(frame)
        } catch {
            end(cause: "a frame could not be encoded")
            return 0
        }
        scheduleFlush()
        return outbound.readableBytes - before
    }

    private func scheduleFlush() {
        guard !isFlushDue else { return }
        isFlushDue = true
        // While bytes are being read, the end of the read is the end of the turn.
        if !isReading { eventLoop.assumeIsolated().execute { self.flush() } }
    }

    /// How many bytes the frame has that was received last.
    var receivedBytes: Int { reader.frameBytes }

    /// What comes from now on is for another receiver.
    func hand(to receiver: any FrameReceiver) {
        if !isEnded { self.receiver = receiver }
    }

    /// Closes the connection at once, behind what was sent in this turn. The receiver isn't called any more.
    func close() {
        flush()
        receiver = nil
        isEnded = true
        closeChannel()
    }

    private func closeChannel() {
        if let context { context.close(promise: nil) } else { upgrading?.close(promise: nil) }
        upgrading = nil
    }

    private func flush() {
        isFlushDue = false
        guard let context, outbound.readableBytes > 0 else { return }
        let bytes = outbound
        let count = bytes.readableBytes
        outbound = context.channel.allocator.buffer(capacity: min(count, 64 * 1024))
        bytesInWrites += count
        context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenComplete { _ in
            self.bytesInWrites -= count
        }
    }

    /// Ends the connection once. The receiver gets the cause that came first.
    private func end(cause: String) {
        guard !isEnded else { return }
        isEnded = true
        let receiver = receiver
        self.receiver = nil
        closeChannel()
        receiver?.closed(self, cause: cause)
    }

    /// The socket is open, and has to become a WebSocket first.
    ///
    /// - Returns: false if nobody wants the connection any more.
    func upgrades(_ channel: any Channel) -> Bool {
        upgrading = channel
        if isEnded { closeChannel() }
        return !isEnded
    }

    /// The socket could not be opened.
    func connectFailed(_ cause: String, _ failure: ConnectionFailure? = nil) {
        self.failure = failure
        end(cause: cause)
    }

    // MARK: ChannelInboundHandler

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { channelActive(context: context) }
    }

    /// When a host has several addresses, some may be tried at the same time. The channels that lose are of
    /// no interest.
    func handlerRemoved(context: ChannelHandlerContext) {
        if self.context === context { self.context = nil }
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        upgrading = nil
        guard !isEnded else {
            context.close(promise: nil)
            return
        }
        receiver?.opened(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = true
        reader.append(unwrapInboundIn(data))
        receiver?.receivedBytes(on: self)
        do {
            while !isEnded, let frame = try reader.next() { receiver?.received(frame, on: self) }
        } catch {
            failure = failure ?? .init(error)
            end(cause: error.description)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(cause: cause ?? "the connection was closed by the other side")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        cause = ServerConnection.describe(error)
        failure = failure ?? .init(error)
        end(cause: ServerConnection.describe(error))
    }
}
