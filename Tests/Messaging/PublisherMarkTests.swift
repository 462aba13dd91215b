import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("How far the publishers of a log have got")
struct PublisherMarkTests {
    @Test("is known of each of them, whoever published between")
    func each() {
        var marks = PublisherMarks()
        func admits(_ instance: UInt64, _ sequence: UInt64, count: Int = 1) -> Bool {
            marks.admits(
                EntryOrigin(user: 1, client: instance, sequence: sequence), count: count, oldest: 0,
                now: 1_000)
        }
        #expect(admits(1, 10, count: 5))
        #expect(!admits(1, 14) && admits(1, 15))
        #expect(admits(2, 3) && admits(3, 8))
        #expect(!admits(1, 15) && !admits(2, 3) && !admits(3, 7))
        #expect(admits(1, 16) && admits(2, 4))
        #expect(!admits(1, 16))
        #expect(marks.count == 3)
        #expect(admits(0, 1) && admits(0, 1), "nobody counts these")
        #expect(marks.count == 3)
    }

    @Test("agrees with a table of all of them, while they are in the tail or may be late, and is bounded")
    func model() {
        var random = SeededGenerator(seed: 3)
        var marks = PublisherMarks()
        var model: [UInt64: (sequence: UInt64, at: UInt64)] = [:]
        let kept: UInt64 = 90_000
        for now in (0..<20_000 as Range<UInt64>).map({ 100_000 + $0 * 600 }) {
            let instance = UInt64.random(in: 1...(random.chance(1, in: 2) ? 5 : 5_000), using: &random)
            let known = model[instance]
            let sequence = (known?.sequence ?? 50) &+ .random(in: 0...2, using: &random)
            let admitted = marks.admits(
                EntryOrigin(user: 1, client: instance, sequence: sequence), count: 1, oldest: now - kept,
                now: now)
            let isKnown = known.map { $0.at + max(kept, PublisherMarks.lateMax) >= now } ?? false
            if isKnown { #expect(admitted == (sequence > known?.sequence ?? 0)) }
            if known == nil { #expect(admitted) }
            guard admitted else { continue }
            model[instance] = (sequence, now)
        }
        #expect(marks.count <= 2 * Int(kept / 600) + 2)
    }

    @Test("a tail that turns over doesn't forget who may still be late")
    func turnedOver() {
        var marks = PublisherMarks()
        func admits(_ client: UInt64, _ sequence: UInt64, now: UInt64) -> Bool {
            marks.admits(
                EntryOrigin(user: 1, client: client, sequence: sequence), count: 1, oldest: now, now: now)
        }
        #expect(admits(1, 7, now: 1_000))
        for client in 2...500 as ClosedRange<UInt64> { #expect(admits(client, 1, now: 2_000)) }
        #expect(!admits(1, 7, now: 16_000), "a link may be silent for 15 seconds")
        #expect(marks.count == 500)
        for client in 502...1_100 as ClosedRange<UInt64> { #expect(admits(client, 1, now: 99_000)) }
        #expect(marks.count < 1_000, "nobody is so late")
    }
}
