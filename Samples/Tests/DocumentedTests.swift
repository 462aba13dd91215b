import RTMClient
import RTMTestKit
import Testing

@Test("what was published while bob had no network reaches him afterwards")
func noNetwork() async throws {
    let world = try await TestWorld()
    let alice = try await world.client("alice")
    let bob = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "bob"))
    try await bob.login()
    var messages = try await bob.subscribe(to: "lobby").makeAsyncIterator()

    await world.cut("bob")
    await world.advance(by: .seconds(60))
    try await alice.publish("hi", to: .channel("lobby"))
    await world.mend("bob")

    #expect(await world.advance(upTo: .seconds(60)) { bob.linkState == .connected })
    #expect(await messages.next()?.message?.text == "hi")
    await world.end()
}
