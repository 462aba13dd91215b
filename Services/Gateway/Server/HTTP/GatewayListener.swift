import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import RTMServiceKit
import RTMServiceLink
import ServiceLifecycle

/// Answers HTTP requests at one address.
final class GatewayListener: RTMServiceKit.Service {
    /// Limits of a request's head; one with more is answered with 400, and its connection is closed.
    static let (headersMax, headerBytesMax) = (100, 16 * 1024)

    let name: String
    private let purpose: String
    private let place: HostPort
    /// Whether the process continues if the address is taken, because nobody has asked for it.
    private let isOptional: Bool
    private let logger: Logger
    private let group: ServiceGroup
    private let address: EventLoopFuture<HostPort>
    private let opened: EventLoopPromise<HostPort>

    init(
        purpose: String, at place: HostPort, isOptional: Bool, tls: ListenerTLS?,
        _ router: Router<GatewayContext>,
        idleTimeout: Duration, _ limits: GatewayPlaces.Limits, accepting: AcceptPolicy,
        _ metrics: GatewayMetrics, on loops: MultiThreadedEventLoopGroup, _ logger: Logger
    ) {
        name = "\(purpose) listener"
        self.purpose = purpose
        (self.place, self.isOptional, self.logger) = (place, isOptional, logger)
        let opened = loops.next().makePromise(of: HostPort.self)
        self.opened = opened
        address = opened.futureResult
        // The framework logs each request; here the metrics say it, and errors are answers.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let acceptGuard = AcceptGuard("\(purpose) at \(place)", for: .peer, accepting)
        var limits = limits
        limits.connectionsMax = min(limits.connectionsMax, accepting.plan.connectionsMax)
        limits.refusedMax = accepting.plan.refusedMax
        let places = GatewayPlaces(limits, metrics, crowded: acceptGuard.easeOff)
        // Connections that were opened together don't have to be opened again together.
        let channel = { @Sendable () -> HTTP1Channel.Configuration in
            let idle = TimeAmount(idleTimeout * Double.random(in: 1...1.2))
            return HTTP1Channel.Configuration(
                additionalChannelHandlers: [PipelineBound(), RequestDeadline(idle)], idleTimeout: idle,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headerBytesMax, maxHeaderListSize: Self.headerBytesMax,
                    maxHeaderFieldCount: Self.headersMax))
        }
        let application = Application(
            router: router,
            server: HTTPServerBuilder { responder in
                LoopBoundChannel(
                    base: { HTTP1Channel(responder: responder, configuration: channel()) }, tls: tls
                ) {
                    try Self.begin($0, acceptGuard, places)
                }
            },
            configuration: ApplicationConfiguration(
                address: .hostname(place.host, port: place.port), serverName: nil),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? place.port
                opened.completeWith(
                    channel.eventLoop.flatSubmit { acceptGuard.watch(channel) }
                        .map { HostPort(host: place.host, port: port) })
            },
            eventLoopGroupProvider: .shared(loops), logger: quiet)
        group = ServiceGroup(configuration: .init(services: [application], logger: quiet))
    }

    func start() async throws {
        let (group, opened) = (group, opened)
        // Unstructured: the framework listens within `run`, which returns after `shutdown`; `start` returns
        // as soon as the address is open.
        Task {
            do {
                try await group.run()
            } catch {
                opened.fail(error)
            }
        }
        do {
            _ = try await address.get()
        } catch {
            let failure = ServiceFailure.cannotBind(place, for: "\(purpose).listen", error)
            guard isOptional, failure.isAddressTaken else { throw failure }
            failure.leftOut(logger)
        }
    }

    func shutdown(deadline: ContinuousClock.Instant) async { await group.triggerGracefulShutdown() }

    var listening: [ListeningAddress] {
        get async {
            guard let address = try? await address.get() else { return [] }
            return [ListeningAddress(purpose, address)]
        }
    }

    /// Gives a connection its place, before any handler of HTTP is there.
    private static func begin(
        _ channel: any Channel, _ acceptGuard: AcceptGuard, _ places: GatewayPlaces
    ) throws {
        guard acceptGuard.admits(channel) else { return channel.close(promise: nil) }
        try PlaceKeeper.prepare(channel)
        let pipeline = channel.pipeline.syncOperations
        switch places.admit(channel) {
        case .admitted(let place): try pipeline.addHandler(PlaceKeeper(place, in: places), position: .first)
        case .refused(let reason): try pipeline.addHandler(RefusedConnection(reason))
        case .dropped: channel.close(promise: nil)
        }
    }
}

/// Answers whatever comes with the reason why there is no place for the connection, and closes.
private final class RefusedConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a client may take for the answer, and with TLS for its handshake before it.
    private static let lingerTimeout = TimeAmount.seconds(5)
    private static let retryAfter = Duration.seconds(5)

    private let refusal: APIError
    private var end: Scheduled<Void>?

    init(_ reason: String) {
        refusal = APIError(
            .serviceUnavailable, "tooManyConnections", reason, retryAfter: Self.retryAfter)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: Self.lingerTimeout) { channel.closeAtOnce() }
        if context.channel.isActive { refuse(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        refuse(context)
        context.fireChannelActive()
    }

    private func refuse(_ context: ChannelHandlerContext) {
        let channel = context.channel
        // What the client has sent is read before the end: unread, it would reset the connection, and the
        // answer would be lost.
        context.writeAndFlush(wrapOutboundOut(refusal.closingAnswer)).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.ioOnClosedChannel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}
