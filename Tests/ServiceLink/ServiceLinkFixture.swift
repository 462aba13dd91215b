import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceLink
import RTMTestSupport
import Synchronization
import Testing

/// A caller and a service with a link between them, over any transport.
final class ServiceLinkFixture: Sendable {
    struct Settings: Sendable {
        var client = ServiceLinkClientConfiguration(service: "echo", node: "tester")
        var server = ServiceLinkServerConfiguration(service: "echo")

        init() {
            client.backoff = Backoff(first: .milliseconds(5), longest: .milliseconds(20))
            client.link.closeLinger = .milliseconds(500)
            server.link.closeLinger = .milliseconds(500)
            // A machine that runs many tests at once may stand still for seconds.
            client.link.handshakeTimeout = .seconds(30)
            server.link.handshakeTimeout = .seconds(30)
        }
    }

    let kind: TransportKind
    let settings: Settings
    let journal = CallLog()
    let visits = EchoService.Visits()
    let clientLoop: any EventLoop
    let serverLoop: any EventLoop
    private let endpoint = InProcessEndpoint(name: "echo")
    private let opened = Mutex<(callers: [RemoteCaller], servers: [ServiceLinkServer])>(([], []))
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private init(_ kind: TransportKind, _ settings: Settings, _ group: MultiThreadedEventLoopGroup) {
        self.kind = kind
        self.settings = settings
        clientLoop = group.next()
        serverLoop = kind == .inProcessOnOneLoop ? clientLoop : group.next()
    }

    /// Runs `body` with a fixture whose threads end with it.
    static func with(
        _ kind: TransportKind, _ configure: (inout Settings) -> Void = { _ in },
        _ body: (ServiceLinkFixture) async throws -> Void
    ) async throws {
        var settings = Settings()
        configure(&settings)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let fixture = ServiceLinkFixture(kind, settings, group)
        let failure: (any Error)?
        do {
            try await body(fixture)
            failure = nil
        } catch {
            failure = error
        }
        try await fixture.close()
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    private func close() async throws {
        let (callers, servers) = opened.withLock { $0 }
        for caller in callers { try await caller.turn { $0.shutdown() } }
        for server in servers { await server.drain() }
        // What the ends still have to say to each other is queued on the loops by now.
        for loop in [clientLoop, serverLoop, clientLoop] { try await loop.submit {}.get() }
    }

    /// A service that listens on `port`, on a port that the system chooses, or on the fixture's endpoint.
    func listen(
        port: Int = 0, _ configure: (inout ServiceLinkServerConfiguration) -> Void = { _ in }
    ) async throws -> (server: ServiceLinkServer, address: ServiceLinkAddress) {
        var configuration = settings.server
        configure(&configuration)
        let visits = self.visits
        let server = ServiceLinkServer(configuration, links: serverLoop, logger: logger) { _ in
            EchoService(visits)
        }
        opened.withLock { $0.servers.append(server) }
        guard kind == .tcp else {
            server.listen(on: endpoint)
            return (server, .inProcess(endpoint))
        }
        return (server, .tcp(host: "127.0.0.1", port: try await server.listen(host: "127.0.0.1", port: port)))
    }

    func call(_ addresses: ServiceLinkAddress...) async throws -> RemoteCaller {
        let (loop, settings, logger, journal) = (clientLoop, settings, logger, journal)
        let caller = try await loop.submit {
            let link = ServiceLinkClient(
                settings.client, toAnyOf: addresses, endOfTurn: EndOfTurn.shared(on: loop), logger: logger)
            let caller = Caller(link, journal: journal)
            link.start(delegate: caller)
            return NIOLoopBound(caller, eventLoop: loop)
        }.get()
        let remote = RemoteCaller(loop: loop, caller: caller)
        opened.withLock { $0.callers.append(remote) }
        return remote
    }

    /// A service, and a caller whose link to it is up.
    func connected() async throws -> (server: ServiceLinkServer, caller: RemoteCaller) {
        let (server, address) = try await listen()
        let caller = try await call(address)
        try await eventually("link up") { !journal.ups.isEmpty }
        return (server, caller)
    }

    /// An address of this transport where nobody listens.
    func nowhere() async throws -> ServiceLinkAddress {
        guard kind == .tcp else { return .inProcess(endpoint) }
        let (server, address) = try await listen()
        await server.drain()
        return address
    }
}

/// The caller, from outside its event loop.
struct RemoteCaller: Sendable {
    let loop: any EventLoop
    let caller: NIOLoopBound<Caller>

    /// Runs `body` in one turn of the link's event loop.
    @discardableResult
    func turn<Result: Sendable>(
        _ body: @escaping @Sendable (ServiceLinkClient) throws -> Result
    ) async throws -> Result {
        try await loop.submit { try caller.value.call(body) }.get()
    }

    func request(_ method: UInt32, _ body: Bytes, timeout: Duration = .seconds(10), context: Int = 0)
        async throws
    {
        try await turn { try $0.request(method, body, timeout: timeout, context: context) }
    }

    var counters: ServiceLinkCounters { get async throws { try await turn { $0.counters } } }
}
