import NIOCore
import Testing

@testable import RTMServiceLink

@Suite("R-20: a long answer begins only while its link has room")
struct AnswerTurnsTests {
    private var turns = AnswerTurns<Int>(windowBytes: 1_000, .init(perCaller: 2, perApp: 3, total: 10))

    private mutating func ask(
        _ work: Int, _ bytes: Int, app: String = "a", by caller: String = "x", of link: UInt64 = 7,
        queued: Int = 0
    ) -> AnswerTurns<Int>.Decision {
        turns.ask(turn(work, bytes, app: app, by: caller), of: link, queuedBytes: queued)
    }

    /// The macro takes no call that changes something.
    private func expect<Value: Equatable>(
        _ value: Value, _ other: Value, _ place: SourceLocation = #_sourceLocation
    ) { #expect(value == other, sourceLocation: place) }

    private mutating func next(queued: Int = 0) -> Int? { turns.next(of: 7, queuedBytes: queued)?.work }

    private func turn(_ work: Int, _ bytes: Int, app: String = "a", by caller: String = "x")
        -> AnswerTurns<Int>.Turn
    {
        AnswerTurns<Int>.Turn(work, app: app, caller: caller, bytesMax: bytes, deadline: .distantFuture)
    }

    @Test("answers begin until the window is full, and the next ones when others are sent and read")
    mutating func window() {
        expect(ask(1, 600), .begin)
        expect(ask(2, 400), .begin)
        expect(ask(3, 100), .wait)
        // Another link has a window of its own.
        expect(ask(4, 100, of: 8), .begin)
        expect(next(), nil)
        turns.ended(600, of: 7)
        // The answer is sent, and waits for the link.
        expect(next(queued: 550), nil)
        expect(next(queued: 500), 3)
        #expect(turns.waitingCount == 0)
    }

    @Test("an answer that is longer than the window begins on a link on which nothing waits")
    mutating func longest() {
        expect(ask(1, 5_000, queued: 1), .wait)
        expect(next(queued: 1), nil)
        expect(next(), 1)
    }

    @Test("who asks for much delays others by one answer, and is refused beyond a limit")
    mutating func fairness() {
        expect(ask(0, 1_000), .begin)
        for work in 1...2 {
            let decision = ask(work, 1_000)
            #expect(decision == .wait)
        }
        expect(ask(3, 1_000), .refuse(waitingMax: 2))
        expect(ask(4, 1_000, by: "y"), .wait)
        expect(ask(5, 1_000, by: "z"), .refuse(waitingMax: 3))
        expect(ask(6, 1_000, app: "b"), .wait)
        var order: [Int] = []
        turns.ended(1_000, of: 7)
        while let next = turns.next(of: 7, queuedBytes: 0) {
            order.append(next.work)
            turns.ended(next.bytesMax, of: 7)
        }
        #expect(order == [1, 6, 4, 2])
    }

    @Test("even a short answer waits behind others, and nothing is left of a link that has closed")
    mutating func closed() {
        expect(ask(0, 1_000), .begin)
        expect(ask(1, 1), .wait)
        turns.linkClosed(7)
        turns.ended(1_000, of: 7)
        expect(next(), nil)
        expect(ask(2, 1_000), .begin)
    }
}
