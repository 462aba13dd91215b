import NIOCore

/// One end of a simulated connection.
final class Socket {
    enum Ending {
        /// The other side has closed, and everything that it had sent has arrived.
        case closed
        case reset
    }

    /// Limit: bytes on their way that the system takes before writers have to wait.
    private static let bufferBytes = 64 * 1024

    let host: Host
    let peerHost: Host
    private let network: SimulatedNetwork
    private(set) var peer: Socket?
    private(set) var isDead = false
    /// Closed at this end: nothing more is wanted.
    private var isClosed = false
    private var onBytes: ((ByteBuffer) -> Void)?
    private var onEnd: ((Ending) -> Void)?
    /// Bytes and endings that came before anybody was there to take them.
    private var early: [SimulatedNetwork.Packet] = []

    private var packetsSent: UInt64 = 0
    private var packetsRead: UInt64 = 0
    /// Packets that came before their predecessors.
    private var waiting: [UInt64: SimulatedNetwork.Packet] = [:]
    private(set) var bytesOnTheWay = 0
    private var takers: [() -> Void] = []
    private var isReading = true
    /// Bytes that have arrived while nobody reads: the sender still has them.
    private var unread = 0

    init(_ network: SimulatedNetwork, host: Host, peerHost: Host) {
        self.network = network
        self.host = host
        self.peerHost = peerHost
    }

    func pair(with other: Socket) {
        peer = other
        other.peer = self
    }

    func unpair() {
        peer?.letGo()
        letGo()
        peer?.peer = nil
        peer = nil
    }

    /// From now on somebody reads.
    func open(onBytes: @escaping (ByteBuffer) -> Void, onEnd: @escaping (Ending) -> Void) {
        self.onBytes = onBytes
        self.onEnd = onEnd
        let packets = early
        early = []
        for packet in packets { take(packet) }
    }

    // MARK: Sending

    func nextPacket() -> UInt64 {
        packetsSent += 1
        return packetsSent
    }

    /// `taken` is called when the system has room for more, or when the connection has ended.
    func write(_ bytes: ByteBuffer, taken: @escaping () -> Void) {
        guard !isDead, !isClosed else { return taken() }
        for piece in network.pieces(of: bytes) {
            bytesOnTheWay += piece.readableBytes
            network.transmit(.bytes(piece), from: self)
        }
        if bytesOnTheWay <= Self.bufferBytes { taken() } else { takers.append(taken) }
    }

    var isFull: Bool { bytesOnTheWay > Self.bufferBytes }

    /// After what has been written.
    func close() {
        guard !isDead, !isClosed else { return }
        isClosed = true
        letGo()
        network.forget(self)
        network.transmit(.end, from: self)
    }

    /// The process of this end is gone.
    func die() {
        isDead = true
        letGo()
    }

    private func letGo() {
        onBytes = nil
        onEnd = nil
        waiting = [:]
        early = []
        peer?.arrivedThere(unread)
        unread = 0
        release()
    }

    private func release() {
        let takers = takers
        self.takers = []
        for taken in takers { taken() }
    }

    private func arrivedThere(_ count: Int) {
        bytesOnTheWay -= count
        if !isFull { release() }
    }

    // MARK: Receiving

    func arrived(_ packet: SimulatedNetwork.Packet, number: UInt64) {
        if case .reset = packet { return wasReset() }
        if case .bytes(let bytes) = packet { arrived(bytes.readableBytes) }
        guard !isDead else { return network.answerWithReset(self) }
        waiting[number] = packet
        readOn()
    }

    private func arrived(_ count: Int) {
        if isReading || isDead || isClosed { peer?.arrivedThere(count) } else { unread += count }
    }

    func setReading(_ isReading: Bool) {
        guard isReading != self.isReading else { return }
        self.isReading = isReading
        guard isReading else { return }
        peer?.arrivedThere(unread)
        unread = 0
        readOn()
    }

    private func readOn() {
        while isReading, let next = waiting.removeValue(forKey: packetsRead + 1) {
            packetsRead += 1
            take(next)
        }
    }

    private func take(_ packet: SimulatedNetwork.Packet) {
        guard !isClosed, !isDead else { return }
        guard onBytes != nil else { return early.append(packet) }
        switch packet {
        case .bytes(let bytes): onBytes?(bytes)
        case .end: end(.closed)
        case .reset: end(.reset)
        }
    }

    private func wasReset() {
        guard !isDead, !isClosed else { return }
        if onBytes == nil { return early.append(.reset) }
        end(.reset)
    }

    private func end(_ ending: Ending) {
        let onEnd = onEnd
        close()
        onEnd?(ending)
    }
}
