// The connection that stands by while another one is in use (N-5). What is done with it and when,
// `PathChoice` decides.

import Logging
import NIOCore
import RTMModel
import RTMProtocol

final class Standby {
    private let session: LinkSession
    private let requests: Requests
    private let dialer: any Dialing
    private let path: SecondPath
    private var choice: PathChoice
    private var ready: StandbyConnection?
    private var dialled: [StandbyConnection] = []

    /// - Returns: `nil` for a client that has no second path.
    init?(session: LinkSession, requests: Requests, dialer: any Dialing) {
        guard let path = session.configuration.secondPath else { return nil }
        self.session = session
        self.requests = requests
        self.dialer = dialer
        self.path = path
        choice = PathChoice(session.configuration.timing.paths)
    }

    /// The index of the server of the connection that stands by; `nil` if there is none.
    var server: Int? { ready?.server }
    var deadline: LinkSession.Instant? { choice.deadline(now: session.now) }

    // MARK: The connection in use

    func linkChanged(isConnected: Bool) {
        closeAll()
        if isConnected { choice.connected(now: session.now) } else { choice.disconnected() }
        timerFired()
    }

    func sent(_ id: UInt64) { choice.sent(id, now: session.now) }

    func answered(_ id: UInt64) { choice.answered(id) }

    /// Whether the session continues over this connection instead of the one that has ended. A server that
    /// shuts down ends both, and a client that was asked to wait waits.
    func replaces(_ loss: LinkLoss) -> Bool {
        guard !loss.isFatal, choice.mayReplaceLost(now: session.now), let ready else { return false }
        return loss.isDrain ? ready.server != session.machine.server : loss.retryAfter == nil
    }

    /// The session continues over the connection that stands by.
    func changePath(_ reason: String) {
        guard let server else { return }
        session.logger.debug("changing the path", metadata: ["cause": "\(reason)"])
        session.perform(session.machine.changePath(to: server, reason: reason, now: session.now))
    }

    /// The link takes the connection.
    func take() -> StandbyConnection? {
        defer { ready = nil }
        choice.changed(now: session.now)
        closeDialled()
        return ready
    }

    private func closeAll() {
        ready?.close()
        ready = nil
        closeDialled()
    }

    private func closeDialled() {
        for connection in dialled { connection.close() }
        dialled = []
    }

    // MARK: What is due

    func timerFired() {
        for action in choice.due(now: session.now) {
            switch action {
            case .dial: dial()
            case .giveUpDials: closeDialled()
            case .sendHeartbeat: ready?.sendHeartbeat(requests.nextID())
            case .closeStandby:
                ready?.close()
                ready = nil
            }
        }
        if let deadline { session.wake(by: deadline) }
    }

    private func dial() {
        let ways = SecondWays(
            path, servers: session.configuration.servers.count, server: session.machine.server,
            address: session.connection?.socket.localAddress?.ipAddress, interfaces: .ofThisDevice())
        guard let number = choice.way(of: ways.all.count, now: session.now) else {
            return choice.dialFailed(now: session.now)
        }
        let way = ways.all[number]
        let server = session.configuration.servers[way.server]
        session.logger.debug(
            "opening a second connection",
            metadata: ["server": "\(server)", "interface": "\(way.interface ?? "")"])
        let connection = StandbyConnection(self, server: way.server, way: number)
        let socket = dialer.dial(server, over: way.interface, for: connection)
        connection.begin(socket, requests.nextID())
        dialled.append(connection)
    }

    // MARK: What the connections report

    func welcomed(_ connection: StandbyConnection, lifetime: Duration) {
        guard dialled.contains(where: { $0 === connection }) else { return }
        ready?.close()
        ready = connection
        dialled.removeAll { $0 === connection }
        closeDialled()
        choice.ready(connection.way, lifetime: lifetime, now: session.now)
        timerFired()
    }

    func answered(_ connection: StandbyConnection) {
        guard connection === ready else { return }
        if choice.standbyAnswered(now: session.now) { changePath("the connection in use has stalled") }
    }

    func ended(_ connection: StandbyConnection, _ cause: String) {
        connection.close()
        if dialled.contains(where: { $0 === connection }) {
            dialled.removeAll { $0 === connection }
            choice.dialFailed(now: session.now)
        } else if connection === ready {
            ready = nil
            choice.standbyLost(now: session.now)
        }
        session.logger.debug("a second connection has ended", metadata: ["cause": "\(cause)"])
        timerFired()
    }
}

/// Which ways a second connection may take, given the one in use. Pure.
struct SecondWays {
    struct Way: Sendable, Equatable {
        /// The index of the server.
        let server: Int
        /// `nil` leaves it to the routes of the device.
        let interface: String?
    }

    /// The best one first.
    let all: [Way]

    /// - Parameters:
    ///   - servers: how many there are.
    ///   - server: the index of the server in use.
    ///   - address: the address of this device on the connection in use.
    ///   - interfaces: looked at only where the path is about them.
    init(
        _ path: SecondPath, servers: Int, server: Int, address: String?,
        interfaces: @autoclosure () -> NetworkInterfaces
    ) {
        let others = (1..<max(servers, 1)).map { Way(server: (server + $0) % servers, interface: nil) }
        guard case .otherInterface(let name) = path else {
            all = others
            return
        }
        let interfaces = interfaces()
        let inUse = interfaces.name(of: address)
        if let name {
            all = [Way(server: server, interface: name == inUse ? nil : name)]
        } else {
            all = interfaces.names.filter { $0 != inUse }.map { Way(server: server, interface: $0) } + others
        }
    }
}

/// One connection that stands by: it has said Hello, and no more.
final class StandbyConnection: FrameReceiver {
    /// A server that doesn't say how long it waits for a login waits for so long.
    private static let lifetime = Duration.seconds(10)

    /// The index of its server.
    let server: Int
    /// The number of its way.
    let way: Int
    private unowned let standby: Standby
    private var hello: UInt64 = 0
    private(set) var socket: ServerConnection?

    init(_ standby: Standby, server: Int, way: Int) {
        self.standby = standby
        self.server = server
        self.way = way
    }

    func begin(_ socket: ServerConnection, _ hello: UInt64) {
        self.socket = socket
        self.hello = hello
    }

    func sendHeartbeat(_ id: UInt64) {
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

    func receivedBytes(on connection: ServerConnection) {}

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
