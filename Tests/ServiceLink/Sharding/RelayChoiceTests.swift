import NIOCore
import RTMServiceLink
import Testing

@Suite("When a messaging node is reached through another one") struct RelayChoiceTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let listed: Set<String> = ["a", "b", "c"]

    /// Three nodes, of which `a` was lost at the start.
    private func cut(after silence: TimeAmount = .zero) -> RelayChoice {
        var choice = RelayChoice()
        for node in listed { choice.changed(node, isUp: true, now: start - .hours(1)) }
        choice.changed("a", isUp: false, after: silence, now: start)
        return choice
    }

    private func next(
        _ choice: inout RelayChoice, _ listed: Set<String>? = nil, _ leader: RelayChoice.Leader = .none,
        after time: TimeAmount, random: Double = 0
    ) -> [RelayChoice.Action] {
        choice.next(listed ?? self.listed, leader: leader, now: start + time) { random }
    }

    @Test("a node that is out of reach for two seconds is reached through one whose link is up")
    func open() {
        var choice = cut()
        #expect(next(&choice, after: .milliseconds(1_999)) == [])
        #expect(next(&choice, after: .seconds(2)) == [.open(to: "a", through: "b")])
        #expect(next(&choice, after: .seconds(9)) == [], "the relay is there or on its way")
    }

    @Test("the time in which nothing came counts, so a silent node is reached through another one at once")
    func silent() {
        var choice = cut(after: .seconds(6))
        #expect(next(&choice, after: .zero, random: 0.99) == [.open(to: "a", through: "c")])
    }

    @Test("nothing is relayed while the shard has a leader, and to no node that isn't listed")
    func unneeded() {
        var choice = cut()
        #expect(next(&choice, nil, .direct, after: .seconds(60)) == [])
        #expect(next(&choice, ["b", "c"], after: .seconds(60)) == [])
        #expect(!choice.isWaiting(["b", "c"]))
        #expect(choice.isWaiting(listed))
    }

    @Test("nobody is asked whose own link is down")
    func through() {
        var choice = cut()
        choice.changed("b", isUp: false, now: start)
        #expect(next(&choice, after: .seconds(1)) == [])
        #expect(
            next(&choice, after: .seconds(2)) == [
                .open(to: "a", through: "c"), .open(to: "b", through: "c"),
            ])
        choice = cut()
        for node in ["b", "c"] { choice.changed(node, isUp: false, now: start) }
        #expect(next(&choice, after: .seconds(60)) == [])
    }

    @Test("when a relay fails, the next one is tried a second later, and all in turn")
    func turn() {
        var choice = cut()
        var asked: [String] = []
        for second in Int64(2)..<8 {
            for action in next(&choice, after: .seconds(second)) {
                guard case .open("a", let relay) = action else { continue }
                asked.append(relay)
            }
            choice.failed(to: "a", now: start + .seconds(second))
            #expect(next(&choice, after: .seconds(second) + .milliseconds(999)) == [])
        }
        #expect(asked == ["b", "c", "b", "c", "b", "c"])
    }

    @Test("a relay is given up when the direct way has stood for five seconds")
    func back() {
        var choice = cut()
        _ = next(&choice, after: .seconds(2))
        choice.changed("a", isUp: true, now: start + .seconds(10))
        choice.changed("a", isUp: false, now: start + .seconds(12))
        choice.changed("a", isUp: true, now: start + .seconds(13))
        let relayed = RelayChoice.Leader.relayed(to: "a")
        #expect(next(&choice, nil, relayed, after: .milliseconds(17_999)) == [])
        #expect(next(&choice, nil, relayed, after: .seconds(18)) == [.close(to: "a")])
        #expect(!choice.isWaiting(listed), "nothing is left to do")
    }

    @Test("a relay is given up when another node has led for five seconds, or the node isn't listed")
    func led() {
        var choice = cut()
        _ = next(&choice, after: .seconds(2))
        #expect(next(&choice, nil, .direct, after: .seconds(3)) == [])
        #expect(next(&choice, nil, .direct, after: .seconds(8)) == [.close(to: "a")])
        choice = cut()
        _ = next(&choice, after: .seconds(2))
        #expect(next(&choice, ["b"], after: .seconds(3)) == [.close(to: "a")])
    }

    @Test("a node that was never reached is reached through another one, too")
    func never() {
        var choice = RelayChoice()
        choice.changed("a", isUp: false, now: start)
        choice.changed("b", isUp: true, now: start)
        #expect(next(&choice, after: .seconds(2)) == [.open(to: "a", through: "b")])
    }
}
