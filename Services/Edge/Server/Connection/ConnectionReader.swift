import NIOCore
import RTMServiceLink
import RTMWire

/// Reads what a client sends: it cuts the bytes into frames where they arrived, and hands these to the
/// connection. It stops for a while where the client has had its share of a turn, or has published more than
/// messaging takes.
final class ConnectionReader {
    /// Frames are being read. Nothing is written meanwhile: a socket that fails would end the session,
    /// and read on, in the middle of a request.
    private(set) var isReading = false
    private(set) var intake: Intake
    private var gate = ReadGate()
    private var turn = RequestTurn()

    init(frameBytesMax: Int) { intake = Intake(frameBytesMax: frameBytesMax) }

    /// - Returns: whether the connection has to be closed, because its client goes on sending after the end.
    func drain(_ chunk: ByteBuffer) -> Bool { intake.drain(chunk) }

    func arrived(_ chunk: ByteBuffer, at connection: ConnectionHandler) {
        if turn.isPaused {
            intake.append(chunk)
            countStrangerBytes(of: connection)
        } else {
            read(chunk, at: connection)
        }
    }

    private func read(_ chunk: ByteBuffer, at connection: ConnectionHandler) {
        turn.begin(now: connection.loop.endOfTurn.now)
        isReading = true
        defer { isReading = false }
        do throws(WireError) {
            try intake.read(chunk, isLoggedIn: connection.machine.isActive) { frame in
                if connection.received(frame) { turn.dealt() }
                return connection.machine.isEnded ? .end : turn.isOver ? .pause : .nextFrame
            }
        } catch {
            connection.disconnect(Disconnect(error))
        }
        connection.loop.publishing.sendRun()
        countStrangerBytes(of: connection)
        connection.judge()
        if turn.isOver { pause(connection) }
    }

    /// The connection is gone, or has sent its last frame.
    func ended(_ connection: ConnectionHandler) {
        // What is being read has to be read to its end.
        guard !isReading else { return }
        intake.clear()
        countStrangerBytes(of: connection)
    }

    /// Half frames of clients that have not logged in hold little memory in all.
    private func countStrangerBytes(of connection: ConnectionHandler) {
        let isStranger = !connection.machine.isActive && !connection.machine.isEnded
        let change = intake.strangerBytesChanged(isStranger: isStranger)
        guard change != 0, !connection.loop.hasRoomForStrangers(change), isStranger else { return }
        connection.disconnect(.halfLogin)
        intake.clear()
        countStrangerBytes(of: connection)
    }

    // MARK: Pauses

    /// The rest of the client's requests waits until the loop has looked at its other sockets.
    private func pause(_ connection: ConnectionHandler) {
        guard !connection.machine.isEnded else { return intake.clear() }
        turn.pause()
        gate.close(.requests)
        connection.loop.metrics.requestsPaused()
        connection.loop.eventLoop.assumeIsolated().scheduleTask(in: RequestTurn.pause) {
            self.goOn(connection)
        }
    }

    private func goOn(_ connection: ConnectionHandler) {
        turn.goOn()
        guard !connection.machine.isEnded else { return ended(connection) }
        read(ByteBuffer(), at: connection)
        if !turn.isPaused, gate.open(.requests) { connection.readNow() }
    }

    /// The socket isn't read, so the client can't be heard.
    var isHeld: Bool { gate.isClosed }

    /// NIO wants to read. Returns whether it may.
    func mayRead() -> Bool { gate.mayRead() }

    func stop(_ reason: ReadGate.Reasons) { gate.close(reason) }

    func readOn(_ reason: ReadGate.Reasons, at connection: ConnectionHandler) {
        if gate.open(connection.machine.isEnded ? .all : reason) { connection.readNow() }
    }
}

extension Disconnect {
    fileprivate static let halfLogin = Disconnect(
        .tooManyConnections, "too many clients have sent half a login", retryAfter: .seconds(5))

    init(_ error: WireError) {
        switch error {
        case .frameTooLarge: self.init(.frameTooLarge, error.description)
        case .undecodable: self.init(.protocolError, error.description)
        }
    }
}
