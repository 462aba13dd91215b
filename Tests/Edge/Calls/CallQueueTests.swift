import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// Which calls of a session may be passed on.
@Suite struct CallTurnTests {
    private var turn = CallTurn()

    private func call(_ id: UInt64, _ kind: ClientCall.Kind) -> CallTurn.Waiting {
        CallTurn.Waiting(requestID: id, kind: kind, lock: nil, request: ByteBuffer())
    }

    @Test("a few queries are under way at a time, and what comes behind them keeps its place")
    mutating func queries() {
        for _ in 0..<CallTurn.queriesMax { #expect(turn.begin(.getHistory, hasRoom: true) == .first) }
        #expect(turn.begin(.setLock, hasRoom: true) == .first, "its answer is short")
        #expect(turn.begin(.whoNow, hasRoom: true) == .inLine)
        turn.wait(call(1, .whoNow))
        #expect(turn.begin(.setLock, hasRoom: true) == .inLine, "it doesn't overtake")
        turn.wait(call(2, .setLock))
        #expect(turn.next(hasRoom: true) == nil)
        turn.answered(.setLock)
        #expect(turn.next(hasRoom: true) == nil)
        turn.answered(.getHistory)
        #expect(turn.next(hasRoom: true)?.requestID == 1)
        #expect(turn.next(hasRoom: true)?.requestID == 2)
        #expect(turn.isEmpty)
    }

    @Test("no query is passed on for a client that is behind")
    mutating func noRoom() {
        #expect(turn.begin(.getMetadata, hasRoom: false) == .inLine)
        turn.wait(call(1, .getMetadata))
        #expect(turn.next(hasRoom: false) == nil)
        #expect(turn.next(hasRoom: true)?.requestID == 1)
    }

    @Test("a long line stops the reading, and has an end that a typed refusal names")
    mutating func longLine() {
        for id in 0..<UInt64(CallTurn.waitingMax) {
            #expect(turn.isLong == (id > CallTurn.comfortable))
            #expect(turn.begin(.getLocks, hasRoom: false) == .inLine)
            turn.wait(call(id, .getLocks))
        }
        #expect(turn.begin(.getLocks, hasRoom: false) == .full)
        let error = RTMError.tooManyCallsInLine
        #expect(error.code == .operationRateExceedLimitation && error.retryAfter == .seconds(1))
        #expect(error.limit?.value == UInt64(CallTurn.waitingMax))
    }
}
