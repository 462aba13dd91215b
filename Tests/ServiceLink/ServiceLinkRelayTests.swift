import NIOCore
import NIOPosix
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMServiceLink

/// A link to a service that passes through another one (decision 0022).
@Suite struct ServiceLinkRelayTests {
    /// What the relaying service has counted.
    private final class Counts: Sendable {
        private let value = Mutex((present: 0, opened: 0, refused: 0, bytes: 0))
        var present: Int { value.withLock { $0.present } }
        var opened: Int { value.withLock { $0.opened } }
        var refused: Int { value.withLock { $0.refused } }
        var bytes: Int { value.withLock { $0.bytes } }

        @Sendable func observe(_ event: ServiceLinkRelays.Event) {
            value.withLock {
                switch event {
                case .opened:
                    $0.present += 1
                    $0.opened += 1
                case .ended: $0.present -= 1
                case .refused: $0.refused += 1
                case .copied(let bytes): $0.bytes += bytes
                }
            }
        }
    }

    /// A service, and another one that relays to it under the name "far".
    private func withRelay(
        countMax: Int = 1_024, _ configure: (inout ServiceLinkFixture.Settings) -> Void = { _ in },
        _ body: (ServiceLinkFixture, _ far: ServiceLinkServer, _ relay: ServiceLinkAddress, Counts)
            async throws
            -> Void
    ) async throws {
        try await ServiceLinkFixture.with(.tcp, configure) { fixture in
            let (far, address) = try await fixture.listen { $0.incarnation = 77 }
            let counts = Counts()
            let (_, relay) = try await fixture.listen {
                var relays = ServiceLinkRelays(
                    to: { $0 == "far" ? address : nil }, observe: counts.observe)
                relays.countMax = countMax
                $0.relays = relays
            }
            try await body(fixture, far, relay, counts)
        }
    }

    private func reason(_ caller: RemoteCaller) async throws -> String {
        var reason = ""
        try await eventually("a failed attempt") {
            reason = "\(try await caller.turn { $0.downReason ?? .notStarted })"
            return reason != "\(ServiceLinkDownReason.notStarted)"
        }
        return reason
    }

    @Test("requests, large responses and pushes pass, and the peer is the service at the far end")
    func talk() async throws {
        try await withRelay { fixture, far, relay, counts in
            let caller = try await fixture.call(.relayed(to: "far", through: relay))
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            #expect(try await caller.turn { $0.incarnation } == 77)
            try await caller.request(EchoMethod.echo, Bytes("hi"), context: 1)
            try await caller.request(EchoMethod.large, Bytes("3000000"), context: 2)
            try await caller.request(EchoMethod.pushAndEcho, Bytes("push"), context: 3)
            try await eventually("the answers") { fixture.journal.answers.count == 4 }
            #expect(fixture.journal.answers.first == .response(1, Bytes("hi")))
            #expect(counts.present == 1 && counts.bytes > 3_000_000)
            await far.drain()
            try await eventually("link down") { fixture.journal.downs.count == 1 }
            try await eventually("no relay is left") { counts.present == 0 }
            let more = try await reason(caller)
            #expect(!more.isEmpty)
        }
    }

    @Test("the end of the caller ends the relay")
    func end() async throws {
        try await withRelay { fixture, far, relay, counts in
            let caller = try await fixture.call(.relayed(to: "far", through: relay))
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            try await caller.turn { $0.shutdown() }
            try await eventually("both ends are gone") { counts.present == 0 && far.linkCount == 0 }
        }
    }

    @Test("who doesn't know the secret gets no relay, and nothing is opened for it")
    func unauthenticated() async throws {
        try await withRelay {
            $0.client.link.secret = "a guess"
            $0.server.link.secret = "the secret"
        } _: { fixture, far, relay, counts in
            let caller = try await fixture.call(.relayed(to: "far", through: relay))
            #expect(try await reason(caller).contains("secret"))
            #expect(counts.opened == 0 && far.linkCount == 0)
        }
    }

    @Test("a node that isn't in the list is refused, and so is every relay of a service that has no list")
    func unknown() async throws {
        try await withRelay { fixture, _, relay, counts in
            let elsewhere = try await fixture.call(.relayed(to: "10.0.0.1:22", through: relay))
            #expect(try await reason(elsewhere).contains("no node that is known here has the address"))
            #expect(counts.refused > 0 && counts.opened == 0)
            let (_, plain) = try await fixture.listen()
            let caller = try await fixture.call(.relayed(to: "far", through: plain))
            #expect(try await reason(caller).contains("no node that is known here has the address"))
        }
    }

    @Test("a node that can't be reached from the relay either is refused with the cause")
    func unreachable() async throws {
        try await withRelay { fixture, far, relay, counts in
            await far.drain()
            let caller = try await fixture.call(.relayed(to: "far", through: relay))
            #expect(try await reason(caller).contains("Connection refused"))
            #expect(counts.refused > 0 && counts.present == 0)
        }
    }

    @Test("one relay more than the limit is refused, and its place is free after its end")
    func limit() async throws {
        try await withRelay(countMax: 1) { fixture, _, relay, counts in
            let first = try await fixture.call(.relayed(to: "far", through: relay))
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            let second = try await fixture.call(.relayed(to: "far", through: relay))
            #expect(try await reason(second).contains("all 1 relays of this node are taken"))
            try await first.turn { $0.shutdown() }
            try await eventually("the other one is up") { fixture.journal.ups.count == 2 }
            #expect(counts.present == 1)
        }
    }

    @Test("the proof of a caller covers the node that it names")
    func proof() {
        func hello(_ node: String) -> ServiceLinkHello {
            ServiceLinkHello(
                version: 3, service: "echo", node: "a", nonce: [UInt8](repeating: 1, count: 32), relayTo: node
            )
        }
        let challenge = ServiceLinkChallenge(nonce: [UInt8](repeating: 2, count: 32))
        let proofs = ["", "far", "near"].map {
            ServiceLinkHandshake(hello: hello($0), challenge: challenge).callerProof("secret")
        }
        #expect(Set(proofs).count == 3)
    }

    @Test("an end is read only while the other one takes what was read")
    func backPressure() async throws {
        try await NIOSingletons.posixEventLoopGroup.next().submit {
            let bench = try RelayBench()
            bench.far.isWritable = false
            bench.near.receive("ab")
            #expect(bench.far.written == "ab" && !bench.near.isReading && bench.far.isReading)
            bench.far.isWritable = true
            bench.far.receiver?.transportBecameWritable()
            #expect(bench.near.isReading)
            bench.far.receive("cd")
            #expect(bench.near.written == "cd")
            bench.far.receiver?.transportClosed(.closedByPeer)
            #expect(bench.near.isFinished && bench.owner.hasEnded)
        }.get()
    }

    @Test("a relay of which an end is quiet for longer than heartbeats allow ends")
    func quiet() async throws {
        let loop = NIOSingletons.posixEventLoopGroup.next()
        let bench = try await loop.submit {
            NIOLoopBound(
                try RelayBench {
                    $0.heartbeatInterval = .milliseconds(20)
                    $0.heartbeatDeadline = .milliseconds(60)
                }, eventLoop: loop)
        }.get()
        try await eventually("it ends") { try await loop.submit { bench.value.owner.hasEnded }.get() }
        try await loop.submit {
            #expect(bench.value.near.isFinished && bench.value.far.isFinished)
        }.get()
    }
}

/// A relay between two transports that write down what is done to them.
private final class RelayBench {
    final class Transport: ServiceLinkTransport {
        var receiver: (any ServiceLinkTransportReceiver)?
        var isWritable = true
        var isReading = true
        var written = ""
        var isFinished = false
        var peerAddress: String { "" }
        var queuedBytes: Int { 0 }

        func write(_ batch: ByteBuffer) { written += String(buffer: batch) }
        func finish(_ batch: ByteBuffer, linger: TimeAmount) { isFinished = true }
        func pass(to receiver: any ServiceLinkTransportReceiver) { self.receiver = receiver }
        func setReading(_ isReading: Bool) { self.isReading = isReading }
        func receive(_ text: String) { receiver?.transportReceived(ByteBuffer(string: text)) }
    }

    final class Owner: ServiceLinkRelayOwner {
        let near: Transport
        var hasEnded = false

        init(_ near: Transport) { self.near = near }

        func relayConnected(
            passing receiver: any ServiceLinkTransportReceiver
        ) -> (any ServiceLinkTransport)? {
            near.receiver = receiver
            return near
        }
        func relayFailed(_ reason: String) {}
        func relayEnded() { hasEnded = true }
    }

    private final class Receivers: ServiceLinkDialing {
        private let last = Mutex<NIOLoopBound<any ServiceLinkTransportReceiver>?>(nil)

        func connect(
            to host: String, port: Int, _ receiver: any ServiceLinkTransportReceiver,
            on eventLoop: any EventLoop
        ) {
            let bound = NIOLoopBound(receiver, eventLoop: eventLoop)
            last.withLock { $0 = bound }
        }

        var present: NIOLoopBound<any ServiceLinkTransportReceiver>? { last.withLock { $0 } }
    }

    let near = Transport()
    let far = Transport()
    let owner: Owner
    private let relay: ServiceLinkRelay

    /// To be called on an event loop.
    init(_ configure: (inout ServiceLinkConfiguration) -> Void = { _ in }) throws {
        let loop = try #require(MultiThreadedEventLoopGroup.currentEventLoop)
        let receivers = Receivers()
        var link = ServiceLinkConfiguration()
        link.dialer = receivers
        configure(&link)
        owner = Owner(near)
        relay = ServiceLinkRelay(ServiceLinkRelays(to: { _ in nil }), link, owner: owner, on: loop)
        relay.connect(to: .tcp(host: "far", port: 1))
        let receiver = try #require(receivers.present?.value)
        far.receiver = receiver
        receiver.transportOpened(far)
    }
}
