import NIOCore
import RTMProtocol
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

@Suite("What clients send and the edge holds")
struct InboundBufferTests {
    private func start(of length: UInt32, _ count: Int) -> ByteBuffer {
        var bytes = ByteBuffer(integer: length)
        bytes.writeRepeatingByte(0, count: count)
        return bytes
    }

    @Test("before the login frames are short; after it they are as long as the operator allows")
    func loginFrames() throws {
        var inbound = InboundBuffer(frameBytesMax: 64 * 1024)
        #expect(throws: WireError.self) {
            try inbound.read(start(of: 50_000, 100), isLoggedIn: false) { _ in .nextFrame }
        }
        var later = InboundBuffer(frameBytesMax: 64 * 1024)
        try later.read(start(of: 50_000, 100), isLoggedIn: true) { _ in .nextFrame }
        #expect(later.handshakeBytesChanged(isUnauthenticated: false) == 0)
    }

    @Test("a half frame holds as much memory as has arrived of it, whatever the chunk had room for")
    func halfFrames() throws {
        var inbound = InboundBuffer(frameBytesMax: 64 * 1024)
        var chunk = ByteBufferAllocator().buffer(capacity: 64 * 1024)
        chunk.writeImmutableBuffer(start(of: 20_000, 96))
        try inbound.read(chunk, isLoggedIn: false) { _ in .nextFrame }
        let held = inbound.handshakeBytesChanged(isUnauthenticated: true)
        #expect((100...256).contains(held))
        try inbound.read(start(of: 0, 9_996), isLoggedIn: false) { _ in .nextFrame }
        let more = inbound.handshakeBytesChanged(isUnauthenticated: true)
        #expect((9_000...20_000).contains(held + more))
        #expect(inbound.handshakeBytesChanged(isUnauthenticated: false) == -(held + more))
    }

    @Test("half logins hold so much memory in all; one more is told to come back, and a login gives it back")
    func unauthenticated() throws {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        var clients: [EdgeClient] = []
        var refused = 0
        while refused == 0, clients.count < 2_000 {
            let client = EdgeClient(fixture)
            client.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
            client.send(bytes: start(of: 25_000, 20_000))
            for case .disconnect(let reason) in client.bodies() {
                #expect(reason.code == .disconnectTooManyConnections && reason.retryAfterMs == 5_000)
                refused += 1
            }
            clients.append(client)
        }
        #expect((200...450).contains(clients.count))
        // The refused one may linger to read why; its half login doesn't.
        #expect(clients.last?.keptBytes == 0)
        #expect(clients.dropLast().allSatisfy { $0.keptBytes > 19_000 })
        for client in clients { client.vanish() }
        let late = EdgeClient(fixture)
        late.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        late.send(bytes: start(of: 25_000, 20_000))
        #expect(late.isOpen)
    }
}
