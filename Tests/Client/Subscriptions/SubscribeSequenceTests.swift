import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

@Suite("The sequence that subscribe returns", .ends(withinMinutes: 1))
struct SubscribeSequenceTests {
    private static func gap(_ channel: String) -> Rtm_Client_ServerFrame {
        .with {
            $0.gap.channelType = .message
            $0.gap.channel = channel
            $0.gap.position = .with { ($0.epoch, $0.offset) = (1, 5) }
        }
    }

    /// Answers a subscribe, and sends in the same write what is published at that moment.
    private static func eager(_ frame: Rtm_Client_ClientFrame) -> [Rtm_Client_ServerFrame] {
        guard let answer = FakeEdge.usual(frame) else { return [] }
        guard case .subscribe(let subscribe) = frame.body else { return [answer] }
        return [
            answer, FakeEdge.publication(subscribe.channel, offset: 1, text: "1"), gap(subscribe.channel),
            FakeEdge.publication(subscribe.channel, offset: 6, text: "6"),
        ]
    }

    @Test("M-4: it has what comes together with the server's answer, and what is missing in its place")
    func nothingBetween() async throws {
        try await withClient(Self.eager) { client, edge in
            let messages = try await client.subscribe(to: "lobby")
            #expect(messages.channelName == "lobby" && messages.features == .default)
            #expect(messages.position == StreamPosition(epoch: 1, offset: 0))
            // All has come when the answer to a later request has.
            _ = try await client.whoNow(in: "lobby")
            var iterator = messages.makeAsyncIterator()
            #expect(await iterator.next()?.message?.text == "1")
            guard case .missing(.gap(let gap)) = await iterator.next() else {
                Issue.record("no gap")
                return
            }
            #expect(gap.channelName == "lobby" && gap.continuesAfter.offset == 5)
            #expect(await iterator.next()?.message?.text == "6")
        }
    }

    @Test("M-5: leaving the loop ends nothing, and a second subscribe makes a sequence of its own")
    func leaving() async throws {
        try await withClient { client, edge in
            for await _ in try await first(of: client, edge) { break }
            let again = try await client.subscribe(to: "lobby", features: .message)
            #expect(edge.received.count(where: \.isUnsubscribe) == 0)
            edge.push([FakeEdge.publication("lobby", offset: 2, text: "2")])
            var iterator = again.makeAsyncIterator()
            #expect(await iterator.next()?.message?.text == "2")
            // It outlives the subscription, for the next one.
            try await client.unsubscribe(from: "lobby")
            try await client.subscribe(to: "lobby")
            edge.push([FakeEdge.publication("lobby", offset: 3, text: "3")])
            #expect(await iterator.next()?.message?.text == "3")
            await client.close()
            #expect(await iterator.next() == nil)
        }
    }

    private func first(of client: RTMClient, _ edge: FakeEdge) async throws -> ChannelSubscription {
        let messages = try await client.subscribe(to: "lobby")
        edge.push([FakeEdge.publication("lobby", offset: 1, text: "1")])
        return messages
    }

    @Test("a subscribe whose result isn't used keeps no buffer")
    func unused() async throws {
        try await withClient { client, _ in
            let before = client.hub.consumerCount
            try await client.subscribe(to: "lobby")
            #expect(client.hub.consumerCount == before)
            let kept = try await client.subscribe(to: "lobby")
            #expect(client.hub.consumerCount == before + 1)
            withExtendedLifetime(kept) {}
        }
    }
}
