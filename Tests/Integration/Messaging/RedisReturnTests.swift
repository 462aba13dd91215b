import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// A Redis that goes back in time without a restart: a master that was replaced is the master again, the same
/// process with the data from before. The sentinels come late, and until they do it takes writes.
@Suite(.serialized) struct RedisReturnTests {
    private static let shards = 6
    private static let rooms = (0..<8).map { "room \($0)" }

    @Test(
        "Two failovers one after the other: nobody misses an acknowledged message, and nobody gets a gap",
        .ends(withinMinutes: 4))
    func twice() async throws {
        try await Self.run { redis in
            let first = try redis.master()
            try await redis.chooseOther()
            await letPass(.seconds(7))
            try await redis.chooseOther()
            #expect(try redis.master().port == first.port)
        }
    }

    @Test(
        "A master stands still, wakes after its replica took over, and is chosen when that one dies: no gap",
        .ends(withinMinutes: 4))
    func woken() async throws {
        try await Self.run { redis in
            let first = try redis.master()
            first.pause()
            try await redis.isMaster(otherThan: first)
            await letPass(.seconds(3))
            first.resume()
            await letPass(.seconds(4))
            let second = try redis.master()
            second.end()
            try await redis.isMaster(otherThan: second)
        }
    }

    /// Three nodes, a publisher that never pauses, and a subscriber; meanwhile something happens to Redis.
    private static func run(_ event: (RedisSentinelProcess) async throws -> Void) async throws {
        try await RedisSentinelProcess.with { redis in
            try await RunningSystem.with(
                .fourProcesses, messaging: redis.clientOptions + ["--shards", "\(shards)"],
                messagingNodes: 3
            ) { system in
                try await system.isShared(shards)
                let alice = try system.client("alice") { $0.requestTimeout = .seconds(60) }
                let bob = try system.client("bob")
                for client in [alice, bob] { try await client.login() }
                for room in rooms { try await bob.subscribe(to: room, features: .message) }
                let listener = Listener(bob)
                let acknowledged = Shared([String]())
                let isOver = Shared(false)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for room in rooms {
                        group.addTask {
                            var number = 0
                            while !isOver.present {
                                let text = "\(room)-\(number)"
                                try await alice.publish(text, to: .channel(room))
                                acknowledged.withLock { $0.append(text) }
                                number += 1
                                await letPass(.milliseconds(20))
                            }
                        }
                    }
                    defer { isOver.withLock { $0 = true } }
                    let published = { acknowledged.present.count }
                    let few = 10 * rooms.count
                    try await eventually("messages flow") { published() > few }
                    try await event(redis)
                    let before = published()
                    try await eventually("messages flow again", within: .seconds(60)) {
                        published() > before + few
                    }
                    isOver.withLock { $0 = true }
                    try await group.waitForAll()
                }
                try await listener.hasReceived(acknowledged.present)
                #expect(listener.gaps == [])
                for client in [alice, bob] { await client.close() }
            }
        }
    }
}

/// What a subscriber receives.
private final class Listener: Sendable {
    private let received = Shared<[(room: String, text: String)]>([])
    private let gapped = Shared<[String]>([])

    init(_ client: RTMClient) {
        let (received, gapped) = (self.received, self.gapped)
        // Unstructured: it ends with the events of the client, which the test closes.
        Task {
            for await event in client.events() {
                switch event {
                case .message(let message):
                    if case .text(let text) = message.payload {
                        received.withLock { $0.append((message.channelName, text)) }
                    }
                case .gap(let gap): gapped.withLock { $0.append(gap.channelName) }
                default: break
                }
            }
        }
    }

    var gaps: [String] { gapped.present }

    /// Everything, once, and in each room in the order in which it was published.
    func hasReceived(_ texts: [String]) async throws {
        try await eventually("everything arrives", within: .seconds(30)) {
            Set(texts).subtracting(received.present.map(\.text)).isEmpty
        }
        let rooms = Dictionary(grouping: received.present, by: \.room).mapValues { $0.map(\.text) }
        for (room, texts) in rooms {
            let numbers = texts.compactMap { Int($0.dropFirst(room.count + 1)) }
            #expect(numbers == Array(0..<numbers.count), "\(room)")
        }
    }
}
