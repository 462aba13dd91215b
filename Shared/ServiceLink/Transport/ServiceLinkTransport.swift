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

/// A place that is reached without a socket.
package protocol ServiceLinkEndpoint: Sendable {
    var name: String { get }
    /// Connects on the receiver's event loop. The answer comes in a later turn.
    func connect(_ receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop)
}

/// Where a service listens.
package enum ServiceLinkAddress: Sendable {
    case tcp(host: String, port: Int)
    /// In the same process.
    case inProcess(any ServiceLinkEndpoint)
}

extension ServiceLinkAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): "\(host):\(port)"
        case .inProcess(let endpoint): "in-process:\(endpoint.name)"
        }
    }
}
