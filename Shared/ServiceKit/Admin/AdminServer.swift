internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RTMServiceLink
internal import Synchronization

/// The admin port: a small HTTP/1.1 server on one event loop, for probes, scrapes and people with curl.
///
/// It is meant for a trusted network and trusts nobody all the same: headers, body, connections and the time
/// of a request are limited.
package final class AdminServer: Sendable {
    /// Limits of the admin port. Beyond them a connection gets an error status or is closed.
    enum AdminLimits {
        static let connectionsMax = 64
        static let headerBytesMax = 16 * 1024
        static let headerFieldsMax = 64
        static let bodyBytesMax = 4 * 1024
        /// The time from the opening of a connection, or the end of an answer, to the end of the next
        /// request.
        static let requestDeadline = TimeAmount.seconds(15)
    }

    private let configured: HostPort
    private let pages: AdminPages
    private let loop: any EventLoop
    private let logger: Logger
    private let requestDeadline: TimeAmount
    private let acceptGuard: AcceptGuard
    private let connectionsMax: Int
    private let channel = Mutex<(any Channel)?>(nil)
    private let connections = Gauge()

    init(
        address: HostPort, pages: AdminPages, loop: any EventLoop, accepting: AcceptPolicy = .unlimited,
        logger: Logger,
        requestDeadline: TimeAmount = AdminLimits.requestDeadline
    ) {
        configured = address
        self.pages = pages
        self.loop = loop
        self.logger = logger
        self.requestDeadline = requestDeadline
        acceptGuard = AcceptGuard("the admin port at \(address)", for: .operating, accepting)
        connectionsMax = min(AdminLimits.connectionsMax, accepting.plan.adminMax)
    }

    /// The address where the server listens; nil before `start` and after `stop`.
    var address: HostPort? {
        guard let bound = channel.withLock({ $0?.localAddress }), let host = bound.ipAddress else {
            return nil
        }
        return HostPort(host: host, port: bound.port ?? 0)
    }

    func start() async throws {
        let bootstrap = ServerBootstrap(group: loop)
            .serverChannelInitializer(acceptGuard.watch)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.maxMessagesPerRead, value: 4)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel) }
            }
        do {
            let bound = try await bootstrap.bind(host: configured.host, port: configured.port).get()
            channel.withLock { $0 = bound }
        } catch {
            throw ServiceFailure.cannotBind(configured, for: "the admin port", error)
        }
        if !configured.isLoopback {
            logger.notice("the admin port is open to other machines", metadata: ["address": "\(configured)"])
        }
    }

    /// Closes the listener. Open connections end with the process.
    func stop() async {
        let open = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        try? await open?.close().get()
    }

    private func configure(_ channel: any Channel) throws {
        guard acceptGuard.admits(channel), connections.value < connectionsMax else {
            return channel.close(promise: nil)
        }
        connections.add(1)
        channel.closeFuture.whenComplete { [connections] _ in connections.add(-1) }
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = AdminLimits.headerBytesMax
        limits.maxHeaderListSize = AdminLimits.headerBytesMax
        limits.maxHeaderFieldCount = AdminLimits.headerFieldsMax
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
        try channel.pipeline.syncOperations.addHandler(AdminHandler(pages: pages, deadline: requestDeadline))
    }
}
