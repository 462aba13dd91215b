public import NIOCore
public import RTMModel

extension RTMClient {
    /// Measures the time from sending a heartbeat to its answer, on the connection in use.
    ///
    /// - Throws: `.notLogin` (-10002) if not logged in, `.notConnected` (-10025) if not connected or if there
    ///   is no answer in time.
    public func ping() async throws(RTMError) -> Duration {
        try await perform(.ping) { link, completion in link.calls.ping(completion) }
    }

    /// Asks a server whether it is there, without logging in.
    ///
    /// - Throws: `.notConnected` (-10025) with the cause if the server can't be reached or doesn't answer in
    ///   time; `.initServiceFailed` (-10007), `.invalidPrivateConfig` (-10024) and `.invalidParameter`
    ///   (-10014) as `init` does.
    public static func ping(
        _ server: ServerAddress, tls: TLS = .automatic(), proxy: Proxy? = nil,
        timeout: Duration = .seconds(10), eventLoopGroup: (any EventLoopGroup)? = nil
    ) async throws(RTMError) -> PingReply {
        let outcome = try await probe(
            server, tls: tls, proxy: proxy, timeout: timeout, eventLoopGroup: eventLoopGroup)
        switch outcome {
        case .answered(let reply): return reply
        case .failed(let error, _): throw error
        }
    }

    /// Does the same, and says by name why no connection could be opened.
    package static func probe(
        _ server: ServerAddress, tls: TLS = .automatic(), proxy: Proxy? = nil,
        timeout: Duration = .seconds(10), eventLoopGroup: (any EventLoopGroup)? = nil
    ) async throws(RTMError) -> ProbeOutcome {
        let eventLoop = (eventLoopGroup ?? Sockets.eventLoopGroup).next()
        let dialer: Dialer
        do {
            try proxy?.check()
            dialer = try Dialer(
                to: [server], tls: tls, proxy: proxy, timeout: timeout, eventLoop: eventLoop)
        } catch {
            throw error.with(operation: .ping)
        }
        let probe = NIOLoopBoundBox<ServerProbe>.makeBoxSendingValue(ServerProbe(), eventLoop: eventLoop)
        let outcome = try await probe.perform(.ping, id: 1) { probe, completion in
            probe.start(server, dialer: dialer, timeout: timeout, eventLoop: eventLoop, completion)
        } cancel: {
            $0.cancel()
        }
        guard case .failed(let error, let failure) = outcome else { return outcome }
        return .failed(error.with(operation: .ping), failure)
    }
}

/// A server's answer to a ping.
public struct PingReply: Sendable, Hashable {
    /// The time from sending one heartbeat to its answer, without the time for connecting.
    public var roundTrip: Duration
    /// The name and version of the server software.
    public var server: String
    /// The version of the protocol that both sides speak.
    public var protocolVersion: UInt32
    /// What the server's clock shows, in milliseconds since 1970.
    public var serverTimeMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        roundTrip: Duration, server: String, protocolVersion: UInt32, serverTimeMilliseconds: UInt64
    ) {
        self.roundTrip = roundTrip
        self.server = server
        self.protocolVersion = protocolVersion
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }
}
