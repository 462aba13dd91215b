import RTMRedis
import RTMTestSupport
import Testing

@testable import RTMPresenceServer

/// How long the indexes in Redis live that say where users are.
@Suite("Indexes in Redis")
struct RedisIndexTests {
    private static let keys = RedisKeys(prefix: "test:")
    /// Nearly a whole life, in milliseconds.
    private static let fresh: UInt64 = 3_500_000

    private static func index(of user: String) -> String {
        keys.channels(of: UserKey(appID: "app", userID: user))
    }

    @Test("an index of a user whose edge and node have died ends by itself")
    func ends() async throws {
        try await StoreHarness.with(.redis) { store in
            try await store.enter(.of("anna", lease: 7))
            let rest = try await store.rest(of: Self.index(of: "anna"))
            #expect(rest > Self.fresh && rest <= 3_600_000)
        }
    }

    @Test("while a lease is renewed, the indexes of all its users live on")
    func liveOn() async throws {
        try await StoreHarness.with(.redis) { store in
            let users = (0..<600).map { "u\($0)" }
            let indexes = users.map(Self.index(of:))
            for user in users { try await store.enter(.of(user, lease: 7)) }
            try await store.enter(.of("other", lease: 8))
            for index in indexes + [Self.index(of: "other")] {
                try await store.command("PEXPIRE", index, "1000000")
            }
            _ = try await store.renew(7)
            try await eventually("the indexes live on") {
                for index in indexes where try await store.rest(of: index) <= Self.fresh { return false }
                return true
            }
            #expect(try await store.rest(of: Self.index(of: "other")) <= 1_000_000)
        }
    }

    @Test("a renewal soon after another one costs no round through the members")
    func seldom() async throws {
        try await StoreHarness.with(.redis) { store in
            try await store.enter(.of("anna", lease: 7))
            _ = try await store.renew(7)
            try await eventually("the first round is over") {
                try await store.rest(of: Self.keys.round(of: 7)) > 1_700_000
            }
            try await store.command("PEXPIRE", Self.index(of: "anna"), "1000000")
            for _ in 0..<3 { _ = try await store.renew(7) }
            #expect(try await store.rest(of: Self.index(of: "anna")) <= 1_000_000)
        }
    }
}

extension StoreHarness {
    /// How long a key of Redis still lives, in milliseconds; 0 if it has no end, or isn't there.
    fileprivate func rest(of key: String) async throws -> UInt64 {
        try await command("PTTL", key).number ?? 0
    }
}
