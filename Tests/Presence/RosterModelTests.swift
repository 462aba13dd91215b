import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// Random joins, returns, takeovers, leaves, losses, states and times are compared with the naive model,
/// through many switches between announce and interval mode.
@Suite("A roster against its model")
struct RosterModelTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let seed: UInt64
        let rules: AnnounceRules
        var testDescription: String { "seed \(seed), \(rules)" }
    }

    static let cases: [Case] = (1...40).map { (seed: Int) in
        let debounce: UInt64 = seed % 3 == 0 ? 0 : 10
        let statesBytesMax = seed % 5 < 3 ? 60 : 256 * 1024
        let rules = AnnounceRules(
            announceMax: [0, 2, 4, 100][seed % 4], interval: 50, debounce: debounce,
            statesBytesMax: statesBytesMax)
        return Case(seed: UInt64(seed), rules: rules)
    }

    @Test("says and knows the same at every step (P-1 to P-45, L-51)", arguments: cases)
    func model(history: Case) throws {
        var random = SeededGenerator(seed: history.seed)
        var roster = Roster(history.rules)
        var model = RosterModel(rules: history.rules)
        var views: [SubscriberView] = []
        var now: UInt64 = 1_000
        for step in 0..<400 {
            try Self.act(&roster, &model, &now, &random)
            let events = roster.takeEvents()
            #expect(events == model.events, "step \(step)")
            model.events = []
            for index in views.indices { for event in events { views[index].receive(event) } }
            #expect(roster.users(after: nil, countMax: .max) == model.listed, "step \(step)")
            #expect(roster.snapshot() == model.snapshot, "step \(step)")
            #expect(roster.onlineCount == model.listed.count)
            #expect(roster.memberCount == model.people.count)
            _ = roster.takeGone()
            if random.chance(1, in: 20) { views.append(SubscriberView(roster.snapshot())) }
        }
        // When nothing waits any more, every snapshot with the events after it has led to the same users.
        while let deadline = roster.nextDeadline() {
            roster.advance(now: max(now, deadline))
            for event in roster.takeEvents() {
                for index in views.indices { views[index].receive(event) }
            }
        }
        for view in views { #expect(view.states == roster.snapshot()) }
        #expect(!views.isEmpty)
    }

    private static func act(
        _ roster: inout Roster, _ model: inout RosterModel, _ now: inout UInt64,
        _ random: inout SeededGenerator
    ) throws {
        let user = "u\(Int.random(in: 0..<8, using: &random))"
        let session = roster[user]?.entry.session ?? UInt64.random(in: 1...4, using: &random)
        let key = "k\(Int.random(in: 0..<3, using: &random))"
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            let entry = Entry(
                user: user, session: .random(in: 1...4, using: &random),
                instance: .random(in: 0...2, using: &random), ownership: .random(in: 0...3, using: &random),
                lease: 1, isQuiet: random.chance(1, in: 6),
                timeout: .random(in: 5...60, using: &random),
                states: random.chance(1, in: 3) ? [StateItem(key: key, value: "\(now / 20)")] : [])
            roster.enter(entry, now: now)
            model.enter(entry, now: now)
        case 4, 5:
            let isSuperseded = random.chance(1, in: 4)
            roster.leave(user, session: session, isSuperseded: isSuperseded, now: now)
            model.leave(user, session: session, isSuperseded: isSuperseded, now: now)
        case 6, 7:
            roster.lose(user, session: session, now: now)
            model.lose(user, session: session, now: now)
        case 8:
            let items = [StateItem(key: key, value: "\(now)")]
            let limits = StoreHarness.rules.states
            let isThere = try roster.setStates(user, session: session, items, limits, now: now)
            #expect((isThere != nil) == model.setStates(user, session: session, items, now: now))
        case 9:
            let keys = random.chance(1, in: 3) ? [] : [key]
            let isThere = roster.removeStates(user, session: session, keys, now: now)
            #expect((isThere != nil) == model.removeStates(user, session: session, keys, now: now))
        default:
            // Deadlines pass one by one, so that two at the same time can't come in different orders.
            let target = now + .random(in: 0...20, using: &random)
            while let deadline = roster.nextDeadline(), deadline <= target {
                now = max(now, deadline)
                roster.advance(now: now)
                model.advance(now: now)
                guard roster.nextDeadline() == deadline else { continue }
                break
            }
            now = target
            roster.advance(now: now)
            model.advance(now: now)
        }
    }
}
