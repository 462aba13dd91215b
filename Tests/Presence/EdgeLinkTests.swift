import RTMModel
import RTMRedis
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// An edge that has lost its link continues over a newer one. What is still on its way over the older link
/// comes late, and to another node, if there are several.
@Suite("The links of an edge to presence nodes", .overRedisCluster)
struct EdgeLinkTests {
    typealias Kind = StoreHarness.Kind

    private static let older = EdgeLink(lease: 7, number: 1)
    private static let newer = EdgeLink(lease: 7, number: 2)
    private static let rules = PresenceRules.with { $0.leaseTimeToLive = 15_000 }

    /// Another node over the same Redis; in memory there is only one.
    private func withOtherNode(
        _ kind: Kind, than node: StoreHarness, _ body: (StoreHarness) async throws -> Void
    ) async throws {
        if kind == .embedded { try await body(node) } else { try await node.withSecondNode(body) }
    }

    @Test(
        "what comes over the older link, at this node or another one, changes nothing",
        arguments: Kind.allCases)
    func late(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, Self.rules) { first in
            try await first.renew(over: Self.older)
            for user in ["anna", "bob"] { try await first.enter(.of(user, lease: 7), over: Self.older) }
            #expect(try await first.set(.of("anna"), ["a": "1"], over: Self.older))
            try await withOtherNode(kind, than: first) { second in
                try await second.renew(over: Self.newer)
                try await second.adopt(.of("anna", lease: 7), over: Self.newer)
                let anna = MemberKey(channel: .room, user: "anna", session: 1)
                try await second.synced(over: Self.newer, except: [anna])
                try await sendLate(to: first)
                #expect(Set(try await first.olderLinks()) == [Self.older])
                try await first.advance(5_000)
                #expect(try await second.users() == ["anna"])
                #expect(try await second.states(of: "anna") == [StateItem(key: "a", value: "1")])
                #expect(try await second.channels(of: "ghost") == [])
                // Over the newer link all that is done, and a session that has ended stays so.
                try await second.enter(.of("carl", lease: 7), over: Self.newer)
                try await second.leave(.of("anna"), over: Self.newer)
                #expect(try await second.users() == ["carl"])
                try await first.end(.of("carl"), .loggedOut)
                #expect(try await second.users() == [])
            }
        }
    }

    private func sendLate(to node: StoreHarness) async throws {
        let (anna, late) = (Caller.of("anna"), Self.older)
        await #expect(throws: RTMError.olderLink) { try await node.enter(.of("ghost", lease: 7), over: late) }
        await #expect(throws: RTMError.olderLink) {
            try await node.enter(.of("ghost", lease: 7), .room("never"), over: late)
        }
        await #expect(throws: RTMError.olderLink) { try await node.adopt(.of("ghost", lease: 7), over: late) }
        await #expect(throws: RTMError.olderLink) { try await node.leave(anna, over: late) }
        await #expect(throws: RTMError.olderLink) { try await node.set(anna, ["a": "2"], over: late) }
        await #expect(throws: RTMError.olderLink) { try await node.remove(anna, [], over: late) }
        await #expect(throws: RTMError.olderLink) { try await node.synced(over: late, except: []) }
        await #expect(throws: RTMError.olderLink) { try await node.renew(over: late) }
        await #expect(throws: RTMError.olderLink) { try await node.renew(over: late) }
    }

    @Test("an edge that doesn't number its links isn't refused", arguments: Kind.allCases)
    func unnumbered(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, Self.rules) { store in
            try await store.renew(over: Self.newer)
            try await store.enter(.of("anna", lease: 7), over: EdgeLink(lease: 7))
            #expect(try await store.renew(7) == false)
            // And the links of another edge have numbers of their own.
            try await store.enter(.of("bob", lease: 8), over: EdgeLink(lease: 8, number: 1))
            #expect(try await store.users() == ["anna", "bob"])
        }
    }

    @Test(
        "Redis forgets the newest link only when the lease is over, and hears of it again after a loss")
    func life() async throws {
        try await StoreHarness.with(.redis, Self.rules) { store in
            let keys = RedisKeys(prefix: store.prefix)
            let places =
                (0..<RedisKeys.partCount).map { keys.newestLink(under: 7, in: $0) }
                + [keys.newestLink(under: 7)]
            func shortest() async throws -> UInt64 {
                var shortest = UInt64.max
                for place in places {
                    // A key that isn't there has a negative life.
                    shortest = min(shortest, try await store.command("PTTL", place).number ?? 0)
                }
                return shortest
            }
            try await store.renew(over: Self.newer)
            #expect(try await shortest() > RedisIndexLife.span * 9 / 10)
            for place in places { try await store.command("PEXPIRE", place, "100000") }
            try await store.renew(over: Self.newer)
            #expect(try await shortest() <= 100_000)
            store.clock.advance(RedisIndexLife.span / 2)
            try await store.renew(over: Self.newer)
            #expect(try await shortest() > RedisIndexLife.span * 9 / 10)
            try await store.sweep()
            try await store.command("FLUSHALL")
            // The data that begin now are told from the others by their age.
            store.clock.advance(1)
            try await store.sweep()
            try await store.renew(over: Self.newer)
            #expect(try await shortest() > RedisIndexLife.span * 9 / 10)
        }
    }
}
