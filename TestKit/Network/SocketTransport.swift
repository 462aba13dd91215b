import NIOCore
import RTMServiceLink

/// A service link over the simulated network.
final class SocketTransport: ServiceLinkTransport {
    private let socket: Socket
    private var receiver: (any ServiceLinkTransportReceiver)?

    private init(_ socket: Socket, _ receiver: any ServiceLinkTransportReceiver) {
        self.socket = socket
        self.receiver = receiver
    }

    static func open(_ socket: Socket, for receiver: any ServiceLinkTransportReceiver) {
        let transport = SocketTransport(socket, receiver)
        receiver.transportOpened(transport)
        socket.open(
            onBytes: { transport.receiver?.transportReceived($0) },
            onEnd: { ending in
                let receiver = transport.receiver.take()
                receiver?.transportClosed(ending == .reset ? .broken("reset") : .closedByPeer)
            })
    }

    func pass(to receiver: any ServiceLinkTransportReceiver) { self.receiver = receiver }

    func setReading(_ isReading: Bool) { socket.setReading(isReading) }

    var isWritable: Bool { !socket.isFull }
    var peerAddress: String { "" }
    var queuedBytes: Int { socket.bytesOnTheWay }

    func write(_ batch: ByteBuffer) {
        var hasReturned = false
        socket.write(batch) { if hasReturned { self.receiver?.transportBecameWritable() } }
        hasReturned = true
    }

    func finish(_ batch: ByteBuffer, linger: TimeAmount) {
        receiver = nil
        if batch.readableBytes > 0 { socket.write(batch) {} }
        socket.close()
    }
}

/// How a process of the simulated network reaches others.
struct SimulatedLinkDialer: ServiceLinkDialing {
    private let network: NIOLoopBound<SimulatedNetwork>
    private let caller: Host

    init(_ network: SimulatedNetwork, from caller: Host) {
        self.network = NIOLoopBound(network, eventLoop: network.world.loop)
        self.caller = caller
    }

    func connect(
        to host: String, port: Int, _ receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop
    ) {
        network.value.connect(from: caller, to: Host(host), timeout: .seconds(5)) { result in
            switch result {
            case .success(let socket): SocketTransport.open(socket, for: receiver)
            case .failure(let failure): receiver.transportFailed("\(failure)")
            }
        }
    }
}
