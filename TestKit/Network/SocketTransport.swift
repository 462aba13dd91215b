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

/// A service's address in the simulated network, as one of its callers knows it.
struct SimulatedEndpoint: ServiceLinkEndpoint {
    let name: String
    private let network: NIOLoopBound<SimulatedNetwork>
    private let caller: Host
    private let host: Host

    init(_ host: Host, in network: SimulatedNetwork, from caller: Host) {
        name = host.description
        self.network = NIOLoopBound(network, eventLoop: network.world.loop)
        self.caller = caller
        self.host = host
    }

    func connect(_ receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop) {
        network.value.connect(from: caller, to: host, timeout: .seconds(5)) { result in
            switch result {
            case .success(let socket): SocketTransport.open(socket, for: receiver)
            case .failure(let failure): receiver.transportFailed("\(failure)")
            }
        }
    }
}
