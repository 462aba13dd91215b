package import NIOCore

/// One established connection of bytes, confined to one event loop. It moves batches and knows nothing of
/// frames.
///
/// There are two transports, `TCPTransport` and `InProcessTransport`. Both pass the same contract suite
/// (Tests/ServiceLink).
package protocol ServiceLinkTransport: AnyObject {
    /// False while the peer doesn't keep up. Batches then wait at the link until `transportBecameWritable` is
    /// called.
    var isWritable: Bool { get }
    /// The peer's IP address; empty within a process.
    var peerAddress: String { get }
    /// How many bytes were handed over and have not reached the peer.
    var queuedBytes: Int { get }
    /// Sends a batch of whole frames after all earlier batches. It is called at the end of a turn.
    func write(_ batch: ByteBuffer)
    /// Sends the last batch, and closes when the peer has read it or `linger` has passed. The receiver is not
    /// called any more.
    func finish(_ batch: ByteBuffer, linger: TimeAmount)
    /// From now on what happens goes to this receiver, which gets no call that the transport is open.
    func pass(to receiver: any ServiceLinkTransportReceiver)
    /// While nothing is read, what the peer sends waits in the system, and then at the peer. That the peer
    /// has closed isn't noticed either.
    func setReading(_ isReading: Bool)
}

/// The end of a transport where frames arrive. Except for `transportClosed` it is never called from within a
/// call to the transport.
package protocol ServiceLinkTransportReceiver: AnyObject {
    func transportOpened(_ transport: any ServiceLinkTransport)
    /// No connection could be made. No other call comes then.
    func transportFailed(_ reason: String)
    func transportReceived(_ chunk: ByteBuffer)
    func transportBecameWritable()
    func transportClosed(_ reason: ServiceLinkDownReason)
}

/// Where a service listens.
package enum ServiceLinkAddress: Sendable {
    case tcp(host: String, port: Int)
    /// On the same machine, for whoever may open the socket at this path.
    case path(String)
    /// In the same process.
    case inProcess(InProcessEndpoint)
    /// At this address of a node, which is reached through another node.
    indirect case relayed(to: String, through: ServiceLinkAddress)
}

extension ServiceLinkAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): "\(host):\(port)"
        case .path(let path): path
        case .inProcess(let endpoint): "in-process:\(endpoint.name)"
        case .relayed(let node, let relay): "\(node) through \(relay)"
        }
    }
}

extension ServiceLinkAddress {
    /// Connects on the receiver's event loop, which gets the connection or the reason why there is none.
    func connect(
        _ receiver: any ServiceLinkTransportReceiver, _ configuration: ServiceLinkClientConfiguration,
        on eventLoop: any EventLoop
    ) {
        let link = configuration.link
        switch self {
        case .tcp(let host, let port):
            if let dialer = link.dialer {
                return dialer.connect(to: host, port: port, receiver, on: eventLoop)
            }
            TCPTransport.connect(
                to: host, port: port, tls: link.tls, timeout: configuration.connectTimeout,
                receiver: receiver, on: eventLoop)
        case .path(let path):
            TCPTransport.connect(
                to: path, timeout: configuration.connectTimeout, receiver: receiver, on: eventLoop)
        case .inProcess(let endpoint):
            endpoint.connect(receiver, on: eventLoop)
        case .relayed(let node, let relay):
            let greeting = RelayGreeting(configuration, to: node, for: receiver, on: eventLoop)
            relay.connect(greeting, configuration, on: eventLoop)
        }
    }
}
