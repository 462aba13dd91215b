import HTTPTypes
import NIOCore
import NIOHTTPTypes
import RTMServiceLink

#if os(Linux)
    import Glibc
#endif

/// Watches over one connection: whether its client reads what waits for it, and how much the gateway holds
/// for it. It stands between the socket and everything else, TLS included.
final class PlaceKeeper: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// A client that takes fewer bytes than these in the time that it has doesn't read: half a KiB a second
    /// with the defaults.
    private static let readBytesMin = 16 * 1024
    /// Limit: bytes that the kernel takes for a connection beyond what the client's window lets it send. The
    /// rest waits in the gateway, where it is counted.
    private static let unsentBytesMax: Int = 128 << 10

    private let places: GatewayPlaces
    private let place: GatewayPlace
    private var progress: WriteProgress
    private var check: Scheduled<Void>?
    /// What the requests hold that wait for their answer.
    private var requestBytes = 0

    init(_ place: GatewayPlace, in places: GatewayPlaces) {
        (self.places, self.place) = (places, place)
        progress = WriteProgress(timeout: places.limits.readingTimeout, bytesMin: Self.readBytesMin)
    }

    /// Lets the connection wait in the gateway and not in the kernel, and reads no more at once than a few
    /// requests have.
    static func prepare(_ channel: any Channel) throws {
        try channel.syncOptions?.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 16_384))
        #if os(Linux)
            // An embedded channel of a test has no such option.
            try? channel.syncOptions?.setOption(
                .tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsentBytesMax)
        #endif
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data).readableBytes
        look(context)
        progress.added(bytes, now: context.eventLoop.now)
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        look(context)
        arm(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        look(context)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is CredentialAccepted: place.credentialAccepted()
        case let waiting as WaitingRequests:
            requestBytes = waiting.bytes
            look(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        check?.cancel()
        check = nil
        context.fireChannelInactive()
    }

    /// Notices what the socket has taken, and counts what it hasn't.
    private func look(_ context: ChannelHandlerContext) {
        let bytes = Int((try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0)
        progress.waits(bytes, now: context.eventLoop.now)
        places.holds(place, bytes + requestBytes)
    }

    private func arm(_ context: ChannelHandlerContext) {
        guard check == nil, let deadline = progress.deadline else { return }
        check = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            check = nil
            look(context)
            guard let deadline = progress.deadline else { return }
            guard deadline > context.eventLoop.now else { return places.isDeaf(place) }
            arm(context)
        }
    }
}

/// A key or a token of a request was accepted.
struct CredentialAccepted: Sendable {}

/// What the requests of a connection hold that wait for their answer, beside the one that is answered.
struct WaitingRequests: Sendable {
    /// About what a request holds until it is answered.
    private static let requestBytes = 4 * 1024

    let count: Int
    var bytes: Int { count * Self.requestBytes }
}

/// Bounds the requests that come without waiting for answers. It stands where requests and answers pass.
final class PipelineBound: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Limit: requests of a connection that wait for their answer. With one more the connection ends.
    static let requestsMax = 128

    private var requests = 0
    private var reported = 0
    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        if case .head = unwrapInboundIn(data) {
            guard requests < Self.requestsMax else {
                isOver = true
                return context.close(promise: nil)
            }
            requests += 1
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        report(context)
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            requests -= 1
            report(context)
        }
        context.write(data, promise: promise)
    }

    private func report(_ context: ChannelHandlerContext) {
        let count = max(0, requests - 1)
        guard count != reported else { return }
        reported = count
        context.channel.pipeline.syncOperations.fireUserInboundEventTriggered(WaitingRequests(count: count))
    }
}
