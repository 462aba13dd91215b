import NIOCore
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMServiceLink

/// Many who connect to a service and don't know its secret.
@Suite("A crowd before a service's port")
struct CrowdTests {
    @Test("the oldest connection in its handshake makes room, so callers that know the secret get in")
    func oldest() async throws {
        try await ServiceLinkFixture.with(.tcp) {
            $0.server.unauthenticatedPerAddressMax = 3
            $0.server.linksMax = 1
        } _: { fixture in
            let (server, address) = try await fixture.listen()
            guard case .tcp(_, let port) = address else { return }
            var peers: [RawPeer] = []
            for _ in 0..<3 {
                peers.append(try await .connect(to: port, on: fixture.clientLoop))
                try await eventually("it is counted") { server.linkCount == peers.count }
            }
            let fourth = try await RawPeer.connect(to: port, on: fixture.clientLoop)
            try await eventually("the first makes room") {
                peers[0].isClosed && peers[0].goAway == .overflow
            }
            #expect(!fourth.isClosed && !peers[1].isClosed && !peers[2].isClosed)
            // The handshakes last thirty seconds here; nobody waits for that.
            _ = try await fixture.call(address)
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            try await eventually("the second has made room, too") { peers[1].isClosed }
            // Its link takes no place in the handshake, so the others stay.
            #expect(!peers[2].isClosed && !fourth.isClosed)
        }
    }

    @Test("a connection that was refused keeps its place until its descriptor is free")
    func lingering() async throws {
        try await ServiceLinkFixture.with(.tcp) {
            $0.server.unauthenticatedPerAddressMax = 2
            $0.server.link.closeLinger = .seconds(60)
        } _: { fixture in
            let (server, address) = try await fixture.listen()
            guard case .tcp(_, let port) = address else { return }
            var peers: [RawPeer] = []
            for _ in 0..<2 {
                let peer = try await RawPeer.connect(to: port, on: fixture.clientLoop)
                // A length that no frame has. The server answers, and then waits for the peer's end.
                try await peer.send([0xFF, 0xFF, 0xFF, 0xFF])
                try await eventually("it is refused") { peer.goAway == .protocolError }
                peers.append(peer)
            }
            try await eventually("no link is left") { server.linkCount == 0 }
            let third = try await RawPeer.connect(to: port, on: fixture.clientLoop)
            try await eventually("the first is closed for the third") { peers[0].isClosed }
            #expect(!third.isClosed)
        }
    }

    @Test("a connection that would get one of the last descriptors is closed, and its listener pauses")
    func lastDescriptors() async throws {
        let reports = Mutex<[String]>([])
        // The plan is about a process that may have fewer descriptors than this one has already.
        let policy = AcceptPolicy(DescriptorPlan(limit: 20, loops: 1)) { listener, pause in
            reports.withLock { $0.append("\(listener): \(pause ?? "well again")") }
        }
        try await ServiceLinkFixture.with(.tcp) { _ in
        } _: { fixture in
            let (server, address) = try await fixture.listen { _ = $0.fit(policy) }
            guard case .tcp(_, let port) = address else { return }
            let peer = try await RawPeer.connect(to: port, on: fixture.clientLoop)
            try await eventually("closed without an answer") { peer.isClosed }
            #expect(peer.byteCount == 0 && server.linkCount == 0)
            try await eventually("one report") { reports.withLock { $0.count } == 1 }
            let report = reports.withLock { $0[0] }
            #expect(report.hasPrefix("echo at 127.0.0.1:0: no connections are accepted"))
        }
    }
}
