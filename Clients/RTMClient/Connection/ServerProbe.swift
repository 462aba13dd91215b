import NIOCore
import RTMModel
import RTMProtocol

/// What a probe of a server found. The cause of a failure stands beside the error, as in a link event.
package enum ProbeOutcome: Sendable {
    case answered(PingReply)
    case failed(RTMError, ConnectionFailure?)
}

/// Pings a server once without a login: it connects, sends Hello and Heartbeat, and closes.
///
/// A probe lives on the event loop. Its connection and its timer hold it until it completes.
final class ServerProbe: FrameReceiver {
    private static let helloRequest: UInt64 = 1
    private static let heartbeatRequest: UInt64 = 2

    private var completion: Completion<ProbeOutcome>?
    private var connection: ServerConnection?
    private var timer: Scheduled<Void>?
    private var welcome = Rtm_Client_Welcome()
    private var sentAt = ContinuousClock.now

    func start(
        _ server: ServerAddress, dialer: Dialer, timeout: Duration, eventLoop: any EventLoop,
        _ completion: Completion<ProbeOutcome>
    ) {
        self.completion = completion
        connection = dialer.dial(server, over: nil, for: self)
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.fail("\(server) did not answer within \(timeout)")
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
                .answered(
                    PingReply(
                        roundTrip: .now - sentAt, server: welcome.server, protocolVersion: welcome.version,
                        serverTimeMilliseconds: answer.serverTimeMs)))
        case .error(let error): finish(.failed(RTMError(error, unknownCode: .notConnected), nil))
        case .disconnect(let disconnect): fail(disconnect.reason)
        default: break
        }
    }

    func closed(_ connection: ServerConnection, cause: String) { fail(cause, connection.failure) }

    func cancel() { finish(.failed(.cancelled(.ping), nil)) }

    private func fail(_ reason: String, _ failure: ConnectionFailure? = nil) {
        finish(.failed(RTMError(.notConnected, reason), failure))
    }

    private func finish(_ outcome: ProbeOutcome) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        timer = nil
        connection?.close()
        connection = nil
        completion.succeed(outcome)
    }
}
