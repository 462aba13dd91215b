import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// The rates of behaviour.md 1.3 as a client meets them. Tests/Edge/RateTests tests the buckets.
@Suite(.serialized) struct RateLimitTests {
    @Test("R-2: the message too many is refused with the limit and a time to wait, and reaches nobody")
    func publish() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-publish", "5"]) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                var received = bob.events().makeAsyncIterator()
                try await bob.subscribe(to: "lobby", features: .message)
                var accepted: [String] = []
                var refusals: [RTMError] = []
                // Publishes as fast as possible, until one message is refused and a later one is accepted
                // again.
                var number = 0
                while refusals.isEmpty || accepted.last != "\(number - 1)" {
                    do throws(RTMError) {
                        try await alice.publish("\(number)", to: .channel("lobby"))
                        accepted.append("\(number)")
                    } catch {
                        refusals.append(error)
                    }
                    number += 1
                }
                let refusal = try #require(refusals.first)
                #expect(refusal.code == .channelPublishMessageTooFrequent)
                // At 5 per second, one becomes available every 200 ms.
                let wait = try #require(refusal.retryAfter)
                #expect(wait > .zero && wait <= .milliseconds(201))
                #expect(refusal.limit == .init(name: "messages per second", value: 5))
                for text in accepted {
                    #expect(try #require(await received.nextMessage()).payload == .text(text))
                }
            }
        }
    }

    @Test("R-2: a client that paces itself is refused nothing, however fast its app publishes")
    func paced() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-publish", "20"]) { system in
            let client = try system.client("alice") { $0.pacesPublishes = true }
            try await client.login()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask { try await client.publish("\(number)", to: .channel("lobby")) }
                }
                try await group.waitForAll()
            }
            await client.close()
        }
    }

    @Test("R-5: a third subscribe to the same channel within five seconds is refused")
    func subscribe() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-subscribe", "2"]) { system in
            try await system.withClients("alice") { clients in
                let alice = clients[0]
                for _ in 0..<2 {
                    try await alice.subscribe(to: "lobby", features: .message)
                    try await alice.unsubscribe(from: "lobby")
                }
                let refusal = await #expect(throws: RTMError.self) {
                    try await alice.subscribe(to: "lobby", features: .message)
                }
                #expect(refusal?.code == .channelSubscribeTooFrequent)
                #expect(refusal?.limit == .init(name: "subscribes in five seconds", value: 2))
                let wait = try #require(refusal?.retryAfter)
                #expect(wait > .zero && wait <= .seconds(5))
                try await alice.subscribe(to: "hall", features: .message)
            }
        }
    }
}
