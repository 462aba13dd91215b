import RTMModel
import RTMTestSupport
import Testing

@testable import RTMPresenceServer

/// Where rosters lie in memory, and when it is given back.
@Suite("The table of rosters")
struct RosterTableTests {
    private var table = RosterTable(StoreHarness.rules)

    private mutating func enter(_ user: String, _ channel: ChannelKey) {
        _ = table.change(channel) { $0.enter(.of(user), now: 1) }
    }

    @Test("free places at the end are given back, so many at a time, and the others stay as they are")
    mutating func shrinks() {
        for number in 0..<30_000 { enter("anna", .room("\(number)")) }
        for number in 1..<30_000 where number != 5_000 { table.remove(.room("\(number)")) }
        #expect(table.slotCount == 30_000)
        table.shrink(1_000)
        #expect(table.slotCount == 29_000)
        for _ in 0..<100 { table.shrink(1_000) }
        #expect(table.slotCount == 5_001)
        for name in ["0", "5000"] { #expect(table[.room(name)]?["anna"] != nil) }
        for number in 0..<6_000 { enter("bob", .room("new\(number)")) }
        #expect(table.slotCount == 6_002, "free places are used again, each once")
        for name in ["0", "5000"] { #expect(table[.room(name)]?.memberCount == 1) }
    }

    @Test("a random history: each channel has its own roster, and free ends are given back")
    mutating func history() {
        for seed in 1...4 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            table = RosterTable(StoreHarness.rules)
            var users: [ChannelKey: String] = [:]
            for step in 0..<20_000 {
                // The table fills and empties in turns.
                let isFilling = step / 4_000 % 2 == 0
                let channel = ChannelKey.room("\(Int.random(in: 0..<3_000, using: &random))")
                if random.chance(isFilling ? 3 : 1, in: 4) {
                    if users[channel] == nil {
                        users[channel] = "u\(step)"
                        enter("u\(step)", channel)
                    }
                } else {
                    users[channel] = nil
                    table.remove(channel)
                }
                if random.chance(1, in: 10) {
                    let before = table.slotCount
                    table.shrink(20)
                    #expect(before - table.slotCount <= 20)
                }
                #expect(table[channel]?.memberCount == users[channel].map { _ in 1 })
                #expect(table.count == users.count && table.slotCount >= users.count)
            }
            for (channel, user) in users { #expect(table[channel]?[user] != nil, "seed \(seed)") }
        }
    }

    @Test("the sweeps of a node whose users have left give the memory back")
    func sweeps() throws {
        var registry = RosterRegistry(.with { $0.channelsMax = 100_000 }, now: 0)
        for number in 0..<20_000 { _ = try registry.enter(.of("anna"), .room("\(number)"), now: 1) }
        for number in 1..<20_000 { registry.leave(.of("anna"), .room("\(number)"), now: 2) }
        _ = registry.takeChanges()
        #expect(registry.totals.channels == 1 && registry.slotCount == 20_000)
        for now in 3...20 as ClosedRange<UInt64> { _ = registry.advance(now: now) }
        #expect(registry.slotCount == 1)
    }
}
