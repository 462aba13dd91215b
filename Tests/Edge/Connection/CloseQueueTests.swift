import NIOEmbedded
import Testing

@testable import RTMEdgeServer

@Suite("Connections that their clients have closed")
struct CloseQueueTests {
    private final class Member: ClosingConnection {
        var hasLeft = false
        func closeSocket() { hasLeft = true }
    }

    @Test("are closed in the same turn, but a crowd a few at a time, in its order")
    func crowd() {
        let loop = EmbeddedEventLoop()
        let closeQueue = CloseQueue<Member>(on: loop)
        let one = Member()
        closeQueue.add(one)
        loop.run()
        #expect(one.hasLeft)
        let crowd = (0..<100).map { _ in Member() }
        for member in crowd { closeQueue.add(member) }
        loop.run()
        let share = CloseQueue<Member>.closesPerTurn
        for turn in 1...4 {
            let count = min(crowd.count, turn * share)
            #expect(crowd.map(\.hasLeft) == crowd.indices.map { $0 < count })
            loop.advanceTime(by: CloseQueue<Member>.pause)
        }
    }
}
