// The network between the processes: connections as TCP gives them, made of packets that take their time.
//
// What TCP promises holds here, too: bytes of one connection arrive in order and once, or not at all. All the
// rest is the seed's: how long a packet takes, whether it has to be sent again (loss shows as delay), how the
// bytes are cut into reads, which way between two hosts lets nothing through and for how long, whether an
// attempt to connect arrives after its maker has given it up. A process that is killed leaves resets behind;
// a machine that dies leaves silence.

import NIOCore
import NIOEmbedded
import RTMClient

struct Host: Hashable, Comparable, CustomStringConvertible {
    let description: String

    init(_ name: String) { description = name }

    static func < (left: Host, right: Host) -> Bool { left.description < right.description }
}

/// One way between two hosts.
struct Way: Hashable {
    let from: Host
    let to: Host

    var back: Way { Way(from: to, to: from) }
}

final class SimulatedNetwork {
    enum Packet {
        case bytes(ByteBuffer)
        /// The sender has closed.
        case end
        /// The sender knows nothing of this connection.
        case reset
    }

    struct Weather {
        /// How long a packet is on its way, in microseconds.
        var delay: ClosedRange<Int> = 100...2_000
        /// Packets in a thousand that have to be sent again.
        var lossPerMille = 0
        /// One in so many writes arrives in pieces; 0: none.
        var cutOneIn = 4
        /// Packets arrive at multiples of this, so that several are read in one turn. In microseconds.
        var grain = 1
    }

    private enum HostState {
        case up((Socket) -> Void)
        /// Nobody listens; packets are answered by resets.
        case refusing
        /// No packet is answered.
        case dead
    }

    let world: VirtualWorld
    private let random: RandomStream
    var weather = Weather()
    /// Hosts at which the weather is always the usual one.
    var sheltered: Set<Host> = []
    private var hosts: [Host: HostState] = [:]
    private var blocked: [Way: [() -> Void]] = [:]
    /// What would happen in processes that stand still.
    private var paused: [Host: [() -> Void]] = [:]
    private var sockets: [Host: [Socket]] = [:]
    /// How much longer packets from and to a host take.
    var delays: [Host: TimeAmount] = [:]
    /// Packets that will arrive, unless their way is blocked then.
    private(set) var packetsUnderWay = 0
    private var paired: [Socket] = []

    init(_ world: VirtualWorld) {
        self.world = world
        random = world.random("network")
    }

    // MARK: Hosts

    /// A process begins to accept connections.
    func listen(_ host: Host, _ accept: @escaping (Socket) -> Void) { hosts[host] = .up(accept) }

    /// Takes no more connections; those that there are stay.
    func stopListening(_ host: Host) { hosts[host] = .refusing }

    /// The host's process ends without a word of its own.
    ///
    /// - Parameter silently: the whole machine is gone, so nobody resets its connections either.
    func kill(_ host: Host, silently: Bool) {
        hosts[host] = silently ? .dead : .refusing
        paused[host] = nil
        for socket in sockets.removeValue(forKey: host) ?? [] {
            if !silently { transmit(.reset, from: socket) }
            socket.die()
        }
    }

    /// The host's process stands still: what arrives waits.
    func pause(_ host: Host) { if paused[host] == nil { paused[host] = [] } }

    func resume(_ host: Host) { for task in paused.removeValue(forKey: host) ?? [] { task() } }

    private func whenAwake(_ host: Host, _ task: @escaping () -> Void) {
        if paused[host] == nil { task() } else { paused[host]?.append(task) }
    }

    /// The machine is back, and nothing runs on it yet.
    func revive(_ host: Host) { hosts[host] = .refusing }

    /// Breaks all connections between two hosts, at both ends.
    func cut(_ one: Host, _ other: Host) {
        for socket in sockets[one] ?? [] where socket.peerHost == other {
            guard let peer = socket.peer else { continue }
            deliverReset(to: socket)
            deliverReset(to: peer)
        }
    }

    // MARK: Ways

    /// From now on packets wait, until `unblock`.
    func block(_ way: Way) {
        if blocked[way] == nil { blocked[way] = [] }
    }

    func unblock(_ way: Way) {
        for resend in blocked.removeValue(forKey: way) ?? [] { resend() }
    }

    func unblockAll() {
        for way in blocked.keys.sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) { unblock(way) }
    }

    // MARK: Connections

    /// Exactly one call of `done`: the connection, or why there is none.
    func connect(
        from: Host, to: Host, timeout: TimeAmount, _ done: @escaping (Result<Socket, ConnectFailure>) -> Void
    ) {
        let near = Socket(self, host: from, peerHost: to)
        sockets[from, default: []].append(near)
        let attempt = Attempt(done)
        world.after(timeout) {
            self.whenAwake(from) {
                if attempt.end(.failure(.timedOut)) { self.forget(near) }
            }
        }
        send(over: Way(from: from, to: to)) {
            switch self.hosts[to] {
            case .up(let accept):
                let far = Socket(self, host: to, peerHost: from)
                near.pair(with: far)
                self.paired.append(near)
                self.sockets[to, default: []].append(far)
                accept(far)
                self.send(over: Way(from: to, to: from)) { self.connected(near, attempt) }
            case .dead:
                break
            case .refusing, nil:
                self.send(over: Way(from: to, to: from)) { attempt.end(.failure(.refused)) }
            }
        }
    }

    private func connected(_ near: Socket, _ attempt: Attempt) {
        if near.isDead || !attempt.end(.success(near)) { answerWithReset(near) }
    }

    func forget(_ socket: Socket) { sockets[socket.host]?.removeAll { $0 === socket } }

    /// Nothing is sent any more; connections let go of each other.
    func end() {
        for socket in paired { socket.unpair() }
        paired = []
        sockets = [:]
        blocked = [:]
        paused = [:]
    }

    // MARK: Packets

    func transmit(_ packet: Packet, from socket: Socket) {
        guard let peer = socket.peer else { return }
        let number = socket.nextPacket()
        send(over: Way(from: socket.host, to: socket.peerHost)) {
            peer.arrived(packet, number: number)
        }
    }

    /// Bytes as the reader will find them.
    func pieces(of bytes: ByteBuffer) -> [ByteBuffer] {
        var bytes = bytes
        guard weather.cutOneIn > 0, bytes.readableBytes > 1, random.chance(1, in: weather.cutOneIn) else {
            return [bytes]
        }
        var pieces: [ByteBuffer] = []
        while pieces.count < 3, bytes.readableBytes > 1,
            let piece = bytes.readSlice(length: random.number(in: 1...bytes.readableBytes - 1))
        {
            pieces.append(piece)
        }
        return pieces + [bytes]
    }

    /// An answer for somebody who isn't there any more.
    func answerWithReset(_ socket: Socket) {
        if case .dead = hosts[socket.host] { return }
        transmit(.reset, from: socket)
    }

    private func deliverReset(to socket: Socket) { socket.arrived(.reset, number: 0) }

    private func send(over way: Way, _ arrive: @escaping () -> Void) {
        guard blocked[way] == nil else {
            blocked[way]?.append { self.send(over: way, arrive) }
            return
        }
        packetsUnderWay += 1
        world.loop.scheduleTask(deadline: arrival(over: way)) {
            self.packetsUnderWay -= 1
            // What was under way when the way was blocked hasn't come through.
            if self.blocked[way] != nil {
                self.blocked[way]?.append { self.send(over: way, arrive) }
            } else {
                self.whenAwake(way.to, arrive)
            }
        }
    }

    private func arrival(over way: Way) -> NIODeadline {
        let isSheltered = sheltered.contains(way.from) || sheltered.contains(way.to)
        let weather = isSheltered ? Weather() : weather
        var microseconds = random.number(in: weather.delay)
        var resendAfter = 200_000
        while weather.lossPerMille > 0, random.chance(weather.lossPerMille, in: 1_000),
            resendAfter < 10_000_000
        {
            microseconds += resendAfter
            resendAfter *= 2
        }
        let extra = delays.isEmpty ? .zero : delays[way.from, default: .zero] + delays[way.to, default: .zero]
        let arrival = world.loop.now + .microseconds(Int64(microseconds)) + extra
        let due = Int(arrival.uptimeNanoseconds / 1_000)
        let grain = max(1, weather.grain)
        return .uptimeNanoseconds(UInt64((due + grain - 1) / grain * grain) * 1_000)
    }
}

enum ConnectFailure: Error {
    case refused, timedOut

    /// What a client knows it as.
    var ofClient: ConnectionFailure {
        switch self {
        case .refused: .refused
        case .timedOut: .timedOut
        }
    }
}

/// An attempt to connect ends once.
private final class Attempt {
    private var done: ((Result<Socket, ConnectFailure>) -> Void)?

    init(_ done: @escaping (Result<Socket, ConnectFailure>) -> Void) { self.done = done }

    @discardableResult
    func end(_ result: Result<Socket, ConnectFailure>) -> Bool {
        guard let done = done.take() else { return false }
        done(result)
        return true
    }
}
