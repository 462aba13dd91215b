import NIOCore
import RTMWire

/// Who accepts a caller that is to be relayed. The calls come on its event loop.
protocol ServiceLinkRelayOwner: AnyObject {
    /// The other node is connected. What is read from the caller from now on is for that node.
    ///
    /// - Returns: the caller's transport, which sends to `receiver`; nil if the caller has gone.
    func relayConnected(passing receiver: any ServiceLinkTransportReceiver) -> (any ServiceLinkTransport)?
    /// There is no connection to the other node.
    func relayFailed(_ reason: String)
    /// The relay stood and has ended. This is the last call.
    func relayEnded()
}

/// Connects a caller with another node: it copies the bytes of each to the other.
///
/// An end is read only while the other end takes what was read, so a relay holds no more than one read of
/// each end beside what the sockets hold. Caller and node send heartbeats to each other through the relay. So
/// a relay of which an end is quiet for longer than they allow has lost that end, or doesn't get rid of what
/// the other one sends, and ends.
final class ServiceLinkRelay {
    private let eventLoop: any EventLoop
    private let relays: ServiceLinkRelays
    private let link: ServiceLinkConfiguration
    private let near: RelayEnd
    private let far: RelayEnd
    private var owner: (any ServiceLinkRelayOwner)?
    private var hasOpened = false
    private var watch: Scheduled<Void>?

    init(
        _ relays: ServiceLinkRelays, _ link: ServiceLinkConfiguration, owner: any ServiceLinkRelayOwner,
        on eventLoop: any EventLoop
    ) {
        (self.relays, self.link, self.owner, self.eventLoop) = (relays, link, owner, eventLoop)
        (near, far) = (RelayEnd(), RelayEnd())
    }

    func connect(to address: ServiceLinkAddress) {
        near.pair(with: far, of: self)
        far.pair(with: near, of: self)
        var configuration = ServiceLinkClientConfiguration(service: "", node: "")
        configuration.link = link
        configuration.connectTimeout = relays.connectTimeout
        address.connect(far, configuration, on: eventLoop)
    }

    /// Only the connection to the other node is opened here.
    fileprivate func opened() {
        guard let transport = owner?.relayConnected(passing: near) else { return end() }
        near.transport = transport
        hasOpened = true
        relays.observe(.opened)
        look()
    }

    fileprivate func failed(_ reason: String) {
        let owner = owner.take()
        end()
        owner?.relayFailed(reason)
    }

    fileprivate func copied(_ bytes: Int) { relays.observe(.copied(bytes: bytes)) }

    /// Looks each heartbeat interval whether both ends still say something. It counts looks and not time,
    /// because time also passes while this process stands still.
    private func look() {
        let looks = Int(link.heartbeatDeadline / link.heartbeatInterval) + 1
        watch = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(link.heartbeatInterval)) { [self] in
            if max(near.quietLooks, far.quietLooks) >= looks { return end() }
            near.quietLooks += 1
            far.quietLooks += 1
            look()
        }
    }

    /// Ends both connections after what was read.
    func end() {
        watch?.cancel()
        watch = nil
        near.end(linger: link.closeLinger)
        far.end(linger: link.closeLinger)
        guard hasOpened else {
            owner = nil
            return
        }
        hasOpened = false
        relays.observe(.ended)
        owner.take()?.relayEnded()
    }
}

/// One of the two connections of a relay.
private final class RelayEnd: ServiceLinkTransportReceiver {
    var transport: (any ServiceLinkTransport)?
    /// How often the relay has looked since something came.
    var quietLooks = 0
    private var other: RelayEnd?
    private var relay: ServiceLinkRelay?

    func pair(with other: RelayEnd, of relay: ServiceLinkRelay) { (self.other, self.relay) = (other, relay) }

    func transportOpened(_ transport: any ServiceLinkTransport) {
        guard let relay else { return transport.finish(ByteBuffer(), linger: .zero) }
        self.transport = transport
        relay.opened()
    }

    func transportFailed(_ reason: String) { relay?.failed(reason) }

    func transportReceived(_ chunk: ByteBuffer) {
        quietLooks = 0
        guard let relay, let taker = other?.transport else { return }
        relay.copied(chunk.readableBytes)
        taker.write(chunk)
        if !taker.isWritable { transport?.setReading(false) }
    }

    func transportBecameWritable() { other?.transport?.setReading(true) }

    func transportClosed(_ reason: ServiceLinkDownReason) {
        transport = nil
        relay?.end()
    }

    func end(linger: Duration) {
        (relay, other) = (nil, nil)
        transport.take()?.finish(ByteBuffer(), linger: TimeAmount(linger))
    }
}
