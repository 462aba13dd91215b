import NIOCore
import Testing

@testable import RTMPublishHook

@Suite("W-75: whether a hook is away")
struct PublishHookOutageTests {
    private var outage = PublishHookOutage()
    private var random = SystemRandomNumberGenerator()

    private func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1) + .milliseconds(milliseconds)
    }

    private mutating func fail(_ id: UInt64, isAway: Bool = false, at milliseconds: Int64 = 0) {
        outage.failed(id, isAway: isAway, now: time(milliseconds), using: &random)
    }

    @Test("three failures in a row are an outage, and one that was answered between them begins anew")
    mutating func threeInARow() {
        for id in UInt64(1)...2 { fail(id) }
        outage.answered()
        for id in UInt64(3)...4 { fail(id) }
        #expect(!outage.isAway)
        fail(5)
        #expect(outage.isAway)
        let isAdmitted = outage.admits(6, now: time(0))
        #expect(!isAdmitted)
    }

    @Test("no connection is an outage at once; then one question at a time asks, with pauses that grow")
    mutating func probes() {
        fail(1, isAway: true)
        #expect(outage.isAway)
        var now: Int64 = 0
        for (round, longest) in [1_000, 2_000, 4_000, 8_000, 8_000].enumerated() {
            let shortest = Int64(longest / 2)
            let isTooEarly = outage.admits(100, now: time(now + shortest - 1))
            #expect(!isTooEarly, "in round \(round)")
            now += Int64(longest)
            let probe = UInt64(200 + round)
            let isAdmitted = outage.admits(probe, now: time(now))
            #expect(isAdmitted, "in round \(round)")
            let isSecond = outage.admits(100, now: time(now + 60_000))
            #expect(!isSecond, "in round \(round)")
            // A question from before the outage says nothing about it.
            fail(1, isAway: true, at: now)
            let isThird = outage.admits(101, now: time(now + 60_000))
            #expect(!isThird, "in round \(round)")
            fail(probe, at: now)
        }
        outage.answered()
        let isAdmitted = outage.admits(300, now: time(now))
        #expect(isAdmitted && !outage.isAway)
    }

    @Test("a message that is refused comes back when the hook is asked again, and not before the deadline")
    mutating func wait() {
        let deadline = TimeAmount.milliseconds(300)
        #expect(outage.wait(now: time(0), deadline: deadline) == deadline)
        fail(1, isAway: true)
        let wait = outage.wait(now: time(0), deadline: deadline)
        #expect((TimeAmount.milliseconds(500)...(.seconds(1))).contains(wait))
        #expect(outage.wait(now: time(990), deadline: deadline) == deadline)
    }
}
