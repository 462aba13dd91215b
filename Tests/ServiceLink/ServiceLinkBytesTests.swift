import NIOCore
import RTMModel
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

/// These tests put bytes on the socket that no peer of ours would send.
@Suite struct ServiceLinkBytesTests {
    private func framed(_ encode: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        encode(&buffer)
        return buffer.allBytes
    }

    private func hello(version: UInt32 = 1, secret: String = "") -> [UInt8] {
        framed {
            ServiceLinkFrame.write(
                ServiceLinkHello(version: version, service: "echo", node: "raw", secret: secret), into: &$0)
        }
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
            for byte in hello() + echo + echo { try await peer.send([byte]) }
            try await eventually("welcome and two answers") { peer.frames.count == 3 }
            #expect(
                peer.frames[1]
                    == ByteBuffer.frame {
                        ServiceLinkFrame.writeResponse(id: 7, body: Bytes("hi"), bodyLength: 2, into: &$0)
                    })
            #expect(peer.frames[1] == peer.frames[2])
        }
    }

    @Test("frames are understood wherever a read ends", arguments: [2, 3, 5, 7, 64])
    func pieces(size: Int) async throws {
        try await withRawCaller { fixture, peer in
            let bytes = hello() + (0..<20).flatMap { _ in echo }
            for start in stride(from: 0, to: bytes.count, by: size) {
                try await peer.send(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            try await eventually("welcome and twenty answers") { peer.frames.count == 21 }
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
            if afterHello { try await peer.send(hello()) }
            try await peer.send(bytes)
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .protocolError)
        }
    }

    @Test("a request before the hello, a second hello and a frame of the wrong direction end the link")
    func outOfPlace() async throws {
        let welcome = framed {
            ServiceLinkFrame.write(ServiceLinkWelcome(version: 1, service: "echo", incarnation: 1), into: &$0)
        }
        for bytes in [echo, hello() + hello(), hello() + welcome] {
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
            try await peer.send(hello(version: 2))
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .version)
        }
    }

    @Test("a caller that isn't admitted may send short frames only; one that is may send long ones")
    func strangersFrames() async throws {
        let long: [UInt8] = [0, 0, 0x20, 0] + [UInt8](repeating: 0, count: 100)
        try await withRawCaller { fixture, peer in
            try await peer.send(long)
            try await eventually("closed") { peer.isClosed }
            #expect(peer.goAway == .protocolError)
        }
        try await withRawCaller { fixture, peer in
            try await peer.send(hello())
            try await eventually("welcome") { peer.frames.count == 1 }
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
            try await peer.send(hello() + [0, 0, 0, 3, 0x7a, 1, 0] + [0, 0, 0, 0] + echo)
            try await eventually("welcome and answer") { peer.frames.count == 2 }
        }
    }

    @Test("a service that falls silent is dropped at the heartbeat's deadline")
    func silentService() async throws {
        try await ServiceLinkFixture.with(.tcp) {
            $0.client.link.heartbeatInterval = .milliseconds(100)
            $0.client.link.heartbeatDeadline = .milliseconds(400)
        } _: { fixture in
            let welcome = framed {
                ServiceLinkFrame.write(
                    ServiceLinkWelcome(version: 1, service: "echo", incarnation: 1), into: &$0)
            }
            let port = try await RawPeer.listen(on: fixture.serverLoop, greeting: welcome)
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
            let welcome = framed {
                ServiceLinkFrame.write(
                    ServiceLinkWelcome(
                        version: otherVersion ? 2 : 1, service: otherVersion ? "echo" : "other",
                        incarnation: 1),
                    into: &$0)
            }
            let port = try await RawPeer.listen(on: fixture.serverLoop, greeting: welcome)
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
}
