package import NIOCore

/// One established connection of bytes, confined to one event loop. It moves batches; frames are none of its
/// business.
///
/// There are two: `TCPTransport` and `InProcessTransport`. Both pass one contract suite (Tests/ServiceLink).
package protocol ServiceLinkTransport: AnyObject {
    /// False while the peer doesn't keep up: batches then wait at the link, and `transportBecameWritable`
    /// says when it goes on.
    var isWritable: Bool { get }
    /// Bytes that were handed over and have not reached the peer.
    var queuedBytes: Int { get }
    /// Sends a batch of whole frames, in order with the others. Called at the end of a turn.
    func write(_ batch: ByteBuffer)
    /// Sends the last batch and closes once it is through, or when `linger` has passed. The receiver hears
    /// nothing more.
    func finish(_ batch: ByteBuffer, linger: TimeAmount)
}

/// The end of a transport that frames come out of. Never called from within a call to the transport, except
/// `transportClosed`.
package protocol ServiceLinkTransportReceiver: AnyObject {
    func transportOpened(_ transport: any ServiceLinkTransport)
    /// No connection came about. The only call then.
    func transportFailed(_ reason: String)
    func transportReceived(_ chunk: ByteBuffer)
    func transportBecameWritable()
    func transportClosed(_ reason: ServiceLinkDownReason)
}

/// A place that is reached without a socket.
package protocol ServiceLinkEndpoint: Sendable {
    var name: String { get }
    /// Connects on the receiver's event loop; the answer comes in a later turn.
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
