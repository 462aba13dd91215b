import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// What `messaging.durability` asks of Redis beyond its memory.
@Suite(.serialized) struct DurabilityTests {
    private func with(
        _ durability: String, _ body: (RunningSystem, [RedisNode]) async throws -> Void
    ) async throws {
        try await RedisSentinelProcess.with { process in
            let master = try process.master()
            try await RunningSystem.with(
                .fourProcesses,
                messaging: [
                    "--redis-endpoints", "127.0.0.1:\(master.port)", "--durability", durability,
                ]
            ) { system in
                try await body(system, process.servers.filter { $0.port != master.port })
            }
        }
    }

    private func readiness(_ system: RunningSystem) async throws -> String {
        let admin = try #require(try await system.process("rtm-messaging").listening()["admin"])
        return try await system.get("http://\(admin)/ready").body
    }

    @Test(
        "Redis and the leading node die together: a gap is told, or nothing is lost, as the operator chose",
        arguments: ["journal", "replica"])
    func both(durability: String) async throws {
        try await RedisSentinelProcess.with { process in
            let options = process.clientOptions + ["--durability", durability]
            try await RunningSystem.with(.fourProcesses, messaging: options) { system in
                let (alice, bob) = (try system.client("alice"), try system.client("bob"))
                for client in [alice, bob] { try await client.login() }
                try await bob.subscribe(to: "lobby", features: .message)
                var received = bob.events().makeAsyncIterator()
                try await alice.publish("first", to: .channel("lobby"))
                #expect(await received.nextText() == "first")
                let node = try system.process("rtm-messaging")
                node.signal(SIGSTOP)
                let old = try process.master()
                old.end()
                try await node.kill9()
                try await system.launchMessaging(listen: system.address("messaging"))
                try await eventually("the replica is the master", within: .seconds(60)) {
                    try process.master().port != old.port
                }
                // The new master needs a replica of its own before anything is acknowledged again.
                try await process.withReplica { try await Self.messagesFlow(from: alice) }
                let gaps = await received.gapsBeforeAfter()
                #expect((gaps > 0) == (durability == "journal"))
                for client in [alice, bob] { await client.close() }
            }
        }
    }

    @Test("replica: a master that comes back over an older snapshot isn't believed, and the gap is reported")
    func olderSnapshot() async throws {
        try await RedisSentinelProcess.with { process in
            let options = process.clientOptions + ["--durability", "replica"]
            try await RunningSystem.with(.fourProcesses, messaging: options) { system in
                let (alice, bob) = (try system.client("alice"), try system.client("bob"))
                for client in [alice, bob] { try await client.login() }
                try await bob.subscribe(to: "lobby", features: .message)
                var received = bob.events().makeAsyncIterator()
                try await alice.publish("saved", to: .channel("lobby"))
                let master = try process.master()
                try master.command("SAVE")
                try await alice.publish("confirmed by the replica", to: .channel("lobby"))
                let node = try system.process("rtm-messaging")
                node.signal(SIGSTOP)
                try await process.restart(master)
                try await node.kill9()
                try await system.launchMessaging(listen: system.address("messaging"))
                try await Self.messagesFlow(from: alice)
                #expect(await received.gapsBeforeAfter() == 1)
                for client in [alice, bob] { await client.close() }
            }
        }
    }

    /// The last message is "after".
    private static func messagesFlow(from client: RTMClient) async throws {
        try await eventually("messages flow again", within: .seconds(60)) {
            (try? await client.publish("after", to: .channel("lobby"))) != nil
        }
    }

    @Test("replica: a message is acknowledged and delivered when a replica of Redis has it, and not before")
    func replica() async throws {
        try await with("replica") { system, replicas in
            let alice = try system.client("alice") { $0.requestTimeout = .seconds(60) }
            let bob = try system.client("bob")
            for client in [alice, bob] { try await client.login() }
            try await bob.subscribe(to: "lobby", features: .message)
            var received = bob.events().makeAsyncIterator()
            try await alice.publish("first", to: .channel("lobby"))
            #expect(await received.nextText() == "first")
            for replica in replicas { replica.pause() }
            let isAnswered = Shared(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await alice.publish("second", to: .channel("lobby"))
                    isAnswered.withLock { $0 = true }
                }
                try await eventually("the node says what is missing") {
                    try await readiness(system).contains("no replica of Redis has the newest batch")
                }
                #expect(!isAnswered.present)
                for replica in replicas { replica.resume() }
                try await group.waitForAll()
            }
            #expect(await received.nextText() == "second")
            try await eventually("the node is ready again") {
                try await readiness(system).hasPrefix("{\"ready\":true")
            }
            for client in [alice, bob] { await client.close() }
        }
    }
}

extension AsyncIteratorProtocol where Element == RTMEvent, Failure == Never {
    /// How many gaps of the lobby are reported before the message "after".
    fileprivate mutating func gapsBeforeAfter() async -> Int {
        var gaps = 0
        while let event = await next(isolation: #isolation) {
            if case .gap(let gap) = event, gap.channelName == "lobby" { gaps += 1 }
            if case .message(let message) = event, message.payload == .text("after") { break }
        }
        return gaps
    }

    /// The text of the next message.
    fileprivate mutating func nextText() async -> String? {
        while let event = await next(isolation: #isolation) {
            if case .message(let message) = event, case .text(let text) = message.payload { return text }
        }
        return nil
    }
}
