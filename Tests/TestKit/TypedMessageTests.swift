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
