import Testing

@testable import RTMClient

/// The choice between two paths, step by step (N-5).
struct PathChoiceTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// A choice whose second connection is ready.
    private func ready() -> PathChoice {
        var choice = PathChoice(PathTiming())
        choice.connected(now: start)
        #expect(choice.due(now: start) == [.dial])
        choice.ready(0, lifetime: .seconds(10), now: start)
        return choice
    }

    @Test("N-5: without a link there is nothing to do")
    func disconnected() {
        var choice = PathChoice(PathTiming())
        #expect(choice.deadline(now: start) == nil && choice.due(now: start).isEmpty)
        choice = ready()
        choice.disconnected()
        #expect(choice.deadline(now: start) == nil && choice.due(now: at(100)).isEmpty)
        #expect(!choice.mayReplaceLost(now: start))
    }

    @Test(
        "N-5: after a second without an answer the second connection is asked, and its answer decides"
    )
    func stall() {
        var choice = ready()
        choice.sent(1, now: at(1))
        #expect(choice.deadline(now: at(1)) == at(2))
        #expect(choice.due(now: at(1.9)).isEmpty)
        #expect(choice.due(now: at(2)) == [.sendHeartbeat])
        #expect(choice.due(now: at(2.1)).isEmpty)
        let isBetter = choice.standbyAnswered(now: at(2.2))
        #expect(isBetter)
    }

    @Test("N-5: an answer of the first connection that comes before that of the second one changes nothing")
    func answeredInTime() {
        var choice = ready()
        choice.sent(1, now: at(1))
        choice.sent(2, now: at(2))
        #expect(choice.due(now: at(2)) == [.sendHeartbeat])
        choice.answered(2)
        let isBetter = choice.standbyAnswered(now: at(2.2))
        #expect(!isBetter)
        #expect(choice.due(now: at(2.3)).isEmpty)
    }

    @Test("N-5: a second connection that is silent, too, is let go, and another one is opened")
    func bothSilent() {
        var choice = ready()
        choice.sent(1, now: at(1))
        #expect(choice.due(now: at(2)) == [.sendHeartbeat])
        #expect(choice.due(now: at(3)) == [.closeStandby, .dial])
        var isBetter = choice.standbyAnswered(now: at(3.1))
        #expect(!isBetter)
        #expect(!choice.mayReplaceLost(now: at(3.1)))
        choice.ready(0, lifetime: .seconds(10), now: at(3.5))
        #expect(choice.due(now: at(3.5)) == [.sendHeartbeat])
        isBetter = choice.standbyAnswered(now: at(3.6))
        #expect(isBetter)
    }

    @Test("N-5: the second connection is opened anew before its server ends it, and stays until then")
    func renewal() {
        var choice = ready()
        #expect(choice.deadline(now: start) == at(7.5))
        #expect(choice.due(now: at(7.5)) == [.dial])
        #expect(choice.mayReplaceLost(now: at(7.6)))
        #expect(choice.due(now: at(9)) == [.closeStandby])
        #expect(choice.due(now: at(12.5)) == [.giveUpDials])
    }

    @Test("N-5: a way that leads nowhere gives way to the next at once; when all have, 1, 2, 4 … 32 s pass")
    func dialFails() {
        for count in [1, 2, 5] {
            var choice = PathChoice(PathTiming())
            choice.connected(now: start)
            var now = start
            for pause in [1, 2, 4, 8, 16, 32, 32] {
                for number in 0..<count {
                    #expect(choice.due(now: now) == [.dial])
                    let way = choice.way(of: count, now: now)
                    #expect(way == number)
                    choice.dialFailed(now: now)
                    let next = number == count - 1 ? now + .seconds(pause) : now
                    #expect(choice.deadline(now: now) == next)
                }
                now += .seconds(pause)
            }
        }
    }

    @Test("N-5: beside a way that says nothing the next is tried after 250 ms, and one that leads on is kept")
    func silentWay() throws {
        var choice = PathChoice(PathTiming())
        choice.connected(now: start)
        for (number, time) in [0, 0.25, 0.5].enumerated() {
            #expect(choice.deadline(now: at(time)) == at(time))
            #expect(choice.due(now: at(time)) == [.dial])
            let way = choice.way(of: 3, now: at(time))
            #expect(way == number)
        }
        // One that fails leaves the others.
        choice.dialFailed(now: at(0.6))
        #expect(choice.deadline(now: at(0.6)) == at(5.5))
        var time = at(0.7)
        choice.ready(1, lifetime: .seconds(10), now: time)
        for _ in 1...4 {
            time = try #require(choice.deadline(now: time))
            #expect(choice.due(now: time) == [.dial])
            let way = choice.way(of: 3, now: time)
            #expect(way == 1, "the way that is known to lead somewhere")
            choice.ready(1, lifetime: .seconds(10), now: time)
        }
        choice.standbyLost(now: time + .seconds(1))
        #expect(choice.due(now: time + .seconds(2)) == [.dial])
        let way = choice.way(of: 3, now: time + .seconds(2))
        #expect(way == 2, "it has ended, so another one may be better")
    }

    @Test("N-5: when no way says anything, all are given up after 5 s, and a pause follows")
    func silentWays() {
        var choice = PathChoice(PathTiming())
        choice.connected(now: start)
        for time in [0, 0.25] {
            #expect(choice.due(now: at(time)) == [.dial])
            _ = choice.way(of: 2, now: at(time))
        }
        #expect(choice.due(now: at(5)).isEmpty)
        #expect(choice.due(now: at(5.25)) == [.giveUpDials])
        #expect(choice.deadline(now: at(5.25)) == at(6.25))
        choice.dialFailed(now: at(5.3))
        #expect(choice.due(now: at(6.25)) == [.dial], "what was given up doesn't fail once more")
    }

    @Test("N-5: where there is no other way, it is looked for one after 1, 2, 4 … 32 s")
    func noWay() {
        var choice = PathChoice(PathTiming())
        choice.connected(now: start)
        var now = start
        for pause in [1, 2, 4, 8, 16, 32, 32] {
            #expect(choice.due(now: now) == [.dial])
            let way = choice.way(of: 0, now: now)
            #expect(way == nil)
            choice.dialFailed(now: now)
            #expect(choice.deadline(now: now) == now + .seconds(pause))
            now += .seconds(pause)
        }
    }

    @Test("N-5: after a change a path is kept for 2 s, and longer when changes follow one another")
    func hold() {
        var choice = ready()
        var now = start
        for hold in [2, 4, 8, 16, 30, 30] {
            choice.changed(now: now)
            choice.connected(now: now)
            #expect(choice.due(now: now) == [.dial])
            choice.ready(0, lifetime: .seconds(1000), now: now)
            choice.sent(1, now: now)
            #expect(!choice.mayReplaceLost(now: now + .seconds(hold) - .milliseconds(1)))
            #expect(choice.deadline(now: now) == now + .seconds(hold))
            now += .seconds(hold)
            #expect(choice.due(now: now) == [.sendHeartbeat])
        }
    }
}
