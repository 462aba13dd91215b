import NIOCore
import NIOPosix
import RTMWire
import Synchronization

@testable import RTMServiceLink

/// A peer on a bare socket, which may say whatever it likes.
final class RawPeer: Sendable {
    private let channel: any Channel
    private let received: ReceivedBytes

    /// What came, frame by frame.
    final class ReceivedBytes: Sendable {
        struct State {
            var bytes: [UInt8] = []
            var isClosed = false
        }
        let state = Mutex(State())
    }

    private final class Ear: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let received: ReceivedBytes
        let answer: @Sendable (ServiceLinkHello) -> [UInt8]
        /// Whether everything but the first frame of the answer comes after the caller's proof.
        let waitsForProof: Bool
        private let rest = Mutex<[UInt8]>([])

        init(
            _ received: ReceivedBytes, waitsForProof: Bool = false,
            answer: @escaping @Sendable (ServiceLinkHello) -> [UInt8] = { _ in [] }
        ) {
            self.received = received
            self.waitsForProof = waitsForProof
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data).allBytes
            received.state.withLock { $0.bytes += bytes }
            let envelope = try? bytes.dropFirst(4).withUnsafeBytes { try ServiceLinkEnvelope(decoding: $0) }
            var bytesOut: [UInt8]
            switch envelope {
            case .hello(let hello)?: bytesOut = answer(hello)
            case .proof?: bytesOut = rest.withLock { $0 }
            default: return
            }
            if waitsForProof, case .hello? = envelope {
                let length = 4 + Int(bytesOut[3])
                rest.withLock { [bytesOut] in $0 = Array(bytesOut.dropFirst(length)) }
                bytesOut.removeLast(bytesOut.count - length)
            }
            context.channel.writeAndFlush(ByteBuffer(bytes: bytesOut), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            received.state.withLock { $0.isClosed = true }
        }
    }

    private init(_ channel: any Channel, _ received: ReceivedBytes) {
        self.channel = channel
        self.received = received
    }

    static func connect(to port: Int, on loop: any EventLoop) async throws -> RawPeer {
        let received = ReceivedBytes()
        let channel = try await ClientBootstrap(group: loop)
            .channelInitializer { $0.pipeline.addHandler(Ear(received)) }
            .connect(host: "127.0.0.1", port: port).get()
        return RawPeer(channel, received)
    }

    /// The port of a listener that answers a hello and is silent then.
    ///
    /// - Parameter waitsForProof: whether everything but the first frame of the answer comes after the
    ///   caller's proof, in one write.
    static func listen(
        on loop: any EventLoop, waitsForProof: Bool = false,
        answer: @escaping @Sendable (ServiceLinkHello) -> [UInt8]
    ) async throws -> Int {
        let channel = try await ServerBootstrap(group: loop)
            .childChannelInitializer {
                $0.pipeline.addHandler(Ear(ReceivedBytes(), waitsForProof: waitsForProof, answer: answer))
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return channel.localAddress?.port ?? 0
    }

    /// Challenge and welcome of a service that knows no secret and reads nothing.
    static func service(
        _ hello: ServiceLinkHello, version: UInt32 = ServiceLinkVersion.current, name: String = "echo",
        incarnation: UInt64
    ) -> [UInt8] {
        let challenge = ServiceLinkChallenge(nonce: [UInt8](repeating: 9, count: 32))
        let handshake = ServiceLinkHandshake(hello: hello, challenge: challenge)
        let welcome = ServiceLinkWelcome(
            version: version, service: name, incarnation: incarnation,
            proof: handshake.serviceProof("", incarnation: incarnation, shards: 0))
        var buffer = ByteBuffer()
        ServiceLinkFrame.write(challenge, into: &buffer)
        ServiceLinkFrame.write(welcome, into: &buffer)
        return buffer.allBytes
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    var isClosed: Bool { received.state.withLock { $0.isClosed } }
    var byteCount: Int { received.state.withLock { $0.bytes.count } }

    /// The whole frames that have come, without their prefixes.
    var frames: [[UInt8]] {
        var rest = received.state.withLock { $0.bytes }[...]
        var frames: [[UInt8]] = []
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 4 + length else { break }
            frames.append(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
        }
        return frames
    }

    /// The service's challenge, if it is the first frame.
    var challenge: ServiceLinkChallenge? {
        frames.first?.withUnsafeBytes { bytes in
            if case .challenge(let challenge) = try? ServiceLinkEnvelope(decoding: bytes) {
                challenge
            } else {
                nil
            }
        }
    }

    /// The reason of the last frame, where that is a GoAway.
    var goAway: ServiceLinkGoAway.Reason? {
        frames.last?.withUnsafeBytes { bytes in
            if case .goAway(let goAway) = try? ServiceLinkEnvelope(decoding: bytes) {
                goAway.reason
            } else {
                nil
            }
        }
    }
}
