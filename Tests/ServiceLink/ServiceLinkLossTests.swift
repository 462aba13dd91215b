import NIOCore
import RTMModel
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

/// What a link promises when it ends, whatever carries it.
@Suite struct ServiceLinkLossTests {
    @Test(
        "a request while the link is down is refused at once, naming the service",
        arguments: TransportKind.allCases)
    func requestWhileDown(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let caller = try await fixture.call(try await fixture.nowhere())
            let error = await #expect(throws: RTMError.self) { try await caller.request(1, Bytes("")) }
            #expect(error?.code == .notConnected)
            #expect(error?.reason.contains("echo") == true)
            #expect(try await caller.turn { $0.push(1, Bytes("")) } == false)
            try await eventually("a failed attempt") {
                if case .connectFailed = try await caller.turn({ $0.downReason }) { true } else { false }
            }
            #expect(fixture.journal.events.isEmpty)
            guard kind == .tcp else { return }
            #expect(try await caller.turn { $0.downReason } == .connectFailed("Connection refused"))
        }
    }

    @Test(
        "a lost link completes every open request once, before it is reported",
        arguments: TransportKind.allCases)
    func lossCompletesAll(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.turn { link in
                for number in 0..<100 {
                    try link.request(EchoMethod.never, Bytes(number), timeout: .seconds(30), context: number)
                }
                try link.request(EchoMethod.close, Bytes("bye"), timeout: .seconds(30), context: 100)
            }
            try await eventually("the loss") { fixture.journal.downs.count == 1 }
            let expected: [CallerEvent] =
                [.response(100, Bytes("bye"))] + (0..<100).map { .disconnected($0) }
                + [.down(.goneAway(ServiceLinkGoAway(.draining)))]
            #expect(Array(fixture.journal.events.dropFirst().prefix(102)) == expected)
            #expect(fixture.visits.now.closed == [.shutDown])
            try await eventually("the link again") { fixture.journal.ups.count == 2 }
            #expect(fixture.journal.ups.last?.hasChanged == false)
            let counters = try await caller.counters
            #expect(counters.disconnected == 100 && counters.reconnects == 1)
        }
    }

    @Test(
        "a restarted service is found again and known as another process", arguments: TransportKind.allCases)
    func restart(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (first, address) = try await fixture.listen { $0.incarnation = 1 }
            let caller = try await fixture.call(address)
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            await first.drain()
            try await eventually("link down") { fixture.journal.downs.count == 1 }
            #expect(fixture.journal.downs == [.goneAway(ServiceLinkGoAway(.draining))])
            let port = if case .tcp(_, let port) = address { port } else { 0 }
            _ = try await fixture.listen(port: port) { $0.incarnation = 2 }
            try await eventually("link up again") { fixture.journal.ups.count == 2 }
            #expect(
                fixture.journal.ups.last == ServiceLinkPeer(incarnation: 2, isFirst: false, hasChanged: true))
            try await caller.request(EchoMethod.echo, Bytes("again"), context: 1)
            try await eventually("an answer") { fixture.journal.answers == [.response(1, Bytes("again"))] }
        }
    }

    @Test("of several nodes one is called, begun with by chance, and the next one when it is gone")
    func nextNode() async throws {
        for (random, begin) in [(0.0, 0), (0.6, 1)] {
            try await ServiceLinkFixture.with(.tcp) {
                $0.client.link.random = { random }
            } _: { fixture in
                let nowhere = try await fixture.nowhere()
                let nodes = [
                    try await fixture.listen { $0.incarnation = 1 },
                    try await fixture.listen { $0.incarnation = 2 },
                ]
                // At the third address nobody answers, so it is passed over.
                let rest = [nodes[begin], nodes[1 - begin]]
                _ = try await fixture.call(nodes[0].address, nodes[1].address, nowhere)
                func isUp(_ count: Int, at incarnation: UInt64) async throws {
                    try await eventually("link \(count)") { fixture.journal.ups.count == count }
                    #expect(fixture.journal.ups.last?.incarnation == incarnation)
                }
                try await isUp(1, at: UInt64(begin + 1))
                await rest[0].server.drain()
                try await isUp(2, at: UInt64(2 - begin))
                guard case .tcp(_, let port) = rest[0].address else { return }
                _ = try await fixture.listen(port: port) { $0.incarnation = 3 }
                await rest[1].server.drain()
                try await isUp(3, at: 3)
            }
        }
    }

    @Test("a service that starts after its caller is found", arguments: TransportKind.allCases)
    func startInAnyOrder(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let address = try await fixture.nowhere()
            let caller = try await fixture.call(address)
            try await eventually("a failed attempt") {
                if case .connectFailed = try await caller.turn({ $0.downReason }) { true } else { false }
            }
            let port = if case .tcp(_, let port) = address { port } else { 0 }
            _ = try await fixture.listen(port: port)
            try await eventually("link up") { fixture.journal.ups.count == 1 }
        }
    }

    @Test("a drain lets what was sent arrive, then says so and ends", arguments: TransportKind.allCases)
    func drain(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (server, caller) = try await fixture.connected()
            try await caller.turn { link in
                for number in 0..<50 {
                    try link.request(EchoMethod.large, Bytes(100_000), timeout: .seconds(30), context: number)
                }
            }
            try await eventually("the requests") { fixture.visits.now.requests == 50 }
            await server.drain()
            #expect(server.linkCount == 0)
            try await eventually("link down") { fixture.journal.downs.count == 1 }
            #expect(fixture.journal.answers.count == 50)
            #expect(fixture.journal.answers.allSatisfy { if case .response = $0 { true } else { false } })
            #expect(fixture.journal.downs == [.goneAway(ServiceLinkGoAway(.draining))])
        }
    }

    @Test(
        "a caller's queue that is full ends the link aloud on both sides", arguments: TransportKind.allCases)
    func overflow(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.client.link.queueBytesMax = 100_000
        } _: { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.turn { link in
                try link.request(EchoMethod.never, Bytes(""), timeout: .seconds(30), context: 1)
                let body = Bytes([UInt8](repeating: 0, count: 1000))
                var sent = 0
                while link.push(1, body) { sent += 1 }
                #expect((90...100).contains(sent))
                #expect(!link.isUp)
                #expect(throws: RTMError.self) {
                    try link.request(EchoMethod.echo, body, timeout: .seconds(1), context: 2)
                }
            }
            try await eventually("link down") { fixture.journal.downs.count == 1 }
            #expect(fixture.journal.downs == [.overflow])
            #expect(fixture.journal.answers == [.disconnected(1)])
            try await eventually("the service knows") { fixture.visits.now.closed.count == 1 }
            guard case .goneAway(let goAway) = fixture.visits.now.closed[0] else {
                Issue.record("the service was told something else: \(fixture.visits.now.closed)")
                return
            }
            #expect(goAway.reason == .overflow)
            #expect(try await caller.counters.overflows == 1)
            try await eventually("link up again") { fixture.journal.ups.count == 2 }
        }
    }

    @Test(
        "requests that would fill a caller's queue are refused for a moment, and the link stays",
        arguments: TransportKind.allCases)
    func fullOfRequests(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.client.link.queueBytesMax = 100_000
        } _: { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.turn { link in
                let body = Bytes([UInt8](repeating: 0, count: 1000))
                var sent = 0
                let refusal = #expect(throws: RTMError.self) {
                    for _ in 0..<1_000 {
                        try link.request(EchoMethod.echo, body, timeout: .seconds(30), context: 1)
                        sent += 1
                    }
                }
                #expect((75...88).contains(sent))
                #expect(refusal?.code == .operationRateExceedLimitation && refusal?.retryAfter != nil)
                // What can't be refused still finds room.
                #expect(link.push(1, body) && link.isUp)
            }
            try await eventually("the answers") { fixture.journal.answers.count >= 75 }
            #expect(fixture.journal.downs.isEmpty)
            #expect(try await caller.counters.overflows == 0)
        }
    }

    @Test(
        "a service's queue that is full ends the link aloud on both sides", arguments: TransportKind.allCases)
    func serviceOverflow(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.server.link.queueBytesMax = 100_000
        } _: { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.request(EchoMethod.largePush, Bytes(200_000), context: 1)
            try await eventually("link down") { fixture.journal.downs.count == 1 }
            guard case .goneAway(let goAway) = fixture.journal.downs[0] else {
                Issue.record("the caller was told something else: \(fixture.journal.downs)")
                return
            }
            #expect(goAway.reason == .overflow)
            try await eventually("the service knows") { fixture.visits.now.closed == [.overflow] }
        }
    }

    @Test(
        "a wrong secret or service is refused with its reason, and the caller goes on trying",
        arguments: TransportKind.allCases, [ServiceLinkGoAway.Reason.wrongSecret, .wrongService])
    func refused(kind: TransportKind, reason: ServiceLinkGoAway.Reason) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.server.link.secret = "right"
            $0.client.link.secret = reason == .wrongSecret ? "wrong" : "right"
            if reason == .wrongService { $0.server.service = "other" }
        } _: { fixture in
            let (server, address) = try await fixture.listen()
            let caller = try await fixture.call(address)
            try await eventually("the refusal") {
                if case .goneAway(let goAway) = try await caller.turn({ $0.downReason }) {
                    goAway.reason == reason
                } else {
                    false
                }
            }
            #expect(fixture.journal.events.isEmpty)
            #expect(fixture.visits.now.opened.isEmpty)
            try await eventually("no link left") { server.linkCount == 0 }
        }
    }

    @Test("links beyond the limit are refused", arguments: TransportKind.allCases)
    func linksLimit(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.server.linksMax = 1
        } _: { fixture in
            let (server, address) = try await fixture.listen()
            _ = try await fixture.call(address)
            try await eventually("link up") { fixture.journal.ups.count == 1 }
            let second = try await fixture.call(address)
            try await eventually("the refusal") {
                if case .goneAway(let goAway) = try await second.turn({ $0.downReason }) {
                    goAway.reason == .overflow
                } else {
                    false
                }
            }
            // The second caller tries again soon, and counts until it is refused again.
            try await eventually("only the first is left") { server.linkCount == 1 }
        }
    }

    @Test("an idle link stays up by heartbeats", arguments: TransportKind.allCases)
    func heartbeats(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            for configuration in [\ServiceLinkFixture.Settings.client.link, \.server.link] {
                $0[keyPath: configuration].heartbeatInterval = .milliseconds(5)
                $0[keyPath: configuration].heartbeatDeadline = .seconds(2)
            }
        } _: { fixture in
            let (_, caller) = try await fixture.connected()
            let before = try await caller.counters.bytesIn
            try await eventually("twenty heartbeats") { try await caller.counters.bytesIn > before + 20 * 6 }
            #expect(fixture.journal.downs.isEmpty)
        }
    }

    @Test(
        "shutdown completes what is open, tells both sides and lets the delegate go",
        arguments: TransportKind.allCases)
    func shutdown(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (server, caller) = try await fixture.connected()
            try await caller.turn { link in
                try link.request(EchoMethod.never, Bytes(""), timeout: .seconds(30), context: 1)
                link.shutdown()
                #expect(throws: RTMError.self) {
                    try link.request(EchoMethod.echo, Bytes(""), timeout: .seconds(1), context: 2)
                }
            }
            try await eventually("link down") { fixture.journal.downs.count == 1 }
            #expect(Array(fixture.journal.events.dropFirst()) == [.disconnected(1), .down(.shutDown)])
            try await eventually("the service knows") { server.linkCount == 0 }
            try await caller.turn { link in
                link.shutdown()
                link.start(delegate: Caller(link, journal: fixture.journal))
            }
            #expect(try await caller.turn { $0.downReason } == .shutDown)
        }
    }
}
