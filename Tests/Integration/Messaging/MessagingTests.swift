import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// The main task, through real processes and the client library.
@Suite(.serialized) struct MessagingTests {
    @Test(
        "Two users log in, subscribe, publish and receive (M-20, M-21, M-22, M-23, M-24)",
        arguments: Deployment.allCases)
    func mainJob(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                var received = bob.events().makeAsyncIterator()
                try await bob.subscribe(to: "lobby")
                let text = try await alice.publish("hello", to: .channel("lobby"), customType: "greeting")
                let data = try await alice.publish(Data([0, 255, 7]), to: .channel("lobby"))

                let first = try #require(await received.nextMessage())
                #expect(first.payload == .text("hello"))
                #expect(first.publisher == "alice")
                #expect(first.channelName == "lobby")
                #expect(first.channelType == .message)
                #expect(first.customType == "greeting")
                #expect(first.timestampMilliseconds == text.timestampMilliseconds)
                let second = try #require(await received.nextMessage())
                #expect(second.payload == .data(Data([0, 255, 7])))
                #expect(second.customType == "")
                #expect(second.timestampMilliseconds == data.timestampMilliseconds)
                #expect(second.timestampMilliseconds > first.timestampMilliseconds)
            }
        }
    }

    @Test(
        "Thousands of messages: none lost, none twice, one order for all (M-24, M-25)",
        arguments: Deployment.allCases)
    func thousands(_ deployment: Deployment) async throws {
        let perPublisher = 1_500
        try await RunningSystem.with(deployment) { system in
            try await system.withClients("alice", "bob", "carol", "dave") { clients in
                let (publishers, readers) = (clients[..<2], clients[2...])
                let events = readers.map { $0.events(buffering: .dropOldest(capacity: 10_000)) }
                for reader in readers { try await reader.subscribe(to: "flood", features: .message) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for publisher in publishers {
                        group.addTask {
                            // 32 at a time, so that both order and concurrency are tested.
                            for start in stride(from: 0, to: perPublisher, by: 32) {
                                try await Self.publish(start..<min(start + 32, perPublisher), by: publisher)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                var orders: [[String]] = []
                for sequence in events {
                    var order: [String] = []
                    var last = (time: UInt64(0), order: UInt32(0))
                    var iterator = sequence.makeAsyncIterator()
                    while order.count < perPublisher * 2 {
                        let message = try #require(await iterator.nextMessage())
                        let place = (time: message.timestampMilliseconds, order: message.order)
                        #expect(place > last)
                        last = place
                        order.append("\(message.publisher) \(message.payload)")
                    }
                    orders.append(order)
                }
                #expect(orders[0] == orders[1])
                #expect(Set(orders[0]).count == perPublisher * 2)
            }
        }
    }

    private static func publish(_ numbers: Range<Int>, by publisher: RTMClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in numbers {
                group.addTask { try await publisher.publish("\(number)", to: .channel("flood")) }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "A publisher doesn't receive its own message, its inbox excepted (M-21, M-33)",
        arguments: Deployment.allCases)
    func ownMessages(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                var received = alice.events().makeAsyncIterator()
                try await alice.subscribe(to: "lobby")
                try await alice.publish("mine", to: .channel("lobby"))
                try await bob.publish("yours", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("yours"))
                try await alice.publish("note to self", to: .user("alice"))
                let note = try #require(await received.nextMessage())
                #expect(note.payload == .text("note to self"))
                #expect(note.channelType == .user)
                #expect(note.channelName == "alice")
            }
        }
    }

    @Test(
        "A message to a user needs no subscription; offline is -11033 (M-30, M-31)",
        arguments: Deployment.allCases)
    func users(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[0].publish("psst", to: .user("bob"))
                let message = try #require(await received.nextMessage())
                #expect(message.publisher == "alice")
                #expect(message.channelType == .user)
                let refused = await code { try await clients[0].publish("anyone?", to: .user("carol")) }
                #expect(refused == .channelReceiverOffline)
                try await clients[1].logout()
                // Bob's edge and Alice's loop learn of it on different ways.
                try await eventually("bob is offline") {
                    await code { try await clients[0].publish("still there?", to: .user("bob")) }
                        == .channelReceiverOffline
                }
            }
        }
    }

    @Test("Storing has its own codes, for a receiver who is offline and for lost storage (M-27, M-32)")
    func history() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                var received = bob.events().makeAsyncIterator()
                try await bob.subscribe(to: "lobby", features: .message)
                try await alice.publish("kept", to: .channel("lobby"), storeInHistory: true)
                #expect(await received.nextMessage()?.payload == .text("kept"))
                let offline = await code {
                    try await alice.publish("for later", to: .user("carol"), storeInHistory: true)
                }
                #expect(offline == .channelReceiverOfflineButMessageStoreSucceeded)

                try await system.process("rtm-storage").kill9()
                let delivered = await code {
                    try await alice.publish("lost?", to: .channel("lobby"), storeInHistory: true)
                }
                #expect(delivered == .channelMessageDeliveredButStoreFailed)
                #expect(await received.nextMessage()?.payload == .text("lost?"))
                let neither = await code {
                    try await alice.publish("lost?", to: .user("carol"), storeInHistory: true)
                }
                #expect(neither == .channelReceiverOfflineAndMessageStoreFailed)
            }
        }
    }

    @Test(
        "After unsubscribe nothing comes; features select events (M-2, M-6)", arguments: Deployment.allCases)
    func unsubscribe(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                var received = bob.events().makeAsyncIterator()
                try await bob.subscribe(to: "a", features: .message)
                try await bob.subscribe(to: "quiet", features: .presence)
                try await bob.subscribe(to: "b", features: .message)
                try await bob.unsubscribe(from: "a")
                try await alice.publish("1", to: .channel("a"))
                try await alice.publish("2", to: .channel("quiet"))
                try await alice.publish("3", to: .channel("b"))
                #expect(await received.nextMessage()?.payload == .text("3"))
                #expect(await code { try await bob.unsubscribe(from: "a") } == .channelNotSubscribed)
            }
        }
    }

    @Test("Users on two edges talk to each other")
    func twoEdges() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let alice = try system.client("alice")
            try await alice.login()
            try await system.launchEdge()
            let bob = try system.client("bob")
            try await bob.login()
            var received = alice.events().makeAsyncIterator()
            try await alice.subscribe(to: "lobby")
            try await bob.publish("over there", to: .channel("lobby"))
            #expect(await received.nextMessage()?.payload == .text("over there"))
            try await bob.publish("and you", to: .user("alice"))
            #expect(await received.nextMessage()?.payload == .text("and you"))
            await alice.close()
            await bob.close()
        }
    }
}
