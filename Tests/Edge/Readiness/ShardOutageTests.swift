import NIOCore
import Testing

@testable import RTMEdgeServer

@Suite("Readiness while a shard has no leader") struct ShardOutageTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func connected() -> ShardOutage {
        var outage = ShardOutage()
        _ = outage.changed(isWhole: true, isReached: true, now: start)
        return outage
    }

    @Test("a loop is connected when every shard has a leader, not sooner")
    func begin() {
        var outage = ShardOutage()
        #expect(outage.changed(isWhole: false, isReached: true, now: start) == .none)
        #expect(outage.changed(isWhole: true, isReached: true, now: start) == .up)
        #expect(outage.changed(isWhole: true, isReached: true, now: start) == .none)
    }

    @Test("a change of leader within five seconds is no outage, and each has its own time")
    func change() {
        var outage = connected()
        for second in [Int64(0), 4, 8] {
            let time = start + .seconds(second)
            #expect(
                outage.changed(isWhole: false, isReached: true, now: time) == .checkAgain(time + .seconds(5)))
            let later = time + .milliseconds(3_999)
            #expect(outage.changed(isWhole: false, isReached: true, now: later) == .none)
            #expect(outage.changed(isWhole: true, isReached: true, now: later) == .none)
        }
    }

    @Test("a shard that has no leader for longer is an outage")
    func long() {
        var outage = connected()
        _ = outage.changed(isWhole: false, isReached: true, now: start)
        let end = start + .seconds(5)
        #expect(outage.changed(isWhole: false, isReached: true, now: end - .milliseconds(1)) == .none)
        #expect(outage.changed(isWhole: false, isReached: true, now: end) == .down)
        #expect(outage.changed(isWhole: false, isReached: true, now: end) == .none)
        #expect(outage.changed(isWhole: true, isReached: true, now: end) == .up)
    }

    @Test("where no messaging node is reached, there is no grace")
    func away() {
        var outage = connected()
        #expect(outage.changed(isWhole: false, isReached: false, now: start) == .down)
        outage = connected()
        _ = outage.changed(isWhole: false, isReached: true, now: start)
        #expect(outage.changed(isWhole: false, isReached: false, now: start + .seconds(1)) == .down)
    }
}
