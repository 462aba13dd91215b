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
    private static let (headersMax, headerBytesMax) = (100, 16 * 1024)

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
        idleTimeout: Duration, connectionsMax: Int, accepting: AcceptPolicy,
        on loops: MultiThreadedEventLoopGroup, _ logger: Logger
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
        // Connections that were opened together don't have to be opened again together.
        let channel = { @Sendable () -> HTTP1Channel.Configuration in
            let idle = TimeAmount(idleTimeout * Double.random(in: 1...1.2))
            return HTTP1Channel.Configuration(
                additionalChannelHandlers: [AcceptGate(acceptGuard), RequestDeadline(idle)],
                idleTimeout: idle,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headerBytesMax, maxHeaderListSize: Self.headerBytesMax,
                    maxHeaderFieldCount: Self.headersMax))
        }
        let application = Application(
            router: router,
            server: HTTPServerBuilder { responder in
                LoopBoundChannel(
                    base: { HTTP1Channel(responder: responder, configuration: channel()) }, tls: tls)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(place.host, port: place.port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    min(connectionsMax, accepting.plan.connectionsMax))),
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
}

/// Closes a connection that has got one of the last descriptors of the process.
private final class AcceptGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let acceptGuard: AcceptGuard

    init(_ acceptGuard: AcceptGuard) { self.acceptGuard = acceptGuard }

    func handlerAdded(context: ChannelHandlerContext) {
        if !acceptGuard.admits(context.channel) { context.close(promise: nil) }
    }
}
