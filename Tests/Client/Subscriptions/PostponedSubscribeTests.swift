import RTMClient
import RTMModel
import RTMProtocol
import RTMTestSupport
import Synchronization
import Testing

/// Subscribes that meet a channel whose messaging node is being replaced (M-9).
@Suite(.ends(withinMinutes: 1))
struct PostponedSubscribeTests {
    private static func refuse(_ times: Int) -> FakeEdge.Script {
        let left = Mutex(times)
        return { frame in
            let refuses =
                frame.isSubscribe
                && left.withLock { left in
                    defer { left -= 1 }
                    return left > 0
                }
            guard refuses else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [FakeEdge.refusal(of: frame, .errorChannelSubscribeFailed, retryAfterMs: 20)]
        }
    }

    @Test func `It is sent again until the server can, and the app learns of one success`() async throws {
        try await withClient(Self.refuse(3)) { client, edge in
            try await client.subscribe(to: "lobby")
            #expect(edge.received.filter(\.isSubscribe).count == 4)
            #expect(Set(edge.received.filter(\.isSubscribe).map(\.subscribe)).count == 1)
        }
    }

    @Test func `When the time of the call is over, the app learns why`() async throws {
        let short: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(200) }
        try await withClient(Self.refuse(.max), short) { client, edge in
            let error = await #expect(throws: RTMError.self) { try await client.subscribe(to: "lobby") }
            #expect([.channelSubscribeFailed, .channelSubscribeTimeout].contains(error?.code))
            edge.follow(Self.refuse(0))
            try await client.subscribe(to: "lobby")
        }
    }

    @Test func `Unsubscribing ends it, and nothing is subscribed later`() async throws {
        try await withClient(Self.refuse(.max)) { client, edge in
            let subscribe = Task { try await client.subscribe(to: "lobby") }
            try await eventually("it was refused") { edge.received.contains(where: \.isSubscribe) }
            try await client.unsubscribe(from: "lobby")
            let error = await #expect(throws: RTMError.self) { try await subscribe.value }
            #expect(error?.code == .channelSubscribeFailed)
            edge.follow(Self.refuse(0))
            let count = edge.received.filter(\.isSubscribe).count
            try await client.subscribe(to: "attic")
            #expect(edge.received.filter(\.isSubscribe).count == count + 1)
        }
    }

    @Test func `What waiting can't help is refused at once`() async throws {
        let script: FakeEdge.Script = { frame in
            guard frame.isSubscribe else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [FakeEdge.refusal(of: frame, .errorChannelSubscribeFailed)]
        }
        try await withClient(script) { client, edge in
            await #expect(throws: RTMError.self) { try await client.subscribe(to: "lobby") }
            #expect(edge.received.filter(\.isSubscribe).count == 1)
        }
    }
}
