import RTMClient
import RTMModel
import RTMTestKit
import RTMTestSupport
import Testing

/// What an app may publish again although it doesn't know what became of it (M-42).
@Suite("A publish with an id", .ends(withinMinutes: 1))
struct PublishIDTests {
    @Test("M-42: a message with an id is published once, by whichever client of the user")
    func once() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        var received = bob.messages(in: "bank").makeAsyncIterator()
        try await bob.subscribe(to: "bank")
        let first = try await alice.publish("10 to bob", to: .channel("bank"), id: "payment-17")
        #expect(try await alice.publish("10 to bob", to: .channel("bank"), id: "payment-17") == first)
        await world.disconnect("alice")
        #expect(await world.advance(upTo: .seconds(10)) { alice.linkState == .connected })
        #expect(try await alice.publish("10 to bob", to: .channel("bank"), id: "payment-17") == first)
        await alice.close()
        let again = try await world.client("alice")
        #expect(try await again.publish("10 to bob", to: .channel("bank"), id: "payment-17") == first)
        try await again.publish("5 to bob", to: .channel("bank"), id: "payment-18")
        #expect(await received.next()?.message?.payload == .text("10 to bob"))
        #expect(await received.next()?.message?.payload == .text("5 to bob"))
        await world.end()
    }

    @Test("M-26, M-42: what nobody knows is not retryable, and is repeated safely with its id")
    func unknown() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        var received = bob.messages(in: "bank").makeAsyncIterator()
        try await bob.subscribe(to: "bank")
        // The message arrives, and its answer comes too late.
        await world.delay("alice", by: .seconds(6))
        let payment = Task { () -> RTMError? in
            do throws(RTMError) {
                try await alice.publish("10 to bob", to: .channel("bank"), id: "payment-17")
                return nil
            } catch {
                return error
            }
        }
        await world.advance(by: .seconds(15))
        let error = await payment.value
        #expect(error?.outcome == .unknown)
        #expect(error?.isRetryable == false)
        await world.delay("alice", by: .zero)
        #expect(await world.advance(upTo: .seconds(60)) { alice.linkState == .connected })
        try await alice.publish("10 to bob", to: .channel("bank"), id: "payment-17")
        try await alice.publish("end", to: .channel("bank"))
        #expect(await received.next()?.message?.payload == .text("10 to bob"))
        #expect(await received.next()?.message?.payload == .text("end"))
        await world.end()
    }

    @Test("an id that can't be sent is refused")
    func refusals() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        for id in ["", "two words", "é", String(repeating: "x", count: 256)] {
            let error = await #expect(throws: RTMError.self) {
                try await alice.publish("x", to: .channel("bank"), id: id)
            }
            #expect(error?.code == .invalidParameter)
        }
        await world.end()
    }
}
