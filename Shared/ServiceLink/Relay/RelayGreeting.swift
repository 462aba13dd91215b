import NIOCore
import RTMWire

/// The caller's side of a relay, until it stands: a handshake with the node that relays, which names the node
/// to reach. When the relaying node says welcome, it has a connection to the other one, and the transport
/// goes to the link, whose own handshake is with the node at the far end.
final class RelayGreeting: ServiceLinkTransportReceiver {
    private let eventLoop: any EventLoop
    private var machine: ServiceLinkStateMachine
    private var reader: FrameReader
    private var receiver: (any ServiceLinkTransportReceiver)?
    private var transport: (any ServiceLinkTransport)?
    private var timeout: Scheduled<Void>?

    init(
        _ configuration: ServiceLinkClientConfiguration, to node: String,
        for receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop
    ) {
        var configuration = configuration
        configuration.relayTo = node
        machine = ServiceLinkStateMachine(configuration)
        reader = FrameReader(frameBytesMax: configuration.link.unauthenticatedFrameBytesMax)
        self.receiver = receiver
        self.eventLoop = eventLoop
        _ = machine.start(now: eventLoop.now)
        let limit = configuration.connectTimeout
        timeout = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) { [self] in
            fail("the relay doesn't answer within \(limit)")
        }
    }

    func transportOpened(_ transport: any ServiceLinkTransport) {
        guard receiver != nil,
            let hello = machine.opened(now: eventLoop.now, nonce: ServiceLinkHandshake.nonce())
        else { return transport.finish(ByteBuffer(), linger: .zero) }
        self.transport = transport
        send { ServiceLinkFrame.write(hello, into: &$0) }
    }

    func transportFailed(_ reason: String) { fail("the relay can't be reached: \(reason)") }

    func transportReceived(_ chunk: ByteBuffer) {
        do {
            try reader.read(chunk) { frame in
                received(frame)
                return receiver == nil ? .end : .nextFrame
            }
        } catch {
            fail("the relay sends a frame that is too long")
        }
    }

    func transportBecameWritable() {}

    func transportClosed(_ reason: ServiceLinkDownReason) {
        transport = nil
        fail("the relay closes the connection")
    }

    private func received(_ frame: UnsafeRawBufferPointer) {
        switch try? ServiceLinkEnvelope(decoding: frame) {
        case .challenge(let challenge):
            guard let proof = machine.challenged(challenge) else { return refuse() }
            send { ServiceLinkFrame.write(proof, into: &$0) }
        case .welcome(let welcome):
            guard case .up = machine.welcomed(welcome, now: eventLoop.now) else { return refuse() }
            stand()
        case .goAway(let goAway):
            fail("the relay refuses: \(goAway)")
        default:
            refuse()
        }
    }

    private func refuse() { fail("the relay breaks the protocol, or doesn't know the secret") }

    private func send(_ encode: (inout ByteBuffer) -> Void) {
        var batch = ByteBuffer()
        encode(&batch)
        transport?.write(batch)
    }

    private func stand() {
        guard let receiver = receiver.take(), let transport = transport.take() else { return }
        timeout?.cancel()
        timeout = nil
        transport.pass(to: receiver)
        receiver.transportOpened(transport)
    }

    private func fail(_ reason: String) {
        timeout?.cancel()
        timeout = nil
        transport.take()?.finish(ByteBuffer(), linger: .zero)
        receiver.take()?.transportFailed(reason)
    }
}
