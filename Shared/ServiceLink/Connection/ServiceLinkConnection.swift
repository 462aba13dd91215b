import Logging
import NIOCore
import RTMModel
import RTMWire

/// The user of a connection: the calling or the called end of a link. It is never called from within `send…`.
protocol ServiceLinkConnectionOwner: AnyObject {
    func connectionOpened(_ connection: ServiceLinkConnection)
    /// Bytes have arrived. This comes once for each read, before the frames in it.
    func connectionDidReceive(_ connection: ServiceLinkConnection, now: NIODeadline)
    /// A hello, welcome, request, response, failure or push has arrived; the connection handles the other
    /// kinds. Returns what is wrong with the frame, or nil.
    func connection(_ connection: ServiceLinkConnection, received envelope: ServiceLinkEnvelope) -> String?
    /// What was sent has been handed to the transport, or the transport takes more again.
    func connectionBecameWritable(_ connection: ServiceLinkConnection)
    /// The connection has ended. This is the last call, and it comes at the end of a turn.
    func connectionLost(_ connection: ServiceLinkConnection, _ reason: ServiceLinkDownReason)
}

extension ServiceLinkConnectionOwner {
    func connectionBecameWritable(_ connection: ServiceLinkConnection) {}
}

/// Frames over one transport, for both ends of a link: batching, the queue limit, and the end of the
/// connection.
///
/// Frames are appended to one buffer, which goes to the transport at the end of the turn. Whatever ends the
/// connection, the owner is called once and at the end of the turn, so it is never called back from within a
/// call of its own.
final class ServiceLinkConnection: ServiceLinkTransportReceiver, Flushable {
    /// A buffer that has grown beyond this is kept for the next turn only while turns fill a quarter of it.
    /// The first turn with less, which is at the latest a heartbeat, frees it.
    private static let keptBufferBytesMax = 1 << 20

    private let configuration: ServiceLinkConfiguration
    private let endOfTurn: EndOfTurn
    private let logger: Logger
    private var owner: (any ServiceLinkConnectionOwner)?
    private var transport: (any ServiceLinkTransport)?
    private var reader: FrameReader
    private var outbound = ByteBuffer()
    /// Nil if nothing that is sent is ever held back.
    private var gated: GatedOutput?
    private var isDirty = false
    /// How many bytes waited in the transport after the last write. Until the next write they only become
    /// fewer.
    private var transportBytes = 0
    private var end: ServiceLinkDownReason?
    private var isClosed = false
    private(set) var isOpen = false
    /// Whether the handshake is over. Until then nothing else is answered.
    private var isTrusted = false
    /// The longest frame that the peer may send from the next read on.
    private var frameBytesMax: Int
    var counters = ServiceLinkCounters()

    init(
        _ configuration: ServiceLinkConfiguration, owner: any ServiceLinkConnectionOwner,
        endOfTurn: EndOfTurn,
        logger: Logger
    ) {
        self.configuration = configuration
        self.owner = owner
        self.endOfTurn = endOfTurn
        self.logger = logger
        frameBytesMax = min(configuration.unauthenticatedFrameBytesMax, configuration.frameBytesMax)
        reader = FrameReader(frameBytesMax: frameBytesMax)
    }

    /// From the next read on, the peer may send frames of any allowed length. The called end says so when the
    /// caller has proved who it is. The calling end says so when it sends its own proof, because long frames
    /// may come in one read with the welcome.
    func trust() {
        isTrusted = true
        frameBytesMax = configuration.frameBytesMax
    }

    /// Where the peer is; empty within a process.
    var peerAddress: String { transport?.peerAddress ?? "" }

    var queuedBytes: Int { waitingBytes + (transport?.queuedBytes ?? 0) }

    /// Without what the transport has.
    private var waitingBytes: Int { outbound.readableBytes + (gated?.bytes ?? 0) }

    /// Appends one frame of at most `bytes` bytes. False if the connection is not open, or ends now because
    /// its queue is full.
    @inline(__always)
    private func append(bytesMax bytes: Int, _ encode: (inout ByteBuffer) -> Void) -> Bool {
        guard isOpen, canQueue(for: bytes) else { return false }
        encode(&outbound)
        markDirty()
        return true
    }

    @inline(__always)
    private func canQueue(for bytes: Int) -> Bool {
        if waitingBytes + bytes + transportBytes <= configuration.queueBytesMax { return true }
        return canQueueAfterFlush(for: bytes)
    }

    /// Whether a request of this length may be sent. Requests leave an eighth of the queue to what can't be
    /// refused, so that a caller with too many of them doesn't end the link for everybody behind it.
    @inline(__always)
    func canQueueRequest(bodyLength: Int) -> Bool {
        let bytesMax = configuration.queueBytesMax - configuration.queueBytesMax / 8
        let bytes = outbound.readableBytes + bodyLength + ServiceLinkFrame.overheadBytesMax
        if bytes + transportBytes <= bytesMax { return true }
        transportBytes = transport?.queuedBytes ?? 0
        return bytes + transportBytes <= bytesMax
    }

    private func canQueueAfterFlush(for bytes: Int) -> Bool {
        transportBytes = transport?.queuedBytes ?? 0
        if waitingBytes + bytes + transportBytes <= configuration.queueBytesMax { return true }
        counters.overflows += 1
        outbound.clear()
        close(
            .overflow,
            saying: ServiceLinkGoAway(.overflow, "\(configuration.queueBytesMax) bytes wait for you"))
        return false
    }

    private func markDirty() {
        guard !isDirty else { return }
        isDirty = true
        endOfTurn.schedule(self)
    }

    /// Ends the connection at the end of this turn, after what has been appended. If it is called again, the
    /// first reason counts.
    func close(_ reason: ServiceLinkDownReason, saying goAway: ServiceLinkGoAway? = nil) {
        guard !isClosed, end == nil else { return }
        end = reason
        isOpen = false
        if gated != nil { keepWhatMayGo() }
        if let goAway, transport != nil { ServiceLinkFrame.write(goAway, into: &outbound) }
        markDirty()
    }
}

// MARK: - Sending

extension ServiceLinkConnection {
    func sendRequest(
        id: UInt64, method: UInt32, timeoutMilliseconds: UInt32, body: some WireEncodable, bodyLength: Int
    ) -> Bool {
        append(bytesMax: bodyLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.writeRequest(
                id: id, method: method, timeoutMilliseconds: timeoutMilliseconds, body: body,
                bodyLength: bodyLength, into: &$0)
        }
    }

    func sendResponse(id: UInt64, body: some WireEncodable, bodyLength: Int) -> Bool {
        append(bytesMax: bodyLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.writeResponse(id: id, body: body, bodyLength: bodyLength, into: &$0)
        }
    }

    func sendPush(method: UInt32, body: some WireEncodable, bodyLength: Int) -> Bool {
        append(bytesMax: bodyLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.writePush(method: method, body: body, bodyLength: bodyLength, into: &$0)
        }
    }

    func sendFailure(id: UInt64, error: RTMError) -> Bool {
        append(bytesMax: error.encodedLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.writeFailure(id: id, error: error, into: &$0)
        }
    }

    func sendHello(_ hello: ServiceLinkHello) -> Bool {
        append(bytesMax: hello.encodedLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.write(hello, into: &$0)
        }
    }

    func sendChallenge(_ challenge: ServiceLinkChallenge) -> Bool {
        append(bytesMax: challenge.encodedLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.write(challenge, into: &$0)
        }
    }

    func sendProof(_ proof: ServiceLinkProof) -> Bool {
        append(bytesMax: proof.encodedLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.write(proof, into: &$0)
        }
    }

    func sendWelcome(_ welcome: ServiceLinkWelcome) -> Bool {
        append(bytesMax: welcome.encodedLength + ServiceLinkFrame.overheadBytesMax) {
            ServiceLinkFrame.write(welcome, into: &$0)
        }
    }

    func sendTrace(_ trace: ServiceLinkTrace) -> Bool {
        append(bytesMax: ServiceLinkFrame.overheadBytesMax) { ServiceLinkFrame.write(trace, into: &$0) }
    }

    func sendHeartbeat() {
        appendSign { ServiceLinkFrame.writeHeartbeat(into: &$0) }
    }

    /// Whether a body of this length fits into one frame that the peer accepts, provided that the peer has
    /// the same limit.
    func fits(bodyLength: Int) -> Bool {
        bodyLength <= configuration.frameBytesMax - ServiceLinkFrame.overheadBytesMax
    }
}

// MARK: - End of turn

extension ServiceLinkConnection {
    func flushAtEndOfTurn() {
        isDirty = false
        guard !isClosed else { return }
        if let end { return finish(end) }
        if gated != nil { return flushThroughGate() }
        guard let transport, transport.isWritable, outbound.readableBytes > 0 else { return }
        var batch = ByteBuffer()
        swap(&batch, &outbound)
        let bytes = batch.readableBytes
        counters.bytesOut += UInt64(bytes)
        counters.writes += 1
        transport.write(batch)
        transportBytes = transport.queuedBytes
        takeBack(&batch, bytes: bytes)
        owner?.connectionBecameWritable(self)
    }

    /// Keeps the memory for the next turn if the transport needs it no more.
    private func takeBack(_ batch: inout ByteBuffer, bytes: Int) {
        guard transportBytes == 0, outbound.capacity == 0,
            batch.capacity <= Self.keptBufferBytesMax || bytes >= batch.capacity / 4
        else { return }
        batch.clear()
        swap(&batch, &outbound)
    }

    private func finish(_ reason: ServiceLinkDownReason) {
        isClosed = true
        counters.bytesOut += UInt64(outbound.readableBytes)
        transport?.finish(outbound, linger: TimeAmount(configuration.closeLinger))
        transport = nil
        outbound = ByteBuffer()
        owner.take()?.connectionLost(self, reason)
    }
}

// MARK: - Relays

extension ServiceLinkConnection {
    /// Sends what waits, and lets somebody else have the transport. The owner isn't called any more.
    ///
    /// - Returns: nil if the connection isn't open.
    func pass(to receiver: any ServiceLinkTransportReceiver) -> (any ServiceLinkTransport)? {
        guard isOpen, let transport else { return nil }
        counters.bytesOut += UInt64(outbound.readableBytes)
        transport.pass(to: receiver)
        transport.write(outbound)
        (isOpen, isClosed, owner) = (false, true, nil)
        (self.transport, outbound) = (nil, ByteBuffer())
        return transport
    }
}

// MARK: - Through a gate

extension ServiceLinkConnection {
    /// From now on, what is sent waits while the gate is closed.
    func pass(_ gate: OutputGate) { gated = GatedOutput(gate) }

    /// What waits under this number, or a smaller one, goes out at the end of the turn.
    func release(through number: UInt64) {
        if gated?.release(through: number) == true { markDirty() }
    }

    /// Appends a heartbeat or its answer, which goes out even while the gate is closed: otherwise the peer
    /// would take this end for dead.
    private func appendSign(_ encode: (inout ByteBuffer) -> Void) {
        guard isOpen, canQueue(for: ServiceLinkFrame.overheadBytesMax) else { return }
        if gated?.addSign(encode) == nil { encode(&outbound) }
        markDirty()
    }

    private func flushThroughGate() {
        gated?.take(&outbound)
        guard let transport, transport.isWritable, let batch = gated?.ready, batch.readableBytes > 0 else {
            return
        }
        gated?.ready = ByteBuffer()
        counters.bytesOut += UInt64(batch.readableBytes)
        counters.writes += 1
        transport.write(batch)
        transportBytes = transport.queuedBytes
        owner?.connectionBecameWritable(self)
    }

    /// What waits behind a closed gate hasn't come to stay, and is never sent.
    private func keepWhatMayGo() {
        gated?.take(&outbound)
        outbound = gated?.ready ?? ByteBuffer()
        gated = nil
    }
}

// MARK: - Receiving

extension ServiceLinkConnection {
    func transportOpened(_ transport: any ServiceLinkTransport) {
        guard !isClosed, end == nil else { return transport.finish(ByteBuffer(), linger: .zero) }
        self.transport = transport
        isOpen = true
        owner?.connectionOpened(self)
    }

    func transportFailed(_ reason: String) { close(.connectFailed(reason)) }

    func transportClosed(_ reason: ServiceLinkDownReason) {
        transport = nil
        close(reason)
    }

    func transportBecameWritable() {
        transportBytes = transport?.queuedBytes ?? 0
        if waitingBytes > 0 { markDirty() } else { owner?.connectionBecameWritable(self) }
    }

    func transportReceived(_ chunk: ByteBuffer) {
        guard isOpen else { return }
        counters.bytesIn += UInt64(chunk.readableBytes)
        owner?.connectionDidReceive(self, now: endOfTurn.now)
        reader.frameBytesMax = frameBytesMax
        do {
            try reader.read(chunk) { frame in
                received(frame)
                return isOpen ? .nextFrame : .end
            }
        } catch {
            refuse("\(error)")
        }
    }

    private func received(_ frame: UnsafeRawBufferPointer) {
        let envelope: ServiceLinkEnvelope
        do { envelope = try ServiceLinkEnvelope(decoding: frame) } catch { return refuse("\(error)") }
        switch envelope {
        case .heartbeat where !isTrusted, .heartbeatAck where !isTrusted, .unknown where !isTrusted,
            .trace where !isTrusted:
            refuse("a frame before the end of the handshake")
        case .heartbeat:
            appendSign { ServiceLinkFrame.writeHeartbeatAck(into: &$0) }
        case .heartbeatAck, .unknown:
            break
        case .goAway(let goAway):
            close(.goneAway(goAway))
        case .hello, .challenge, .proof, .welcome, .request, .response, .failure, .push, .trace:
            if let fault = owner?.connection(self, received: envelope) { refuse(fault) }
        }
    }

    private func refuse(_ fault: String) {
        guard isOpen else { return }
        logger.warning(
            "a peer broke the protocol of ServiceLink and is disconnected",
            metadata: ["fault": "\(fault.prefix(200))", "address": "\(peerAddress)"])
        close(.protocolError(fault), saying: ServiceLinkGoAway(.protocolError, fault))
    }
}
