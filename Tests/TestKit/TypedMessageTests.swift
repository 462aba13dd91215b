import Foundation
import RTMClient
import RTMModel
import RTMTestKit
import Testing

@Suite("Typed messages")
struct TypedMessageTests {
    private struct Move: Codable, Hashable {
        var from: String
        var to: String
    }

    @Test("a value arrives as it was published, in the sequence of its channel alone")
    func roundTrip() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        var moves = bob.messages(in: "chess").makeAsyncIterator()
        try await bob.subscribe(to: "lobby")
        try await bob.subscribe(to: "chess")
        try await alice.publish("hi", to: .channel("lobby"))
        let move = Move(from: "e2", to: "e4")
        try await alice.publish(json: move, to: .channel("chess"), customType: "move")
        async let arrived = moves.next()
        await world.advance(by: .seconds(1))
        let message = await arrived?.message
        #expect(try message?.decoded(as: Move.self) == move)
        #expect(message?.customType == "move")
        await world.end()
    }

    @Test("a stored message has its text and its value as a live one has")
    func stored() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        let move = Move(from: "e2", to: "e4")
        let first = try await alice.publish(json: move, to: .channel("chess"), storeInHistory: true)
        await world.advance(by: .seconds(1))
        let second = try await alice.publish(Data([1, 2]), to: .channel("chess"), storeInHistory: true)
        let messages = try await alice.history(of: .channel("chess")).messages
        #expect(messages.first?.text == nil && messages.last?.text != nil)
        #expect(try messages.last?.decoded(as: Move.self) == move)
        #expect(throws: DecodingError.self) { try messages.first?.decoded(as: Move.self) }
        #expect(messages.map(\.timestamp) == [second.timestamp, first.timestamp])
        func times(since: Date, before: Date? = nil) async throws -> [Date] {
            var times: [Date] = []
            let found = alice.historyMessages(of: .channel("chess"), since: since, before: before)
            for try await message in found { times.append(message.timestamp) }
            return times
        }
        // The older bound is inclusive, and the newer one is not.
        #expect(try await times(since: first.timestamp) == [second.timestamp, first.timestamp])
        #expect(try await times(since: first.timestamp.addingTimeInterval(0.001)) == [second.timestamp])
        #expect(try await times(since: first.timestamp, before: second.timestamp) == [first.timestamp])
        let error = await #expect(throws: RTMError.self) {
            try await times(since: second.timestamp, before: second.timestamp)
        }
        #expect(error?.code == .historyInvalidTimestamp)
        await world.end()
    }

    @Test("another content, and a value that can't be encoded, are errors")
    func refusals() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        let error = await #expect(throws: RTMError.self) {
            try await alice.publish(json: Double.nan, to: .channel("chess"))
        }
        #expect(error?.code == .invalidParameter)
        await world.end()
    }
}
