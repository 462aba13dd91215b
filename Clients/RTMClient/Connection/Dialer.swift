import NIOCore
import NIOSSL
import RTMModel

/// Opens connections to edges.
protocol Dialing {
    /// Begins to connect. The receiver is called when that ends. `close()` on the result gives it up.
    ///
    /// - Parameter interface: the name of the interface to connect over; `nil` leaves it to the routes of the
    ///   device.
    func dial(
        _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
    ) -> ServerConnection
}

/// Opens sockets over TCP or WebSocket, with TLS where the configuration or the address asks for it, and
/// through a proxy where there is one.
struct Dialer: Dialing, Sendable {
    private let eventLoop: any EventLoop
    private let timeout: TimeAmount
    private let tls: RTMClient.TLS
    private let proxy: RTMClient.Proxy?
    private let tlsContext: NIOSSLContext?

    /// - Throws: `.initServiceFailed` (-10007) when the certificate authorities can't be read,
    ///   `.invalidPrivateConfig` (-10024) for a server in the clear where TLS is asked for.
    init(
        to servers: [ServerAddress], tls: RTMClient.TLS, proxy: RTMClient.Proxy?, timeout: Duration,
        eventLoop: any EventLoop
    ) throws(RTMError) {
        if case .enabled = tls, let server = servers.first(where: { !$0.hasTLS(tls) }) {
            throw RTMError(
                .invalidPrivateConfig, "TLS is asked for, and '\(server)' has none: write wss://",
                operation: "init")
        }
        self.eventLoop = eventLoop
        self.timeout = TimeAmount(timeout)
        self.tls = tls
        self.proxy = proxy
        tlsContext = servers.contains { $0.hasTLS(tls) } ? try Self.context(for: tls) : nil
    }

    private static func context(for tls: RTMClient.TLS) throws(RTMError) -> NIOSSLContext {
        let caFile: String? =
            switch tls {
            case .automatic(let file), .enabled(let file, _): file
            case .disabled: nil
            }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let caFile { configuration.trustRoots = .file(caFile) }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            let place = caFile.map { "of '\($0)'" } ?? "of the system"
            var reason = "the file holds no certificates"
            if case .noSuchFilesystemObject? = error as? NIOSSLError { reason = "there is no such file" }
            throw RTMError(
                .initServiceFailed, "the certificate authorities \(place) can't be read: \(reason)",
                operation: "init")
        }
    }

    func dial(
        _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
    ) -> ServerConnection {
        let handler = ServerConnection(eventLoop: eventLoop, receiver: receiver)
        let bound = NIOLoopBound(handler, eventLoop: eventLoop)
        let tls = server.hasTLS(tls) ? tlsContext : nil
        let route = Route(
            server: server, interface: interface, tls: tls, serverName: serverName(of: server),
            connection: bound)
        switch proxy {
        case nil: dial(server.host, server.port, route, "\(server)")
        case .relay(let host, let port)?: dial(host, port, route, "the relay \(host):\(port)")
        case .http(let host, let port, let credentials)?: dial(host, port, credentials, route)
        }
        return handler
    }

    /// - Parameter peer: what is named when nobody answers there.
    private func dial(_ host: String, _ port: Int, _ route: Route, _ peer: String) {
        guard let bootstrap = bootstrap(of: route) else { return }
        let connected =
            bootstrap
            .channelInitializer { channel in
                route.bind(channel).flatMapThrowing { try route.addHandlers(to: channel) }
            }
            .connect(host: host, port: port)
        connected.whenSuccess { route.upgradeIfNeeded($0) }
        connected.whenFailure { route.failed("\(peer) can't be reached", $0) }
    }

    /// The handlers join when the proxy has let the connection through: until then the bytes are for the
    /// proxy.
    private func dial(
        _ host: String, _ port: Int, _ credentials: RTMClient.ProxyCredentials?, _ route: Route
    ) {
        let proxy = "the proxy \(RTMClient.Proxy.http(host: host, port: port))"
        guard let bootstrap = bootstrap(of: route) else { return }
        let connected = bootstrap.channelInitializer { route.bind($0) }.connect(host: host, port: port)
        connected.whenFailure { route.failed("\(proxy) can't be reached", $0) }
        connected.whenSuccess { channel in
            guard route.connection.value.upgrades(channel) else { return }
            let tunnel = ProxyTunnel.begin(on: channel, to: route.server, credentials: credentials)
            tunnel.whenSuccess { route.begin(on: channel) }
            tunnel.whenFailure { route.failed("\(route.server) can't be reached through \(proxy)", $0) }
        }
    }

    /// - Returns: `nil` if the route has failed already.
    private func bootstrap(of route: Route) -> (any NIOClientTCPBootstrapProtocol)? {
        if let bootstrap = Sockets.bootstrap(on: eventLoop, over: route.interface) {
            return bootstrap.connectTimeout(timeout)
        }
        // The caller has no connection yet that could fail.
        eventLoop.execute {
            route.failed("\(route.server) can't be reached", InterfaceBinding.missing)
        }
        return nil
    }

    /// A numeric address is no server name. The certificate must then carry the address itself, which NIOSSL
    /// checks.
    private func serverName(of server: ServerAddress) -> String? {
        if case .enabled(_, let name?) = tls { return name }
        return (try? SocketAddress(ipAddress: server.host, port: server.port)) == nil ? server.host : nil
    }
}

/// How the frames of one connection get onto its channel.
private struct Route: Sendable {
    let server: ServerAddress
    let interface: String?
    let tls: NIOSSLContext?
    let serverName: String?
    let connection: NIOLoopBound<ServerConnection>

    func bind(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let interface else { return channel.eventLoop.makeSucceededVoidFuture() }
        return InterfaceBinding.bind(channel, to: interface)
    }

    func addHandlers(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName))
        }
        if case .tcp = server.transport { try pipeline.addHandler(connection.value) }
    }

    func upgradeIfNeeded(_ channel: any Channel) {
        guard case .webSocket(let path, _) = server.transport else { return }
        WebSocketClientUpgrade.begin(on: channel, to: server, path: path, as: connection)
    }

    /// On a channel that is open already.
    func begin(on channel: any Channel) {
        guard connection.value.upgrades(channel) else { return }
        guard channel.isActive else {
            return connection.value.connectFailed("the proxy closed the connection to \(server) at once")
        }
        do {
            try addHandlers(to: channel)
            upgradeIfNeeded(channel)
        } catch {
            failed("\(server) can't be reached", error)
        }
    }

    func failed(_ what: String, _ error: any Error) {
        connection.value.connectFailed(
            "\(what): \(ServerConnection.describe(error))", ConnectionFailure(error))
    }
}

extension ServerAddress {
    /// Whether a client with this setting speaks TLS to the server. The address of a WebSocket says so
    /// itself.
    package func hasTLS(_ tls: RTMClient.TLS) -> Bool {
        switch transport {
        case .webSocket(_, let isSecure): isSecure
        case .tcp:
            switch tls {
            case .automatic: !isLoopback
            case .disabled: false
            case .enabled: true
            }
        }
    }
}
