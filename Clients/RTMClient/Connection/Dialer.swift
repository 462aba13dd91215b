import NIOCore
import NIOPosix
import NIOSSL
import RTMModel

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
        for server in servers where tls != .disabled && !server.hasTLS(tls) {
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
        let caFile = if case .enabled(let file, _) = tls { file } else { String?.none }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let caFile { configuration.trustRoots = .file(caFile) }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            let place = caFile.map { "of '\($0)'" } ?? "of the system"
            throw RTMError(
                .initServiceFailed, "the certificate authorities \(place) can't be read: \(error)",
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
            bound.value.connectFailed("\(server) can't be reached: \(ServerConnection.describe(error))")
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
        case .tcp: tls != .disabled
        case .webSocket(_, let isSecure): isSecure
        }
    }
}

extension ServerConnection {
    /// Describes the cause of a failure in few words.
    static func describe(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first { return describe(first.error) }
            return "the name can't be looked up"
        case let error as IOError:
            return String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout(let amount):
            return "no answer within \(Duration(amount))"
        case let error as NIOSSLError:
            return "TLS failed: \(error)"
        case let error as NIOSSLExtraError:
            return "TLS failed: \(error)"
        default:
            return "\(error)"
        }
    }
}
