import RTMTestSupport
import Testing

/// Generated histories are compared with a model that keeps everything and forgets nothing.
@Suite("Histories of the embedded broker")
struct BrokerHistoryTests {
    private static let seeds = 0..<90 as Range<UInt64>

    @Test("every interest sees every entry once and in order, or is told of a gap that there really is")
    func histories() throws {
        var total = BrokerHistory.Events()
        for seed in Self.seeds {
            var history = try BrokerHistory(seed: seed, keepsAll: seed >= 80)
            for _ in 0..<400 { try history.step() }
            history.finish()
            total.add(history.events)
        }
        // Otherwise the histories would not test what they are made for.
        #expect(total.deliveries > 1000)
        #expect(total.replays > 500)
        #expect(total.gaps > 500)
        #expect(total.beginnings > 50)
        #expect(total.refusals > 100)
        #expect(total.pages > 500)
        #expect(total.forgotten > 300)
        #expect(total.appends > 1000)
        #expect(total.repetitions > 200)
        #expect(total.repeated > 500)
        #expect(total.afresh > 100)
        #expect(total.unknown > 100)
        #expect(total.late > 200)
    }

    @Test("a broker that goes on with the journal of another one has lost nothing, and repeats nothing")
    func takeovers() throws {
        var total = BrokerHistory.Events()
        for seed in 200..<240 as Range<UInt64> {
            var history = try BrokerHistory(seed: seed, keepsAll: true, takesOver: true)
            for _ in 0..<400 { try history.step() }
            history.finish()
            total.add(history.events)
        }
        #expect(total.takeovers > 300)
        #expect(total.replays > 500)
        #expect(total.repetitions > 200)
        #expect(total.repeated > 300)
    }
}
