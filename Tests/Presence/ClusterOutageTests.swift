import RTMModel
import RTMRedis
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// The promises while a real Redis Cluster moves slots and loses masters.
@Suite("Presence over a Redis Cluster", .serialized, .overRedisCluster)
struct ClusterOutageTests {
    private static let keys = RedisKeys(prefix: "")
    /// The slot of the room's roster.
    private static var slot: Int { HashSlot.of(keys.roster(.room)[0]) }

    /// A channel whose roster another master has.
    private static func elsewhere(_ cluster: RedisClusterProcess) throws -> ChannelKey {
        let present = try cluster.master(of: slot).id
        return try #require(
            (0..<100).map { ChannelKey.room("other\($0)") }.first { channel in
                (try? cluster.master(of: HashSlot.of(keys.roster(channel)[0])).id) != present
            })
    }

    @Test("all keys of a part lie in one slot, and the parts are spread evenly over three masters")
    func spread() {
        for name in ["room", "{a}", "{", "a:b/c"] {
            let slots = Set(Self.keys.roster(.room(name)).map(HashSlot.of))
            #expect(slots.count == 1, "\(name)")
        }
        let slots = RedisKeys.tags.map { HashSlot.of("{\($0)}:due") }
        #expect(Set(slots).count == RedisKeys.partCount)
        for third in 0..<3 {
            let count = slots.count { $0 * 3 / HashSlot.count == third }
            #expect((10...12).contains(count))
        }
        let parts = Set((0..<1_000).map { RedisKeys.part(of: .room("r\($0)")) })
        #expect(parts.count == RedisKeys.partCount)
    }

    /// Users come, set states and leave at both nodes until the body has ended.
    ///
    /// - Returns: why calls failed.
    private func churn(
        _ nodes: [StoreHarness], while body: () async throws -> Void
    ) async throws -> [String] {
        let isOver = Shared(false)
        let sums = Shared((done: 0, failures: [String]()))
        try await withThrowingTaskGroup { group in
            for (number, node) in nodes.enumerated() {
                group.addTask {
                    var step = 0
                    while !isOver.present {
                        let user = "u\(number)-\(step % 5)"
                        step += 1
                        do {
                            try await node.enter(.of(user, lease: 7))
                            _ = try await node.set(.of(user), ["a": "\(step)"])
                            try await node.leave(.of(user))
                            sums.withLock { $0.done += 1 }
                        } catch {
                            sums.withLock { $0.failures.append("\(error)") }
                        }
                    }
                }
            }
            do {
                try await eventually("calls are answered") { sums.present.done > 20 }
                try await body()
                let reached = sums.present.done
                try await eventually("calls are answered again", within: .seconds(60)) {
                    sums.present.done > reached + 20
                }
            } catch {
                isOver.withLock { $0 = true }
                throw error
            }
            isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        return sums.present.failures
    }

    /// Every event is told under one number, and together they give what is in the roster.
    private func expectOneStory(_ nodes: [StoreHarness]) async throws {
        for node in nodes { try await node.enter(.of("last\(node === nodes[0])", lease: 7)) }
        struct Number: Hashable {
            let source: UInt64
            let sequence: UInt64
        }
        var all: [UInt64: RosterEvent] = [:]
        var sources: [UInt64: UInt64] = [:]
        for node in nodes {
            for reported in try await node.sourcedEvents() {
                #expect(all[reported.sequence] == nil || all[reported.sequence] == reported.event)
                #expect(sources[reported.sequence] == nil || sources[reported.sequence] == reported.source)
                all[reported.sequence] = reported.event
                sources[reported.sequence] = reported.source
            }
        }
        #expect(all.keys.sorted() == Array(1...UInt64(all.count)))
        var view = SubscriberView([])
        for sequence in all.keys.sorted() { all[sequence].map { view.receive($0) } }
        #expect(view.states == (try await nodes[0].snapshot().users))
    }

    @Test("a slot that moves under load: no call fails, and every event is told once, in one order")
    func slotMoves() async throws {
        try await StoreHarness.with(.cluster) { first in
            try await first.withSecondNode { second in
                let cluster = try #require(RedisClusterProcess.shared)
                let failed = try await churn([first, second]) {
                    try await cluster.move(Self.slot)
                    try await first.sweep()
                    try await cluster.move(Self.slot)
                }
                #expect(failed == [])
                try await expectOneStory([first, second])
            }
        }
    }

    @Test("a planned failover: edges are asked again, and no event is lost or told twice")
    func failsOver() async throws {
        try await StoreHarness.with(.cluster) { first in
            try await first.withSecondNode { second in
                for node in [first, second] {
                    _ = try await node.renew(7)
                    try await node.synced(7, except: [])
                    #expect(try await node.renew(7))
                }
                let cluster = try #require(RedisClusterProcess.shared)
                _ = try await churn([first, second]) { try await cluster.failOver(Self.slot) }
                for node in [first, second] {
                    try await eventually("all masters are connected") { node.isReady }
                    #expect(try await node.renew(7) == false, "what was written last may be lost")
                }
                try await expectOneStory([first, second])
            }
        }
    }

    @Test("data that a master forgets without a lost connection are noticed by the next sweep")
    func forgets() async throws {
        try await StoreHarness.with(.cluster, .with { $0.grace = 30_000 }) { store in
            _ = try await store.renew(7)
            try await store.synced(7, except: [])
            try await store.enter(.of("anna", lease: 7))
            try await store.advance(60_000)
            _ = try await store.events()
            #expect(try await store.renew(7))
            // The leases lie in another slot, and stay.
            try await store.delete(roster: .room)
            try await store.advance(250)
            #expect(try await store.renew(7) == false)
            try await store.adopt(.of("anna", lease: 7))
            #expect(try await store.users() == ["anna"])
            #expect(try await store.events() == [], "the others know her already")
        }
    }

    @Test("a killed master: other channels go on, calls end, and the edges make good what was lost")
    func masterDies() async throws {
        try await StoreHarness.with(.cluster, .with { $0.leaseTimeToLive = 3_600_000 }) { first in
            try await first.withSecondNode { second in
                let cluster = try #require(RedisClusterProcess.shared)
                let other = try Self.elsewhere(cluster)
                try await first.enter(.of("anna", lease: 7))
                try await first.enter(.of("bob", lease: 7), other)
                let victim = try cluster.node(cluster.master(of: Self.slot))
                victim.end()
                try await eventually("the loss is noticed") { !first.isReady }
                #expect(first.cause.contains(":\(victim.port)"))
                #expect(await code { _ = try await first.users() } == .presenceOperationFailed)
                #expect(try await first.users(in: other) == ["bob"])
                try await eventually("a replica takes over", within: .seconds(60)) {
                    first.isReady && second.isReady
                }
                #expect(try await first.renew(7) == false)
                for (user, channel) in [("anna", ChannelKey.room), ("bob", other)] {
                    try await first.adopt(.of(user, lease: 7), channel)
                }
                try await first.synced(
                    7,
                    except: [
                        MemberKey(channel: .room, user: "anna", session: 1),
                        MemberKey(channel: other, user: "bob", session: 1),
                    ])
                #expect(try await first.renew(7))
                #expect(try await first.users() == ["anna"])
                try await first.end(.of("anna"), .loggedOut)
                #expect(try await first.users() == [])
                #expect(try await second.channels(of: "bob") == [other.name])
            }
        }
    }
}

extension StoreHarness {
    /// Deletes what is known of the room's part.
    fileprivate func delete(roster channel: ChannelKey) async throws {
        for key in RedisKeys(prefix: prefix).roster(channel) { try await command("DEL", key) }
    }
}
