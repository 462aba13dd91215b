import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// The scripts in Redis and the roster in memory agree, event by event. The same random histories run over
/// both.
@Suite("All stores", .overRedisCluster)
struct StoreAgreementTests {
    struct Case: Sendable {
        let seed: UInt64
        let kind: StoreHarness.Kind
        let rules: AnnounceRules
    }

    static let cases: [Case] = (1...15).map { (seed: Int) in
        let debounce: UInt64 = seed % 3 == 0 ? 0 : 10
        let statesBytesMax = seed % 5 < 3 ? 60 : 256 * 1024
        let rules = AnnounceRules(
            announceMax: [0, 2, 4, 100][seed % 4], interval: 50, debounce: debounce,
            statesBytesMax: statesBytesMax)
        return Case(seed: UInt64(seed), kind: seed <= 12 ? .redis : .cluster, rules: rules)
    }

    private static let channels = ["room", "hall", "attic"].map { ChannelKey.room($0) }

    @Test("agree at every step of a random history, and in the end nobody is left", arguments: cases)
    func agree(history: Case) async throws {
        let rules = PresenceRules.with {
            $0.announce = history.rules
            $0.leaseTimeToLive = 100
        }
        try await StoreHarness.with(.embedded, rules) { embedded in
            try await StoreHarness.with(history.kind, rules) { redis in
                var random = SeededGenerator(seed: history.seed)
                // Redis knows from here on how old the data are.
                for store in [embedded, redis] { _ = try await store.renew(1) }
                var count = 0
                for step in 0..<250 {
                    let action = Action(&random)
                    let answer = try await action.perform(on: embedded)
                    #expect(try await action.perform(on: redis) == answer, "step \(step): \(action)")
                    count += try await compare(embedded, redis, "step \(step): \(action)")
                }
                #expect(count > 5)
                // All leases end, then all presence timeouts.
                for store in [embedded, redis] { try await store.advance(400, sweeps: 8) }
                _ = try await compare(embedded, redis, "at the end")
                for channel in Self.channels { #expect(try await embedded.users(in: channel) == []) }
                #expect(try await embedded.totals == PresenceTotals())
                #expect(try await redis.totals.leases == 0)
            }
        }
    }

    /// Returns the number of events since the last call.
    private func compare(_ embedded: StoreHarness, _ redis: StoreHarness, _ place: String) async throws -> Int
    {
        var count = 0
        for channel in Self.channels {
            let events = try await embedded.events(channel)
            count += events.count
            #expect(try await redis.events(channel) == events, "\(place), \(channel.name)")
            let users = try await embedded.users(in: channel)
            #expect(try await redis.users(in: channel) == users, "\(place), \(channel.name)")
            let snapshot = try await embedded.snapshot(channel)
            #expect(try await redis.snapshot(channel).users == snapshot.users, "\(place), \(channel.name)")
        }
        #expect(try await redis.expiredLeases() == (try await embedded.expiredLeases()), "\(place)")
        return count
    }

    private enum Action {
        case enter(Entry, ChannelKey)
        case leave(Caller, ChannelKey)
        case end(Caller, SessionEnd)
        case set(Caller, String, String, ChannelKey)
        case remove(Caller, [String], ChannelKey)
        case renew(UInt64)
        /// An edge reports these members and no others.
        case sync(UInt64, [(entry: Entry, channel: ChannelKey)])
        case pass(UInt64)

        init(_ random: inout SeededGenerator) {
            let entry = Self.entry(&random)
            let channel = channels.randomElement(using: &random) ?? .room
            let caller = Caller.of(entry.user, session: entry.session)
            let key = ["a", "B", "ä"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<13, using: &random) {
            case 0...2: self = .enter(entry, channel)
            case 3: self = .leave(caller, channel)
            case 4, 5: self = .end(caller, SessionEnd.allCases.randomElement(using: &random) ?? .lost)
            case 6: self = .set(caller, key, random.text(upTo: 3), channel)
            case 7: self = .remove(caller, random.chance(1, in: 3) ? [] : [key], channel)
            case 8: self = .renew(entry.lease)
            case 9, 10:
                var members: [(entry: Entry, channel: ChannelKey)] = []
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    var member = Self.entry(&random)
                    member.lease = entry.lease
                    members.append((member, channels.randomElement(using: &random) ?? .room))
                }
                self = .sync(entry.lease, members)
            default: self = .pass(.random(in: 1...60, using: &random))
            }
        }

        private static func entry(_ random: inout SeededGenerator) -> Entry {
            .of(
                "u\(Int.random(in: 0..<6, using: &random))", session: .random(in: 1...2, using: &random),
                instance: .random(in: 0...1, using: &random), ownership: .random(in: 0...2, using: &random),
                lease: .random(in: 1...2, using: &random), quiet: random.chance(1, in: 8),
                timeout: .random(in: 5...60, using: &random),
                states: random.chance(1, in: 3) ? ["B": "\(Int.random(in: 1...2, using: &random))"] : [:])
        }

        /// Returns the store's answer, if both stores have to give the same one.
        func perform(on store: StoreHarness) async throws -> String? {
            switch self {
            case .enter(let entry, let channel):
                let entered = try await store.enter(entry, channel)
                return "\(entered.isMember) \(entered.statesCost ?? -1)"
            case .leave(let caller, let channel): try await store.leave(caller, channel)
            case .end(let caller, let end): try await store.end(caller, end)
            case .set(let caller, let key, let value, let channel):
                return try await "\(store.set(caller, [key: value], channel))"
            case .remove(let caller, let keys, let channel):
                return try await "\(store.remove(caller, keys, channel))"
            case .renew(let lease): return try await "\(store.renew(lease))"
            case .sync(let lease, let members):
                let isKnown = try await store.renew(lease)
                var kept: Set<MemberKey> = []
                for (entry, channel) in members where try await store.adopt(entry, channel) {
                    kept.insert(MemberKey(channel: channel, user: entry.user, session: entry.session))
                }
                try await store.synced(lease, except: kept)
                return "\(isKnown)"
            case .pass(let time): try await store.advance(time)
            }
            return nil
        }
    }
}
