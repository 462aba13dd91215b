import Testing

@testable import RTMClient

struct HeartbeatScheduleTests {
    private let start = ContinuousClock.now

    private func schedule() -> HeartbeatSchedule {
        HeartbeatSchedule(interval: .seconds(5), answerWithin: .seconds(10), now: start)
    }

    @Test func `S-40: a heartbeat is due after each interval`() {
        var beats = schedule()
        #expect(beats.deadline == start + .seconds(5))
        #expect(beats.due(now: start + .milliseconds(4999)) == .nothing)
        #expect(beats.due(now: start + .seconds(5)) == .beat)
        beats.sent(1, now: start + .seconds(5))
        #expect(beats.due(now: start + .seconds(5)) == .nothing)
        beats.answered(1)
        #expect(beats.deadline == start + .seconds(10))
    }

    @Test
    func `S-40: ten seconds after an unanswered heartbeat the link is lost, though others were sent since`() {
        var beats = schedule()
        beats.sent(1, now: start + .seconds(5))
        beats.sent(2, now: start + .seconds(10))
        #expect(beats.due(now: start + .milliseconds(14_999)) == .nothing)
        #expect(beats.due(now: start + .seconds(15)) == .lost)
    }

    @Test func `S-40: what arrives meanwhile puts off the end, as an answer may stand behind it`() {
        var beats = schedule()
        beats.receivedBytes(now: start + .seconds(4))
        beats.sent(1, now: start + .seconds(5))
        beats.sent(2, now: start + .seconds(10))
        beats.receivedBytes(now: start + .milliseconds(14_500))
        #expect(beats.due(now: start + .seconds(15)) == .beat)
        beats.sent(3, now: start + .seconds(15))
        #expect(beats.due(now: start + .milliseconds(24_499)) == .beat)
        #expect(beats.due(now: start + .milliseconds(24_500)) == .lost)
    }

    @Test func `S-40: what arrived before the heartbeat is no sign of its answer`() {
        var beats = schedule()
        beats.sent(1, now: start + .seconds(5))
        beats.answered(1)
        beats.receivedBytes(now: start + .seconds(9))
        beats.sent(2, now: start + .seconds(10))
        #expect(beats.due(now: start + .seconds(20)) == .lost)
    }

    @Test func `An answer to a later heartbeat speaks for the earlier ones`() {
        var beats = schedule()
        beats.sent(1, now: start + .seconds(5))
        beats.sent(2, now: start + .seconds(10))
        beats.answered(2)
        #expect(beats.due(now: start + .milliseconds(14_999)) == .nothing)
        #expect(beats.due(now: start + .seconds(15)) == .beat)
    }

    @Test func `An answer to the first leaves the second to be answered`() {
        var beats = schedule()
        beats.sent(1, now: start + .seconds(5))
        beats.sent(2, now: start + .seconds(10))
        beats.answered(1)
        beats.answered(99)
        beats.sent(3, now: start + .seconds(15))
        #expect(beats.due(now: start + .seconds(20)) == .lost)
    }
}
