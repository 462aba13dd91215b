import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("The memory of all tails of a node")
struct AppTableTests {
    private static let bytesMax = 1 << 20
    /// What one more request may take before room is made.
    private static let lastSegment = 200_000
    private var broker = Broker(
        limits: .limits(channelsMax: 10_000, tailBytesMax: bytesMax), firstEpoch: 1)

    private func tail(of key: ChannelKey) -> [UInt64] {
        guard let slot = broker.slot(of: key) else { return [] }
        let start = StreamPosition(epoch: broker.channels.position(of: slot).epoch, offset: 0)
        let tail = broker.channels.tail(of: slot)
        return broker.continuation(at: slot, after: start).entries.map { tail.record(at: $0).timestamp }
    }

    private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    @Test("M-36: however many channels one client fills, the tails stay within the bound")
    mutating func bound() throws {
        for number in 0..<3_000 as Range<UInt64> {
            _ = try broker.publish(text(32_000), to: .message("\(number)"), now: 1_000 + number)
            #expect(broker.tailBytes <= Self.bytesMax + Self.lastSegment)
        }
        #expect(broker.tailBytes > Self.bytesMax / 2, "what there is room for is kept")
        #expect(broker.channelCount == 3_000)
        #expect(broker.tailWindow(now: 4_000) < 40)
    }

    @Test("M-36: of one app the oldest entries go first, in whatever channel they are")
    mutating func oldestFirst() throws {
        var random = SeededGenerator(seed: 7)
        let keys = (0..<40).map { ChannelKey.message("\($0)") }
        for now in 1_000..<9_000 as Range<UInt64> {
            // Some channels fall silent, and others begin to speak.
            let first = Int(now / 300) % 30
            let key = keys[.random(in: first..<first + 10, using: &random)]
            _ = try broker.publish(text(.random(in: 0...3_000, using: &random)), to: key, now: now * 10)
        }
        let newestGiven = broker.channels.apps[0].newestGiven
        #expect(newestGiven > 10_000)
        let kept = keys.flatMap { tail(of: $0) }
        #expect(kept.count > 100)
        #expect(kept.allSatisfy { $0 > newestGiven }, "something older was kept")
    }

    @Test("M-36: an app that holds no more than an equal share loses nothing to another app")
    mutating func shares() throws {
        let small = (0..<10).map { ChannelKey.message("\($0)", of: "small") }
        for key in small {
            for now in 1...10 as ClosedRange<UInt64> {
                _ = try broker.publish(text(1_000), to: key, now: now)
            }
        }
        for number in 0..<2_000 as Range<UInt64> {
            let key = ChannelKey.message("\(number % 300)", of: "big")
            _ = try broker.publish(text(8_000), to: key, now: 100 + number)
        }
        #expect(broker.tailBytes <= Self.bytesMax + Self.lastSegment)
        #expect(small.allSatisfy { tail(of: $0).count == 10 })
        // What is left over is open to everybody.
        #expect(broker.tailBytes > Self.bytesMax * 3 / 4)
    }

    @Test("M-36: an entry that goes for want of room is a gap for who has not seen it, and for nobody else")
    mutating func gap() throws {
        let quiet = ChannelKey.message("quiet")
        let first = try broker.publish("1", to: quiet, now: 1_000).entries
        let epoch = 1 as UInt64
        for number in 0..<200 as Range<UInt64> {
            _ = try broker.publish(text(32_000), to: .message("flood"), now: 2_000 + number)
        }
        #expect(tail(of: quiet).isEmpty)
        let seen = StreamPosition(epoch: epoch, offset: first.offset)
        let continued = try broker.read(quiet, after: seen, now: 3_000)
        #expect(!continued.gap)
        #expect(try broker.read(quiet, after: StreamPosition(epoch: epoch, offset: 0), now: 3_000).gap)
    }

    @Test("the window that is left is the age of what went for room, and grows again afterwards")
    mutating func window() throws {
        broker = Broker(
            limits: .limits(ageMax: 150_000, tailBytesMax: Self.bytesMax), firstEpoch: 1)
        #expect(broker.tailWindow(now: 1_000) == 150_000)
        for number in 0..<100 as Range<UInt64> {
            _ = try broker.publish(text(32_000), to: .message("a"), now: 200_000 + number * 1_000)
        }
        let window = broker.tailWindow(now: 299_000)
        #expect((5_000...40_000).contains(window))
        #expect(broker.tailWindow(now: 309_000) == window + 10_000)
        #expect(broker.tailWindow(now: 900_000) == 150_000)
    }

    @Test("entries that have gone by age leave nothing behind, however many channels come and go")
    mutating func age() throws {
        broker = Broker(limits: .limits(ageMax: 100, idleMax: 100), firstEpoch: 1)
        for round in 0..<50 as Range<UInt64> {
            for number in 0..<20 {
                _ = try broker.publish("m", to: .message("\(round)-\(number)"), now: 1_000 + round * 300)
            }
            broker.sweep(100, now: 1_000 + round * 300 + 250)
            #expect(broker.channelCount == 0 && broker.tailBytes == 0)
        }
    }
}

@Suite("When freed memory goes back to the system")
struct MemoryPeakTests {
    /// What is decided as the time passes and so many mebibytes are held.
    private func releases(_ held: [(mebibytes: Int, now: UInt64)]) -> [Bool] {
        var peak = MemoryPeak()
        return held.map { peak.shouldRelease(held: $0.mebibytes << 20, now: $0.now) }
    }

    @Test("after much was freed at once, and not again for a while")
    func release() {
        let releases = releases([
            (1_000, 1_000), (800, 2_000), (700, 3_000), (300, 12_000), (300, 13_000), (290, 90_000),
        ])
        #expect(releases == [false, false, true, false, true, false])
    }

    @Test("a load that lasts releases nothing, and neither does a small node")
    func steady() {
        #expect(!releases((0..<1_000).map { (1_000 + $0 % 100, UInt64($0) * 1_000) }).contains(true))
        #expect(releases([(60, 1_000), (0, 99_000)]) == [false, false])
    }
}
