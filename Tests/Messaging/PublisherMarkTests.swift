import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("How far the publishers of a log have got")
struct PublisherMarkTests {
    @Test("is known of each of them, whoever published between")
    func each() {
        var marks = PublisherMarks()
        var end: UInt64 = 0
        func admits(_ instance: UInt64, _ sequence: UInt64, count: Int = 1) -> Bool {
            end += UInt64(count)
            return marks.admits(
                EntryOrigin(user: 1, client: instance, sequence: sequence), count: count, end: end, tail: 1,
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
        var model: [UInt64: (sequence: UInt64, offset: UInt64, at: UInt64)] = [:]
        var head: UInt64 = 0
        let kept: UInt64 = 100
        for now in (0..<20_000 as Range<UInt64>).map({ 100_000 + $0 * 600 }) {
            let instance = UInt64.random(in: 1...(random.chance(1, in: 2) ? 5 : 5_000), using: &random)
            let known = model[instance]
            let sequence = (known?.sequence ?? 50) &+ .random(in: 0...2, using: &random)
            let tail = head > kept ? head - kept : 1
            let admitted = marks.admits(
                EntryOrigin(user: 1, client: instance, sequence: sequence), count: 1, end: head + 1,
                tail: tail, now: now)
            let isKnown = known.map { $0.offset >= tail || $0.at + PublisherMarks.lateMax >= now } ?? false
            if isKnown { #expect(admitted == (sequence > known?.sequence ?? 0)) }
            if known == nil { #expect(admitted) }
            guard admitted else { continue }
            head += 1
            model[instance] = (sequence, head, now)
        }
        #expect(marks.count <= 2 * Int(kept) + 2)
    }

    @Test("a tail that turns over doesn't forget who may still be late")
    func turnedOver() {
        var marks = PublisherMarks()
        func admits(_ client: UInt64, _ sequence: UInt64, end: UInt64, now: UInt64) -> Bool {
            marks.admits(
                EntryOrigin(user: 1, client: client, sequence: sequence), count: 1, end: end, tail: end,
                now: now)
        }
        #expect(admits(1, 7, end: 1, now: 1_000))
        for end in 2...500 as ClosedRange<UInt64> { #expect(admits(end, 1, end: end, now: 2_000)) }
        #expect(!admits(1, 7, end: 501, now: 16_000), "a link may be silent for 15 seconds")
        #expect(marks.count == 500)
        for end in 502...1_100 as ClosedRange<UInt64> { #expect(admits(end, 1, end: end, now: 99_000)) }
        #expect(marks.count < 1_000, "nobody is so late")
    }
}
