package import NIOCore
import Synchronization

/// A link between two services of one process. It carries the same bytes as a socket, and hands them over
/// once in each turn.
///
/// Both ends may live on one event loop or on two. On one loop a batch is delivered at the end of the turn
/// that wrote it, never inside `send`; between two loops it takes one task in each turn.
final class InProcessTransport: ServiceLinkTransport {
    private let eventLoop: any EventLoop
    private var receiver: (any ServiceLinkTransportReceiver)?
    private var peer: NIOLoopBound<InProcessTransport>?
    private var peerLoop: (any EventLoop)?
    /// Bytes on their way to the peer's loop. They count as queued, because a loop that stands still must not
    /// collect them forever.
    private let inFlight = InFlightBytes()
    /// When so much is on its way, the receiver learns when it has arrived.
    private static let noticedBytes = 64 * 1024

    init(receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop) {
        self.receiver = receiver
        self.eventLoop = eventLoop
    }

    func open(peer: NIOLoopBound<InProcessTransport>, on peerLoop: any EventLoop) {
        self.peer = peer
        self.peerLoop = peerLoop
        receiver?.transportOpened(self)
    }

    var isWritable: Bool { true }
    var peerAddress: String { "" }
    var queuedBytes: Int { inFlight.count }

    func write(_ batch: ByteBuffer) {
        guard let peer, let peerLoop else { return }
        if peerLoop === eventLoop {
            peer.value.receiver?.transportReceived(batch)
            return
        }
        let inFlight = self.inFlight
        let bytes = batch.readableBytes
        inFlight.add(bytes)
        guard inFlight.count >= Self.noticedBytes else {
            return peerLoop.execute {
                inFlight.add(-bytes)
                peer.value.receiver?.transportReceived(batch)
            }
        }
        let (loop, near) = (eventLoop, NIOLoopBound(self, eventLoop: eventLoop))
        peerLoop.execute {
            inFlight.add(-bytes)
            peer.value.receiver?.transportReceived(batch)
            loop.execute { near.value.receiver?.transportBecameWritable() }
        }
    }

    func finish(_ batch: ByteBuffer, linger: TimeAmount) {
        receiver = nil
        if batch.readableBytes > 0 { write(batch) }
        guard let peer, let peerLoop else { return }
        self.peer = nil
        peerLoop.execute { peer.value.close() }
    }

    func pass(to receiver: any ServiceLinkTransportReceiver) { self.receiver = receiver }

    /// Within a process nobody relays.
    func setReading(_ isReading: Bool) {}

    private func close() {
        peer = nil
        receiver.take()?.transportClosed(.closedByPeer)
    }
}

private final class InFlightBytes: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add(_ bytes: Int) { value.add(bytes, ordering: .relaxed) }
}

/// A place in this process where a service listens, as a host and port are elsewhere.
///
/// Callers hold the endpoint whether somebody listens or not. Without a listener their attempts fail like a
/// refused connection, so services may start in any order.
package final class InProcessEndpoint: Sendable {
    package let name: String
    private let acceptor = Mutex<Acceptor?>(nil)

    struct Acceptor: Sendable {
        let links: any EventLoopGroup
        /// Called on the loop on which the accepted end shall live. Returns that end's receiver.
        let accept: @Sendable (any EventLoop) -> any ServiceLinkTransportReceiver
    }

    package init(name: String) { self.name = name }

    func listen(_ acceptor: Acceptor) { self.acceptor.withLock { $0 = acceptor } }

    func stopListening() { acceptor.withLock { $0 = nil } }

    package func connect(_ receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop) {
        guard let acceptor = acceptor.withLock({ $0 }) else {
            let bound = NIOLoopBound(receiver, eventLoop: eventLoop)
            eventLoop.execute { [name] in bound.value.transportFailed("nobody listens at \(name)") }
            return
        }
        let near = InProcessTransport(receiver: receiver, on: eventLoop)
        let nearEnd = NIOLoopBound(near, eventLoop: eventLoop)
        // `any` prefers the caller's own loop if it belongs to the listener's group. Then nothing crosses a
        // thread.
        let farLoop = acceptor.links.any()
        farLoop.execute {
            let far = InProcessTransport(receiver: acceptor.accept(farLoop), on: farLoop)
            let farEnd = NIOLoopBound(far, eventLoop: farLoop)
            // The near end opens first, and on one loop in the same task, because it must be open when the
            // far end's first bytes arrive.
            if farLoop === eventLoop {
                nearEnd.value.open(peer: farEnd, on: farLoop)
            } else {
                eventLoop.execute { nearEnd.value.open(peer: farEnd, on: farLoop) }
            }
            far.open(peer: nearEnd, on: eventLoop)
        }
    }
}
