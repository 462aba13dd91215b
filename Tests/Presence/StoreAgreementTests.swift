import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// The scripts in Redis and the roster in memory say the same, event by event: random histories are done to
/// both.
@Suite("Both stores")
struct StoreAgreementTests {
    struct Case: Sendable {
        let seed: UInt64
        let rules: AnnounceRules
    }

    static let cases = (1...12).map { seed in
        Case(
            seed: UInt64(seed),
            rules: AnnounceRules(
                announceMax: [0, 2, 4, 100][seed % 4], interval: 50, debounce: seed % 3 == 0 ? 0 : 10))
    }

    @Test("agree at every step of a random history", arguments: cases)
    func agree(history: Case) async throws {
        try await StoreHarness.with(.embedded, .with { $0.announce = history.rules }) { embedded in
            try await StoreHarness.with(.redis, .with { $0.announce = history.rules }) { redis in
                var random = SeededGenerator(seed: history.seed)
                var count = 0
                for step in 0..<250 {
                    let action = Action(&random)
                    try await action.perform(on: embedded)
                    try await action.perform(on: redis)
                    let events = try await embedded.events()
                    count += events.count
                    #expect(try await redis.events() == events, "step \(step): \(action)")
                    #expect(try await redis.users() == (try await embedded.users()), "step \(step)")
                    let snapshot = try await embedded.snapshot()
                    #expect(try await redis.snapshot().users == snapshot.users, "step \(step)")
                }
                #expect(count > 5)
            }
        }
    }

    private enum Action {
        case enter(Entry)
        case leave(Caller)
        case end(Caller, SessionEnd)
        case set(Caller, String, String)
        case remove(Caller, [String])
        case pass(UInt64)

        init(_ random: inout SeededGenerator) {
            let user = "u\(Int.random(in: 0..<6, using: &random))"
            let session = UInt64.random(in: 1...2, using: &random)
            let caller = Caller.of(user, session: session)
            let key = ["a", "B", "ä"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                self = .enter(
                    .of(
                        user, session: session, instance: .random(in: 0...1, using: &random),
                        quiet: random.chance(1, in: 8), timeout: .random(in: 5...60, using: &random)))
            case 3: self = .leave(caller)
            case 4, 5: self = .end(caller, SessionEnd.allCases.randomElement(using: &random) ?? .lost)
            case 6: self = .set(caller, key, random.text(upTo: 3))
            case 7: self = .remove(caller, random.chance(1, in: 3) ? [] : [key])
            default: self = .pass(.random(in: 1...30, using: &random))
            }
        }

        func perform(on store: StoreHarness) async throws {
            switch self {
            case .enter(let entry): try await store.enter(entry)
            case .leave(let caller): try await store.leave(caller)
            case .end(let caller, let end): try await store.end(caller, end)
            case .set(let caller, let key, let value): _ = try await store.set(caller, [key: value])
            case .remove(let caller, let keys): _ = try await store.remove(caller, keys)
            case .pass(let time): try await store.advance(time)
            }
        }
    }
}
