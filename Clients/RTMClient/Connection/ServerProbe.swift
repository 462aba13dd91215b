import NIOCore
import RTMModel
import RTMProtocol

/// Pings a server once without a login: it connects, sends Hello and Heartbeat, and closes.
///
/// A probe lives on the event loop. Its connection and its timer hold it until it completes.
final class ServerProbe: FrameReceiver {
    private static let helloRequest: UInt64 = 1
    private static let heartbeatRequest: UInt64 = 2

    private var completion: Completion<PingReply>?
    private var connection: ServerConnection?
    private var timer: Scheduled<Void>?
    private var welcome = Rtm_Client_Welcome()
    private var sentAt = ContinuousClock.now

    func start(
        _ server: ServerAddress, dialer: Dialer, timeout: Duration, eventLoop: any EventLoop,
        _ completion: Completion<PingReply>
    ) {
        self.completion = completion
        connection = dialer.dial(server, over: nil, for: self)
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.finish(.failure(Self.failure("\(server) did not answer within \(timeout)")))
        }
    }

    func opened(_ connection: ServerConnection) {
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = Self.helloRequest
        frame.hello = .current
        connection.send(frame)
    }

    func receivedBytes(on connection: ServerConnection) {}

    func received(_ frame: Rtm_Client_ServerFrame, on connection: ServerConnection) {
        switch frame.body {
        case .welcome(let welcome):
            self.welcome = welcome
            var frame = Rtm_Client_ClientFrame()
            frame.requestID = Self.heartbeatRequest
            frame.heartbeat = Rtm_Client_Heartbeat()
            sentAt = .now
            connection.send(frame)
        case .heartbeatAck(let answer):
            finish(
                .success(
                    PingReply(
                        roundTrip: .now - sentAt, server: welcome.server, protocolVersion: welcome.version,
                        serverTimeMilliseconds: answer.serverTimeMs)))
        case .error(let error): finish(.failure(RTMError(error, unknownCode: .notConnected)))
        case .disconnect(let disconnect): finish(.failure(Self.failure(disconnect.reason)))
        default: break
        }
    }

    func closed(_ connection: ServerConnection, cause: String) { finish(.failure(Self.failure(cause))) }

    func cancel() { finish(.failure(.cancelled(.ping))) }

    private static func failure(_ reason: String) -> RTMError { RTMError(.notConnected, reason) }

    private func finish(_ result: Result<PingReply, RTMError>) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        timer = nil
        connection?.close()
        connection = nil
        switch result {
        case .success(let reply): completion.succeed(reply)
        case .failure(let error): completion.fail(error)
        }
    }
}
