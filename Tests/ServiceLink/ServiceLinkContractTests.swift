import NIOCore
import RTMModel
import RTMServiceLink
import RTMTestSupport
import Testing

/// What a link promises, whatever carries it.
@Suite struct ServiceLinkContractTests {
    @Test(
        "a caller meets the service it expects and learns its incarnation", arguments: TransportKind.allCases)
    func handshake(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (server, caller) = try await fixture.connected()
            let incarnation = server.configuration.incarnation
            #expect(
                fixture.journal.ups == [
                    ServiceLinkPeer(incarnation: incarnation, isFirst: true, hasChanged: false)
                ])
            #expect(fixture.visits.now.opened == ["tester"])
            #expect(server.linkCount == 1)
            #expect(try await caller.turn { $0.isUp && $0.downReason == nil })
        }
    }

    @Test(
        "10,000 requests in flight are all answered, in order, with few writes",
        arguments: TransportKind.allCases)
    func manyInFlight(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            let before = try await caller.counters.writes
            try await caller.turn { link in
                for number in 0..<10_000 {
                    try link.request(EchoMethod.echo, Bytes(number), timeout: .seconds(30), context: number)
                }
                #expect(link.openRequests == 10_000)
            }
            try await eventually("all answers") { fixture.journal.answers.count == 10_000 }
            #expect(fixture.journal.answers == (0..<10_000).map { .response($0, Bytes($0)) })
            let counters = try await caller.counters
            #expect(counters.requests == 10_000 && counters.responses == 10_000)
            #expect(counters.writes - before < 20)
        }
    }

    @Test("10,000 pushes of one turn arrive in order and cause few writes", arguments: TransportKind.allCases)
    func pushes(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            let before = try await caller.counters.writes
            try await caller.turn { link in
                for number in 0..<10_000 { #expect(link.push(1, Bytes(number))) }
            }
            try await eventually("all pushes") { fixture.visits.now.pushes.count == 10_000 }
            #expect(fixture.visits.now.pushes == (0..<10_000).map { Bytes($0) })
            #expect(try await caller.counters.writes - before < 20)
        }
    }

    @Test(
        "pushes and responses arrive in the order in which they were sent", arguments: TransportKind.allCases)
    func interleaved(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            for start in stride(from: 0, to: 1000, by: 100) {
                try await caller.turn { link in
                    for number in start..<start + 100 {
                        try link.request(
                            EchoMethod.pushAndEcho, Bytes(number), timeout: .seconds(30), context: number)
                    }
                }
            }
            try await eventually("all answers") { fixture.journal.answers.count == 2000 }
            let expected = (0..<1000).flatMap { number -> [CallerEvent] in
                [.push(EchoMethod.pushAndEcho, Bytes(number)), .response(number, Bytes(number))]
            }
            #expect(fixture.journal.answers == expected)
        }
    }

    @Test("bodies of any length pass unchanged", arguments: TransportKind.allCases)
    func lengths(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            let pattern = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }
            let lengths = [0, 1, 127, 128, 16_383, 16_384, 65_536, 300_000, 1_000_000]
            for length in lengths {
                let body = Bytes(Array(pattern.prefix(length)))
                try await caller.request(EchoMethod.echo, body, timeout: .seconds(60), context: length)
            }
            try await eventually("all answers", within: .seconds(30)) {
                fixture.journal.answers.count == lengths.count
            }
            for (event, length) in zip(fixture.journal.answers, lengths) {
                guard case .response(length, let body) = event else {
                    Issue.record("another answer for \(length) bytes")
                    return
                }
                #expect(body.bytes == Array(pattern.prefix(length)))
            }
        }
    }

    @Test(
        "a refusal arrives with code, reason, retry time and limit (S-0a)", arguments: TransportKind.allCases)
    func failure(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.request(EchoMethod.fail, Bytes(""), context: 5)
            try await eventually("the answer") { !fixture.journal.answers.isEmpty }
            #expect(fixture.journal.answers == [.failed(5, EchoService.error)])
        }
    }

    @Test("what is left of the deadline travels with the request", arguments: TransportKind.allCases)
    func remainingTimeout(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.request(EchoMethod.timeout, Bytes(""), timeout: .milliseconds(7500))
            try await eventually("the answer") { !fixture.journal.answers.isEmpty }
            #expect(fixture.journal.answers == [.response(0, Bytes("7500.0"))])
        }
    }

    @Test(
        "a deadline completes its request once, and a later answer is dropped",
        arguments: TransportKind.allCases)
    func deadline(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let (_, caller) = try await fixture.connected()
            try await caller.request(EchoMethod.never, Bytes(""), timeout: .milliseconds(40), context: 1)
            try await caller.request(EchoMethod.later, Bytes(300), timeout: .milliseconds(10), context: 2)
            try await caller.request(EchoMethod.echo, Bytes("x"), context: 3)
            try await eventually("the late answer") { try await caller.counters.responsesTooLate == 1 }
            try await eventually("the deadlines") { fixture.journal.answers.count == 3 }
            #expect(Set(fixture.journal.answers) == [.response(3, Bytes("x")), .timedOut(2), .timedOut(1)])
            #expect(try await caller.turn { $0.openRequests } == 0)
            #expect(try await caller.counters.timeouts == 2)
        }
    }

    @Test("one request too many is refused by the named limit", arguments: TransportKind.allCases)
    func openRequestsLimit(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.client.openRequestsMax = 3
        } _: { fixture in
            let (_, caller) = try await fixture.connected()
            for number in 0..<3 { try await caller.request(EchoMethod.never, Bytes(""), context: number) }
            let error = await #expect(throws: RTMError.self) {
                try await caller.request(EchoMethod.echo, Bytes(""), context: 3)
            }
            #expect(error?.code == .operationRateExceedLimitation)
            #expect(error?.limit == .init(name: "open requests", value: 3))
        }
    }

    @Test(
        "what is too long for a frame is refused on either side and hurts nobody",
        arguments: TransportKind.allCases)
    func tooLong(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) {
            $0.client.link.frameBytesMax = 1000
            $0.server.link.frameBytesMax = 1000
        } _: { fixture in
            let (_, caller) = try await fixture.connected()
            let long = Bytes([UInt8](repeating: 1, count: 1001))
            let error = await #expect(throws: RTMError.self) {
                try await caller.request(EchoMethod.echo, long)
            }
            #expect(error?.code == .invalidParameter && error?.limit?.value == 1000)
            #expect(try await caller.turn { $0.push(1, long) } == false)
            try await caller.request(EchoMethod.largePush, Bytes(5000))
            try await caller.request(EchoMethod.large, Bytes(5000), context: 1)
            try await caller.request(EchoMethod.echo, Bytes("still here"), context: 2)
            try await eventually("the answers") { fixture.journal.answers.count == 2 }
            guard case .failed(1, let refusal) = fixture.journal.answers[0] else {
                Issue.record("the long response was not refused")
                return
            }
            #expect(refusal.code == .invalidParameter && refusal.limit?.value == 1000)
            #expect(fixture.journal.answers[1] == .response(2, Bytes("still here")))
        }
    }
}
