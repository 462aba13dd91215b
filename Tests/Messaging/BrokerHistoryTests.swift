import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

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

    @Test("what a broker has in memory, told again, is what another one goes on with")
    func memorySentAgain() throws {
        let limits = BrokerLimits.limits(partitionCount: 4)
        var broker = Broker(limits: limits, firstEpoch: 7)
        let keys = (0..<5).map { ChannelKey.message("m\($0)") }
        for number in 0..<200 {
            _ = try broker.publish("text \(number)", to: keys[number % 5], now: 1_000 + UInt64(number))
        }
        var replay = JournalReplay(limits: limits, firstEpoch: 7)
        for page in broker.checkpoint(now: 2_000) {
            try page.withUnsafeReadableBytes { bytes in try replay.read(bytes) }
        }
        var next = Broker(continuing: replay, now: 2_000)
        for key in keys {
            let start = StreamPosition(
                epoch: try broker.read(key, after: .init(epoch: 0, offset: 0), now: 2_000).position.epoch,
                offset: 0)
            let page = try broker.read(key, after: start, now: 2_000)
            let other = try next.read(key, after: start, now: 2_000)
            #expect(page.entries.count == 40 && !other.gap)
            #expect(page.entries.map(\.frame) == other.entries.map(\.frame))
            #expect(page.position == other.position)
        }
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
