import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// Limits that an operator has changed, and default rates, as a client meets them.
@Suite(.serialized) struct ConfiguredLimitTests {
    @Test(
        "L-24: as many channels as the operator allows, be it more or fewer than usual", arguments: [3, 60])
    func subscriptions(_ countMax: Int) async throws {
        let limit = ["--edge-subscriptions-max", "\(countMax)", "--edge-rates-calls", "0"]
        try await RunningSystem.with(.standalone, edge: limit) { system in
            try await system.withClients("alice") { clients in
                let alice = clients[0]
                for number in 1...countMax {
                    try await alice.subscribe(to: "room\(number)", features: .message)
                }
                let refusal = await #expect(throws: RTMError.self) {
                    try await alice.subscribe(to: "one more", features: .message)
                }
                #expect(refusal?.code == .channelSubscribeFailed)
                #expect(refusal?.limit == .init(name: "subscribed channels", value: UInt64(countMax)))
                try await alice.unsubscribe(from: "room1")
                try await alice.subscribe(to: "one more", features: .message)
            }
        }
    }

    @Test("R-9, T7: a network that changes ten times at once brings no session to its end")
    func networkChanges() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-login", "2"]) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                try await bob.subscribe(to: "lobby", features: .message)
                var received = bob.events().makeAsyncIterator()
                for _ in 0..<10 {
                    bob.networkChanged()
                    try await eventually("the server has judged the attempt") {
                        bob.linkState != .connecting
                    }
                    try #require(bob.linkState != .failed)
                }
                try await eventually("it is back") { bob.linkState == .connected }
                try await alice.publish("still here", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("still here"))
            }
        }
    }
}
