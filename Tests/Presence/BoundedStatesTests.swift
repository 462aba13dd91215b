import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// What one user who keeps changing states costs the others (L-51, R-17).
@Suite("Bounded states", .overRedisCluster)
struct BoundedStatesTests {
    typealias Kind = StoreHarness.Kind

    private static let value = String(repeating: "x", count: 1_020)

    /// As many states as a user may have, each as large as may be.
    private static func states(_ round: Int) -> [String: String] {
        Dictionary((0..<32).map { ("key \($0)", "\(1_000 + round)" + value) }) { $1 }
    }

    private func intervals(_ events: [RosterEvent]) -> [PresenceInterval] {
        events.compactMap { if case .interval(let interval) = $0.event { interval } else { nil } }
    }

    @Test(
        "L-51: of one of 300 who sets 32 KiB twenty times a second the others get 32 KiB in an interval",
        arguments: Kind.allCases)
    func oneOfManyUsers(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            for number in 0..<300 { try await store.enter(.of("u\(number)")) }
            try await store.advance(30_000)
            var view = SubscriberView(try await store.snapshot().users)
            _ = try await store.events()
            for round in 0..<100 {
                #expect(try await store.cost(.of("u7"), Self.states(round)) == 0)
                try await store.advance(50)
            }
            #expect(try await store.events() == [])
            try await store.advance(30_000)
            let events = try await store.events()
            let bytes = events.reduce(0) { $0 + $1.byteCount }
            #expect(bytes > 32 * 1_024 && bytes < 34 * 1_024)
            for event in events { view.receive(event) }
            #expect(view.states == (try await store.snapshot().users))
        }
    }

    @Test(
        "L-51: what exceeds an interval comes with the next ones, and nobody has two turns before the others",
        arguments: Kind.allCases)
    func turns(_ kind: Kind) async throws {
        let rules = PresenceRules.with {
            $0.announce.announceMax = 2
            $0.announce.statesBytesMax = 1_500
        }
        try await StoreHarness.with(kind, rules) { store in
            let users = (0..<10).map { "u\($0)" }
            for user in users { try await store.enter(.of(user)) }
            try await store.advance(30_000)
            var view = SubscriberView(try await store.snapshot().users)
            _ = try await store.events()
            for user in users {
                #expect(try await store.set(.of(user), ["a": String(repeating: user, count: 250)]))
            }
            var announced: [String] = []
            while announced.count < users.count {
                // This one changes states all the time.
                #expect(try await store.set(.of("u1"), ["b": "\(announced.count)"]))
                try await store.advance(30_000)
                let events = try await store.events()
                let states = intervals(events).flatMap(\.states)
                #expect(!states.isEmpty && states.reduce(0) { $0 + $1.cost } <= 1_500)
                announced += states.map(\.userID)
                for event in events { view.receive(event) }
            }
            #expect(announced == users + ["u1"], "and then the one that had a turn already")
            try await store.advance(30_000)
            for event in try await store.events() { view.receive(event) }
            #expect(view.states == (try await store.snapshot().users))
            try await store.advance(30_000)
            #expect(try await store.events() == [], "nothing is left")
        }
    }

    @Test(
        "P-26: a channel that has become small stays in interval mode until all states are announced",
        arguments: Kind.allCases)
    func crossing(_ kind: Kind) async throws {
        let rules = PresenceRules.with {
            $0.announce.announceMax = 3
            $0.announce.statesBytesMax = 100
        }
        try await StoreHarness.with(kind, rules) { store in
            for user in ["anna", "bob", "carl", "dora"] { try await store.enter(.of(user)) }
            try await store.advance(30_000)
            _ = try await store.events()
            for user in ["anna", "bob", "carl", "dora"] {
                #expect(try await store.set(.of(user), ["a": String(repeating: "x", count: 60)]))
            }
            try await store.leave(.of("carl"))
            #expect(intervals(try await store.events()).map { $0.states.map(\.userID) } == [["anna"]])
            #expect(try await store.set(.of("anna"), ["b": "1"]))
            #expect(try await store.events() == [])
            try await store.advance(30_000)
            let second = intervals(try await store.events())
            #expect(second.map(\.left) == [["carl"]] && second.map { $0.states.map(\.userID) } == [["bob"]])
            try await store.advance(30_000)
            #expect(
                intervals(try await store.events()).map { $0.states.map(\.userID) } == [["dora"]])
            try await store.advance(30_000)
            #expect(intervals(try await store.events()).map(\.states) == [[.of("anna", ["b": "1"])]])
            #expect(try await store.set(.of("anna"), ["b": "2"]))
            #expect(try await store.events() == [.states("anna", ["b": "2"])])
        }
    }

    @Test(
        "P-6, R-17: one byte of 32 KiB of states sends its key and value, and costs that for each receiver",
        arguments: Kind.allCases)
    func oneByte(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            for number in 0..<49 { try await store.enter(.of("u\(number)")) }
            #expect(try await store.set(.of("u7"), Self.states(1)))
            _ = try await store.events()
            #expect(try await store.remove(.of("u7"), ["key 1"]))
            #expect(try await store.cost(.of("u7"), ["key 1": "2"]) == 48 * (16 + 5 + 1 + 8))
            let events = try await store.events()
            #expect(events == [.states("u7", [:], removed: ["key 1"]), .states("u7", ["key 1": "2"])])
            #expect(events.allSatisfy { $0.byteCount < 32 })
        }
    }

    @Test("what is remembered of a user who sets and removes ever other keys is bounded")
    func keys() {
        var changed = ChangedStates()
        for number in 0..<ChangedStates.keysMax {
            changed.add(StateChange(removed: ["k\(number)"]), of: "anna")
        }
        var copy = changed
        let named = copy.take(bytesMax: .max) { _ in [] }
        #expect(named.map(\.removed.count) == [64])
        changed.add(StateChange(removed: ["one more"]), of: "anna")
        let whole = changed.take(bytesMax: .max) { _ in [StateItem(key: "a", value: "1")] }
        #expect(whole == [.of("anna", ["a": "1"], whole: true)])
        #expect(changed.isEmpty)
    }

    @Test("a removal of keys that the user doesn't have sends none of them", arguments: Kind.allCases)
    func unknownKeys(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna"))
            _ = try await store.events()
            #expect(try await store.remove(.of("anna"), (0..<100).map { "key \($0)" }))
            #expect(try await store.events() == [.states("anna", [:])])
        }
    }

    @Test("the period of a batch that is full ends early")
    func moves() {
        var roster = Roster(AnnounceRules(announceMax: 0, interval: 30_000, debounce: 0))
        for number in 0..<IntervalBatch.movesMax - 1 { roster.enter(.of("u\(number)"), now: 5) }
        #expect(roster.nextDeadline() == 30_005)
        roster.enter(.of("one more"), now: 6)
        #expect(roster.nextDeadline() == 6)
        roster.advance(now: 6)
        let joined = intervals(roster.takeEvents()).reduce(0) { $0 + $1.joined.count }
        #expect(joined == IntervalBatch.movesMax && roster.nextDeadline() == nil)
    }
}
