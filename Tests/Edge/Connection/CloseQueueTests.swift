import NIOEmbedded
import Testing

@testable import RTMEdgeServer

@Suite("Connections that their clients have closed")
struct DeparturesTests {
    private final class Member: Departing {
        var hasLeft = false
        func depart() { hasLeft = true }
    }

    @Test("are closed in the same turn, but a crowd a few at a time, in its order")
    func crowd() {
        let loop = EmbeddedEventLoop()
        let departures = Departures<Member>(on: loop)
        let one = Member()
        departures.add(one)
        loop.run()
        #expect(one.hasLeft)
        let crowd = (0..<100).map { _ in Member() }
        for member in crowd { departures.add(member) }
        loop.run()
        let share = Departures<Member>.closesPerTurn
        for turn in 1...4 {
            let count = min(crowd.count, turn * share)
            #expect(crowd.map(\.hasLeft) == crowd.indices.map { $0 < count })
            loop.advanceTime(by: Departures<Member>.pause)
        }
    }
}
