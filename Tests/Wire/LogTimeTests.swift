import RTMTestSupport
import RTMWire
import Testing

@Suite("When an entry was accepted")
struct LogTimeTests {
    @Test("M-24: a few entries at once have milliseconds of their own, and follow the clock")
    func few() {
        var time = LogTime(milliseconds: 1_000)
        var stamps: [UInt64] = []
        for now in [1_500, 1_500, 1_450, 0, 1_600] as [UInt64] {
            time = time.next(1, now: now)
            stamps.append(time.milliseconds)
            #expect(now == 0 || time.order == 0)
        }
        // A clock that goes far back stops the milliseconds, and not the order.
        #expect(stamps == [1_500, 1_501, 1_502, 1_502, 1_600])
    }

    @Test(
        "M-24: whatever comes, times increase strictly, and timestamps are at most 100 ms ahead",
        arguments: 0..<50)
    func bound(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (now, time) = (UInt64(1_790_000_000_000), LogTime.end(ofMillisecond: 1_790_000_000_000))
        for _ in 0..<5_000 {
            let count = random.chance(1, in: 10) ? Int.random(in: 1...120, using: &random) : 1
            let first = time.next(count, now: now)
            #expect(first > time)
            #expect(first.milliseconds >= now)
            var last = first
            for index in 1..<UInt64(count) where count > 1 {
                let next = first.following(by: index)
                #expect(next > last)
                last = next
            }
            #expect(last.milliseconds <= now + LogTime.aheadMax + 1)
            time = last
            if random.chance(1, in: 5) { now += .random(in: 1...3, using: &random) }
        }
    }

    @Test("M-24: after 10 seconds of 5,000 entries a second the newest timestamp is no further ahead")
    func sustained() {
        var time = LogTime(milliseconds: 0)
        for millisecond in 1...10_000 as ClosedRange<UInt64> {
            for _ in 0..<5 { time = time.next(1, now: millisecond) }
        }
        #expect(time.milliseconds == 10_000 + LogTime.aheadMax)
    }

    @Test("H-7: a bound is a millisecond, or one time within it")
    func bounds() {
        let millisecond = UInt64(1_790_000_000_000)
        let range = LogTime.range(ofBound: millisecond)
        #expect(
            range == LogTime(milliseconds: millisecond)...LogTime(milliseconds: millisecond, order: 1_023))
        let (newer, older) = (
            LogTime(milliseconds: millisecond, order: 7), LogTime(milliseconds: millisecond, order: 6)
        )
        #expect(LogTime.range(ofBound: older.bound(behind: newer)) == older...older)
        #expect(LogTime(milliseconds: millisecond - 1).bound(behind: newer) == millisecond - 1)
        #expect(LogTime.range(ofBound: .max).lowerBound.number == .max)
    }
}
