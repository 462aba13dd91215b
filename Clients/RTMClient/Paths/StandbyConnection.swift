import RTMProtocol

/// One connection that stands by: it has said Hello, and no more.
final class StandbyConnection: FrameReceiver {
    /// A server that doesn't say how long it waits for a login waits for so long.
    private static let lifetime = Duration.seconds(10)

    /// The index of its server.
    let server: Int
    private unowned let standby: Standby
    private var hello: UInt64 = 0
    private(set) var socket: ServerConnection?

    init(_ standby: Standby, server: Int) {
        self.standby = standby
        self.server = server
    }

    func begin(_ socket: ServerConnection, _ hello: UInt64) {
        self.socket = socket
        self.hello = hello
    }

    func ask(_ id: UInt64) {
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = id
        frame.heartbeat = .init()
        socket?.send(frame)
    }

    func close() {
        socket?.close()
        socket = nil
    }

    /// The connection has another owner from now on.
    func hand(to receiver: any FrameReceiver) -> ServerConnection? {
        defer { socket = nil }
        socket?.hand(to: receiver)
        return socket
    }

    // MARK: FrameReceiver

    func opened(_ connection: ServerConnection) {
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = hello
        frame.hello = .current
        connection.send(frame)
    }

    func heard(_ connection: ServerConnection) {}

    func received(_ frame: Rtm_Client_ServerFrame, on connection: ServerConnection) {
        switch frame.body {
        case .welcome(let welcome):
            let given = Duration.milliseconds(welcome.handshakeTimeoutMs)
            standby.welcomed(self, lifetime: given > .zero ? given : Self.lifetime)
        case .heartbeatAck: standby.answered(self)
        case .disconnect(let disconnect): standby.ended(self, disconnect.reason)
        default: break
        }
    }

    func closed(_ connection: ServerConnection, cause: String) { standby.ended(self, cause) }
}
