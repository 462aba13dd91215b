import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// A process dies and comes back: every client reconnects by itself, and losses are reported.
@Suite(.serialized) struct RestartTests {
    @Test(
        "An edge is killed: clients come back, and receive what was published meanwhile, in order, once (S-19, S-20, M-25)"
    )
    func edge() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let bob = try system.client("bob")
            try await bob.login()
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby", features: .message)
            // Alice uses an edge of her own, which survives.
            let first = system.address("edge")
            try await system.launchEdge()
            let alice = try system.client("alice")
            try await alice.login()
            try await alice.publish("before", to: .channel("lobby"))
            #expect(await received.nextMessage()?.payload == .text("before"))

            let old = try system.firstEdge()
            try await old.kill9()
            for number in 0..<100 { try await alice.publish("\(number)", to: .channel("lobby")) }
            try await system.launchEdge(listen: first)
            for number in 0..<100 {
                #expect(await received.nextMessage()?.payload == .text("\(number)"))
            }
            try await alice.publish("after", to: .channel("lobby"))
            #expect(await received.nextMessage()?.payload == .text("after"))
            await alice.close()
            await bob.close()
        }
    }

    @Test("Messaging is killed: the edge attaches again, subscribers are told of the gap, and messages flow")
    func messaging() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.withClients("alice", "bob") { clients in
                let (alice, bob) = (clients[0], clients[1])
                var received = bob.events().makeAsyncIterator()
                try await bob.subscribe(to: "lobby", features: .message)
                try await alice.publish("before", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("before"))
                try await system.restart("messaging")
                // Messages to Bob may have been lost just as well (M-38).
                var gaps: Set<String> = []
                while gaps.count < 2 { gaps.insert(try #require(await received.nextGap()).channelName) }
                #expect(gaps == ["bob", "lobby"])
                // The record of the client has both, which rtm doctor explains.
                let record = await bob.flightRecord().entries.filter { $0.kind == .gap }
                #expect(Set(record.map(\.name)) == ["message", "user"] && record.count == 2)
                try await alice.publish("after", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("after"))
                try await alice.publish("to you", to: .user("bob"))
                #expect(await received.nextMessage()?.payload == .text("to you"))
            }
        }
    }

    @Test("S-14, M-38: a whole server is restarted: back soon, with a gap of each channel and of the inbox")
    func standalone() async throws {
        try await RunningSystem.with(.standalone) { system in
            let bob = try system.client("bob") { $0.timing = .init() }
            try await bob.login()
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby", features: .message)
            let listen = system.address("edge")
            try await system.process("rtm-standalone").kill9()
            try await eventually("it is lost") { bob.linkState != .connected }
            // The first attempt, two seconds after the loss, is refused.
            try await eventually("an attempt was refused", within: .seconds(10)) {
                await bob.flightRecord().entries.count { $0.kind == .link && $0.name == "connecting" } >= 2
            }
            try await system.launch(
                "rtm-standalone",
                [
                    "--listen", listen, "--gateway-listen", "127.0.0.1:0",
                    "--edge-web-socket-listen", "127.0.0.1:0",
                ])
            var gaps: Set<String> = []
            while gaps.count < 2 { gaps.insert(try #require(await received.nextGap()).channelName) }
            #expect(gaps == ["bob", "lobby"])
            #expect(await received.nextLinkState(.connected)?.isResumed == false)
            await bob.close()
        }
    }

    @Test("While messaging is away calls are refused with their codes, and the edge says that it isn't ready")
    func messagingAway() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.withClients("alice") { clients in
                try await system.process("rtm-messaging").kill9()
                let ready = "http://\(system.address("rtm-edge admin"))/ready"
                try await eventually("the edge notices") { try await system.get(ready).status == 503 }
                // The client's own loop of the edge may notice it later than the first one.
                try await eventually("a publish is refused at once") {
                    await code { try await clients[0].publish("x", to: .channel("lobby")) }
                        == .channelPublishMessageFailed
                }
                let subscribe = await code { try await clients[0].subscribe(to: "lobby") }
                #expect(subscribe == .channelSubscribeFailed)
                try await system.launch("rtm-messaging", ["--listen", system.address("messaging")])
                try await system.ready()
                try await eventually("messages flow again") {
                    (try? await clients[0].publish("x", to: .channel("lobby"))) != nil
                }
            }
        }
    }

    @Test("An edge whose links are up is not ready while nothing that it publishes comes back")
    func canary() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let messaging = try system.process("rtm-messaging")
            messaging.signal(SIGSTOP)
            let ready = "http://\(system.address("rtm-edge admin"))/ready"
            try await eventually("the edge hears that it hears nothing") {
                let answer = try await system.get(ready)
                return answer.status == 503 && answer.body.contains("don't come back")
            }
            messaging.signal(SIGCONT)
            try await system.ready()
        }
    }

    @Test("Presence or storage away: messages flow, and what is missing is said")
    func othersAway() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.process("rtm-presence").kill9()
            try await system.process("rtm-storage").kill9()
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                let subscription = try await clients[1].subscribe(to: "lobby")
                #expect(subscription.unavailableFeatures == .presence)
                try await clients[0].publish("still", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("still"))
            }
        }
    }

    @Test(
        "SIGTERM drains: clients are sent away with advice, the process exits with 0",
        arguments: Deployment.allCases)
    func drain(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            let alice = try system.client("alice")
            try await alice.login()
            var received = alice.events().makeAsyncIterator()
            let process = try system.process(deployment == .standalone ? "rtm-standalone" : "rtm-edge")
            process.signal(SIGTERM)
            #expect(await received.nextLinkState(.disconnected) != nil)
            #expect(try await process.exit() == 0)
            await alice.close()
        }
    }
}

extension RunningSystem {
    fileprivate func firstEdge() throws -> ServiceProcess { try process("rtm-edge", first: true) }
}
