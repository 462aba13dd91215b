import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMServiceLink

/// Bytes on the socket that no peer of ours would send.
@Suite struct ServiceLinkBytesTests {
    private func framed(_ encode: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        encode(&buffer)
        return buffer.allBytes
    }

    private static let nonce = [UInt8](repeating: 7, count: 32)

    private func hello(version: UInt32 = ServiceLinkVersion.current, node: String = "raw") -> [UInt8] {
        framed { ServiceLinkFrame.write(Self.helloFrame(version: version, node: node), into: &$0) }
    }

    private static func helloFrame(version: UInt32 = ServiceLinkVersion.current, node: String = "raw")
        -> ServiceLinkHello
    {
        ServiceLinkHello(version: version, service: "echo", node: node, nonce: nonce)
    }

    /// The answer to the challenge that has come.
    private func proof(_ peer: RawPeer, secret: String = "") throws -> [UInt8] {
        let challenge = try #require(peer.challenge)
        let handshake = ServiceLinkHandshake(hello: Self.helloFrame(), challenge: challenge)
        return framed { ServiceLinkFrame.write(handshake.callerProof(secret), into: &$0) }
    }

    /// Says hello and proves that it knows the secret.
    private func enter(_ peer: RawPeer) async throws {
        try await peer.send(hello())
        try await eventually("the challenge") { peer.challenge != nil }
        try await peer.send(try proof(peer))
        try await eventually("the welcome") { peer.frames.count == 2 }
    }

    private var echo: [UInt8] {
        framed {
            ServiceLinkFrame.writeRequest(
                id: 7, method: EchoMethod.echo, timeoutMilliseconds: 1000, body: Bytes("hi"), bodyLength: 2,
                into: &$0)
        }
    }

    private func withRawCaller(
        _ configure: (inout ServiceLinkFixture.Settings) -> Void = { _ in },
        _ body: (ServiceLinkFixture, RawPeer) async throws -> Void
    ) async throws {
        try await ServiceLinkFixture.with(.tcp, configure) { fixture in
            let (server, address) = try await fixture.listen()
            guard case .tcp(_, let port) = address else { return }
            // A well-behaved caller stands beside the raw one, and must not notice anything.
            let caller = try await fixture.call(address)
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            let peer = try await RawPeer.connect(to: port, on: fixture.clientLoop)
            try await body(fixture, peer)
            try await caller.request(EchoMethod.echo, Bytes("unharmed"), context: 1)
            try await eventually("the neighbour's answer") {
                fixture.journal.answers == [.response(1, Bytes("unharmed"))]
            }
            #expect(fixture.journal.downs.isEmpty)
            await server.drain()
        }
    }

    @Test("frames are understood when they come byte by byte")
    func byteByByte() async throws {
        try await withRawCaller { fixture, peer in
            for byte in hello() { try await peer.send([byte]) }
            try await eventually("the challenge") { peer.challenge != nil }
            for byte in try proof(peer) + echo + echo { try await peer.send([byte]) }
            try await eventually("welcome and two answers") { peer.frames.count == 4 }
            #expect(
                peer.frames[2]
                    == ByteBuffer.frame {
                        ServiceLinkFrame.writeResponse(id: 7, body: Bytes("hi"), bodyLength: 2, into: &$0)
                    })
            #expect(peer.frames[2] == peer.frames[3])
        }
    }

    @Test("frames are understood wherever a read ends", arguments: [2, 3, 5, 7, 64])
    func pieces(size: Int) async throws {
        try await withRawCaller { fixture, peer in
            try await peer.send(hello())
            try await eventually("the challenge") { peer.challenge != nil }
            let bytes = try proof(peer) + (0..<20).flatMap { _ in echo }
            for start in stride(from: 0, to: bytes.count, by: size) {
                try await peer.send(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            try await eventually("welcome and twenty answers") { peer.frames.count == 22 }
        }
    }

    @Test(
        "garbage ends the link that sent it with a GoAway, before and after the hello",
        arguments: [
            [0xff, 0xff, 0xff, 0xff], [0x01, 0x00, 0x00, 0x01], [0, 0, 0, 1, 0xff], [0, 0, 0, 2, 0x2a, 9],
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [0, 0, 0, 4, 0x2b, 0x2b, 0x2b, 0x2b],
        ] as [[UInt8]], [true, false])
    func garbage(bytes: [UInt8], afterHello: Bool) async throws {
        try await withRawCaller { fixture, peer in
            if afterHello { try await enter(peer) }
            try await peer.send(bytes)
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .protocolError)
        }
    }

    @Test("a heartbeat before the end of the handshake gets no answer but the end of the link")
    func earlyHeartbeat() async throws {
        try await withRawCaller { fixture, peer in
            try await peer.send(framed { ServiceLinkFrame.writeHeartbeat(into: &$0) })
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .protocolError)
        }
    }

    @Test("a request before the hello, a second hello and a frame of the wrong direction end the link")
    func outOfPlace() async throws {
        let welcome = framed {
            ServiceLinkFrame.write(
                ServiceLinkWelcome(
                    version: ServiceLinkVersion.current, service: "echo", incarnation: 1, proof: []),
                into: &$0)
        }
        let proof = framed { ServiceLinkFrame.write(ServiceLinkProof(proof: [1]), into: &$0) }
        for bytes in [echo, hello() + hello(), hello() + welcome, hello() + echo, proof] {
            try await withRawCaller { fixture, peer in
                try await peer.send(bytes)
                try await eventually("closed") { peer.isClosed }
                #expect(peer.goAway == .protocolError)
            }
        }
    }

    @Test("another version is refused")
    func version() async throws {
        try await withRawCaller { fixture, peer in
            try await peer.send(hello(version: 1))
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .version)
        }
    }

    @Test("a caller that isn't admitted may send short frames only; one that is may send long ones")
    func framesBeforeProof() async throws {
        let long: [UInt8] = [0, 0, 0x20, 0] + [UInt8](repeating: 0, count: 100)
        try await withRawCaller { fixture, peer in
            try await peer.send(long)
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .protocolError)
        }
        try await withRawCaller { fixture, peer in
            try await enter(peer)
            try await peer.send(long)
            try await peer.send([UInt8](repeating: 0, count: 0x2000 - 100))
            try await eventually("the frame was read and is none") { peer.isClosed }
        }
    }

    @Test("who never says hello is closed after the handshake's time")
    func neverHello() async throws {
        try await withRawCaller {
            $0.server.link.handshakeTimeout = .milliseconds(30)
        } _: { fixture, peer in
            try await eventually("closed") { peer.isClosed }
        }
    }

    @Test("a frame of unknown kind is ignored")
    func unknownKind() async throws {
        try await withRawCaller { fixture, peer in
            try await enter(peer)
            try await peer.send([0, 0, 0, 3, 0x7a, 1, 0] + [0, 0, 0, 0] + echo)
            try await eventually("the answer") { peer.frames.count == 3 }
        }
    }

    @Test("a service that falls silent is dropped at the heartbeat's deadline")
    func silentService() async throws {
        try await ServiceLinkFixture.with(.tcp) {
            $0.client.link.heartbeatInterval = .milliseconds(100)
            $0.client.link.heartbeatDeadline = .milliseconds(400)
        } _: { fixture in
            let port = try await RawPeer.listen(on: fixture.serverLoop) { hello in
                RawPeer.service(hello, incarnation: 1)
            }
            let caller = try await fixture.call(.tcp(host: "127.0.0.1", port: port))
            // The link comes up and falls again and again; one request has to be caught in it.
            try await eventually("an accepted request") {
                (try? await caller.request(EchoMethod.echo, Bytes(""), timeout: .seconds(60), context: 1))
                    != nil
            }
            try await eventually("link down") { !fixture.journal.answers.isEmpty }
            #expect(fixture.journal.answers == [.disconnected(1)])
            #expect(Set(fixture.journal.downs) == [.silent])
        }
    }

    @Test("a service of another name or version is refused by the caller", arguments: [true, false])
    func foreignService(otherVersion: Bool) async throws {
        try await ServiceLinkFixture.with(.tcp) { fixture in
            let port = try await RawPeer.listen(on: fixture.serverLoop) { hello in
                RawPeer.service(
                    hello, version: otherVersion ? 1 : ServiceLinkVersion.current,
                    name: otherVersion ? "echo" : "other", incarnation: 1)
            }
            let caller = try await fixture.call(.tcp(host: "127.0.0.1", port: port))
            try await eventually("the refusal") {
                if case .peerRefused(let goAway) = try await caller.turn({ $0.downReason }) {
                    goAway.reason == (otherVersion ? .version : .wrongService)
                } else {
                    false
                }
            }
            #expect(fixture.journal.events.isEmpty)
        }
    }

    @Test(
        "a service that doesn't know the secret is refused by the caller, which has sent no more than a proof"
    )
    func impostor() async throws {
        try await ServiceLinkFixture.with(.tcp) {
            $0.client.link.secret = "tops3cret"
        } _: { fixture in
            let port = try await RawPeer.listen(on: fixture.serverLoop) { hello in
                RawPeer.service(hello, incarnation: 1)
            }
            let caller = try await fixture.call(.tcp(host: "127.0.0.1", port: port))
            try await eventually("the refusal") {
                if case .peerRefused(let goAway) = try await caller.turn({ $0.downReason }) {
                    goAway.reason == .wrongSecret
                } else {
                    false
                }
            }
            #expect(fixture.journal.events.isEmpty)
        }
    }

    @Test("the secret never travels, and a recorded handshake opens no other link")
    func replay() async throws {
        try await ServiceLinkFixture.with(.tcp) {
            $0.client.link.secret = "tops3cret"
            $0.server.link.secret = "tops3cret"
        } _: { fixture in
            let (_, address) = try await fixture.listen()
            guard case .tcp(_, let port) = address else { return }
            let first = try await RawPeer.connect(to: port, on: fixture.clientLoop)
            try await first.send(hello())
            try await eventually("the challenge") { first.challenge != nil }
            let proof = try proof(first, secret: "tops3cret")
            try await first.send(proof)
            try await eventually("the welcome") { first.frames.count == 2 }
            for frame in first.frames + [hello(), proof] {
                #expect(!String(decoding: frame, as: UTF8.self).contains("tops3cret"))
            }
            let second = try await RawPeer.connect(to: port, on: fixture.clientLoop)
            try await second.send(hello())
            try await eventually("the challenge") { second.challenge != nil }
            try await second.send(proof)
            try await eventually("closed") { second.isClosed }
            #expect(second.goAway == .wrongSecret)
        }
    }

    @Test("a frame that comes in one read with the welcome may be long")
    func longAfterWelcome() async throws {
        let body = Bytes([UInt8](repeating: 7, count: 10_000))
        let push = framed {
            ServiceLinkFrame.writePush(method: 3, body: body, bodyLength: body.encodedLength, into: &$0)
        }
        try await ServiceLinkFixture.with(.tcp) { fixture in
            let port = try await RawPeer.listen(on: fixture.serverLoop, waitsForProof: true) { hello in
                RawPeer.service(hello, incarnation: 1) + push
            }
            _ = try await fixture.call(.tcp(host: "127.0.0.1", port: port))
            try await eventually("the push") { fixture.journal.events.contains(.push(3, body)) }
            #expect(fixture.journal.downs.isEmpty)
        }
    }

    @Test("before the end of the handshake a frame has at most 4 KiB")
    func frameBeforeProof() async throws {
        try await withRawCaller { fixture, peer in
            try await peer.send([0, 0, 0x10, 0x01])
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .protocolError)
        }
    }
}
