import RTMMessagingClient
import RTMTestSupport
import Testing

@Suite("A canary")
struct CanaryTests {
    private var canary = Canary()

    @Test("publishes once a second when it is attached, and is alive while that comes back")
    mutating func alive() {
        #expect(canary.next(now: 0) == nil && canary.verdict(now: 0) == .waiting)
        canary.linkIsUp(now: 10)
        #expect(canary.next(now: 10) == .attach && canary.next(now: 11) == nil)
        canary.attached(true)
        #expect(canary.next(now: 12) == .publish && canary.next(now: 13) == nil)
        canary.published(7, now: 14)
        #expect(canary.verdict(now: 14) == .waiting, "an acknowledgement alone is no delivery")
        canary.received(7, now: 15)
        #expect(canary.verdict(now: 15) == .alive)
        #expect(canary.next(now: 1_010) == .publish)
        canary.received(8, now: 1_011)
        canary.published(8, now: 1_012)
        #expect(canary.verdict(now: 1_012 + 4_000) == .alive)
    }

    @Test("is silent when what it publishes is acknowledged and doesn't come, and lives again when it comes")
    mutating func silent() {
        comeBack(at: 0)
        for now in stride(from: 1_000, to: 9_000, by: 1_000) as StrideTo<UInt64> {
            if canary.next(now: now) == .publish { canary.published(now, now: now) }
        }
        #expect(canary.verdict(now: 9_000) == .silent(since: 0))
        #expect(canary.next(now: 10_000) == .publish)
        canary.received(7_000, now: 10_001)
        #expect(canary.verdict(now: 10_001) == .silent(since: 0), "that was of an earlier round")
        canary.published(99, now: 10_002)
        canary.received(99, now: 10_003)
        #expect(canary.verdict(now: 10_003) == .alive)
    }

    @Test("whose publish finds no receiver subscribes again")
    mutating func subscribesAgain() {
        comeBack(at: 0)
        #expect(canary.next(now: 1_000) == .publish)
        canary.published(nil, now: 1_001)
        #expect(canary.next(now: 2_000) == .attach)
        canary.attached(false)
        #expect(canary.next(now: 3_000) == .attach)
        canary.attached(true)
        #expect(canary.next(now: 3_001) == .publish)
    }

    @Test("without a link waits, and begins anew with the next one")
    mutating func link() {
        comeBack(at: 0)
        canary.linkIsDown()
        #expect(canary.verdict(now: 90_000) == .waiting && canary.next(now: 90_000) == nil)
        canary.attached(true)
        canary.received(5, now: 90_000)
        canary.linkIsUp(now: 91_000)
        #expect(canary.next(now: 91_000) == .attach && canary.verdict(now: 91_000) == .waiting)
        #expect(canary.verdict(now: 95_001) == .silent(since: 91_000), "not even the attach is answered")
    }

    private mutating func comeBack(at now: UInt64) {
        canary.linkIsUp(now: now)
        #expect(canary.next(now: now) == .attach)
        canary.attached(true)
        #expect(canary.next(now: now) == .publish)
        canary.published(1, now: now)
        canary.received(1, now: now)
        #expect(canary.verdict(now: now) == .alive)
    }
}
