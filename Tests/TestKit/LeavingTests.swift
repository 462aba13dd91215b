import RTMClient
import RTMModel
import RTMTestKit
import RTMTestSupport
import Testing

/// Who has left a channel isn't seen there any more, whatever the network did meanwhile.
@Suite("Leaving without a network", .ends(withinMinutes: 1))
struct LeavingTests {
    private func users(_ client: RTMClient, _ channel: String = "lobby") async -> [String]? {
        try? await client.whoNow(in: channel).users.map(\.userID).sorted()
    }

    @Test(
        "M-6, S-16: a channel that is left without a connection is left on the server when the link is back")
    func unsubscribedAway() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        for client in [alice, bob] { try await client.subscribe(to: "lobby") }
        try await alice.subscribe(to: "hall")
        await world.cut("alice")
        await world.advance(by: .seconds(20))
        #expect(alice.linkState != .connected)
        try await alice.unsubscribe(from: "lobby")
        await world.mend("alice")
        #expect(await world.advance(upTo: .seconds(40)) { alice.linkState == .connected })
        #expect(await world.advance(upTo: .seconds(5)) { await users(bob) == ["bob"] })
        #expect(await users(bob, "hall") == ["alice"])
        // Nothing remains that would end what is subscribed anew.
        try await alice.subscribe(to: "lobby")
        await world.disconnect("alice")
        await world.advance(by: .seconds(10))
        #expect(await users(bob) == ["alice", "bob"])
        await world.end()
    }

    @Test("M-6, S-16: so is a channel whose unsubscribe was lost with its connection")
    func unsubscribeLost() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        for client in [alice, bob] { try await client.subscribe(to: "lobby") }
        await world.cut("alice")
        #expect(alice.linkState == .connected)
        let leaving = Task { try? await alice.unsubscribe(from: "lobby") }
        await world.advance(by: .seconds(30))
        await leaving.value
        await world.mend("alice")
        #expect(await world.advance(upTo: .seconds(40)) { alice.linkState == .connected })
        #expect(await world.advance(upTo: .seconds(5)) { await users(bob) == ["bob"] })
        await world.end()
    }
}
