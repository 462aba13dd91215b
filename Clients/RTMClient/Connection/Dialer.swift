import NIOCore
import NIOPosix
import NIOSSL
import RTMModel

/// Opens connections to edges.
protocol Dialing {
    /// Begins to connect. The receiver hears how that ends. `close()` on the result gives it up.
    func dial(_ server: ServerAddress, for receiver: any FrameReceiver) -> ServerConnection
}

/// Opens sockets over TCP or WebSocket, with TLS where the configuration or the address asks for it.
struct Dialer: Dialing, Sendable {
    private let eventLoop: any EventLoop
    private let timeout: TimeAmount
    private let tls: RTMClient.TLS
    private let tlsContext: NIOSSLContext?

    /// - Throws: `.initServiceFailed` (-10007) when the certificate authorities can't be read,
    ///   `.invalidPrivateConfig` (-10024) for a server in the clear where TLS is asked for.
    init(
        to servers: [ServerAddress], tls: RTMClient.TLS, timeout: Duration, eventLoop: any EventLoop
    ) throws(RTMError) {
        if case .enabled = tls, let server = servers.first(where: { !$0.hasTLS(tls) }) {
            throw RTMError(
                .invalidPrivateConfig, "TLS is asked for, and '\(server)' has none: write wss://",
                operation: "init")
        }
        self.eventLoop = eventLoop
        self.timeout = TimeAmount(timeout)
        self.tls = tls
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
            var reason = "\(error)"
            if case .noSuchFilesystemObject? = error as? NIOSSLError { reason = "there is no such file" }
            throw RTMError(
                .initServiceFailed, "the certificate authorities \(place) can't be read: \(reason)",
                operation: "init")
        }
    }

    func dial(_ server: ServerAddress, for receiver: any FrameReceiver) -> ServerConnection {
        let handler = ServerConnection(eventLoop: eventLoop, receiver: receiver)
        let bound = NIOLoopBound(handler, eventLoop: eventLoop)
        let tls = server.hasTLS(tls) ? tlsContext : nil
        let serverName = serverName(of: server)
        let connected = ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: serverName))
                    }
                    if case .tcp = server.transport { try pipeline.addHandler(bound.value) }
                }
            }
            .connect(host: server.host, port: server.port)
        if case .webSocket(let path, _) = server.transport {
            connected.whenSuccess { channel in
                WebSocketClientUpgrade.begin(on: channel, to: server, path: path, as: bound)
            }
        }
        connected.whenFailure { error in
            bound.value.connectFailed(
                "\(server) can't be reached: \(ServerConnection.describe(error))", .init(error))
        }
        return handler
    }

    /// A numeric address is no server name. The certificate must then carry the address itself, which NIOSSL
    /// checks.
    private func serverName(of server: ServerAddress) -> String? {
        if case .enabled(_, let name?) = tls { return name }
        return (try? SocketAddress(ipAddress: server.host, port: server.port)) == nil ? server.host : nil
    }
}

extension ServerAddress {
    /// The address of a WebSocket says so itself.
    fileprivate func hasTLS(_ tls: RTMClient.TLS) -> Bool {
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
