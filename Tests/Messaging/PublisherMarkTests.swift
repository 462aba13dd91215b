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
                PublishOrigin(instance: instance, sequence: sequence), count: count, end: end, tail: 1)
        }
        #expect(admits(1, 10, count: 5))
        #expect(!admits(1, 14) && admits(1, 15))
        #expect(admits(2, 3) && admits(3, 8))
        #expect(!admits(1, 15) && !admits(2, 3) && !admits(3, 7))
        #expect(admits(1, 16) && admits(2, 4))
        #expect(!admits(1, 16))
        #expect(marks.count == 3)
        #expect(admits(0, 1) && admits(0, 1) && admits(4, 0) && admits(4, 0), "nobody counts these")
        #expect(marks.count == 3)
    }

    @Test("agrees with a table of all of them, as long as they are in the tail, and is bounded by it")
    func model() {
        var random = SeededGenerator(seed: 3)
        var marks = PublisherMarks()
        var model: [UInt64: (sequence: UInt64, offset: UInt64)] = [:]
        var head: UInt64 = 0
        let kept: UInt64 = 100
        for _ in 0..<20_000 {
            let instance = UInt64.random(in: 1...(random.chance(1, in: 2) ? 5 : 5_000), using: &random)
            let known = model[instance]
            let sequence = (known?.sequence ?? 50) &+ .random(in: 0...2, using: &random)
            let tail = head > kept ? head - kept : 1
            let admitted = marks.admits(
                PublishOrigin(instance: instance, sequence: sequence), count: 1, end: head + 1, tail: tail)
            let isInTail = known.map { $0.offset >= tail } ?? false
            if isInTail { #expect(admitted == (sequence > known?.sequence ?? 0)) }
            if known == nil { #expect(admitted) }
            guard admitted else { continue }
            head += 1
            model[instance] = (sequence, head)
        }
        #expect(marks.count <= 2 * Int(kept) + 2)
    }
}
