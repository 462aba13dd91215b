import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// Which calls of a session may be passed on.
@Suite struct CallQueueTests {
    private var queue = CallQueue()

    private func call(_ id: UInt64, _ kind: ClientCall.Kind) -> CallQueue.Waiting {
        CallQueue.Waiting(requestID: id, kind: kind, lock: nil, request: ByteBuffer())
    }

    @Test("a few queries are under way at a time, and what comes behind them keeps its place")
    mutating func queries() {
        for _ in 0..<CallQueue.queriesMax { #expect(queue.begin(.getHistory, isWritable: true) == .pass) }
        #expect(queue.begin(.setLock, isWritable: true) == .pass, "its answer is short")
        #expect(queue.begin(.whoNow, isWritable: true) == .queue)
        queue.wait(call(1, .whoNow))
        #expect(queue.begin(.setLock, isWritable: true) == .queue, "it doesn't overtake")
        queue.wait(call(2, .setLock))
        #expect(queue.next(isWritable: true) == nil)
        queue.answered(.setLock)
        #expect(queue.next(isWritable: true) == nil)
        queue.answered(.getHistory)
        #expect(queue.next(isWritable: true)?.requestID == 1)
        #expect(queue.next(isWritable: true)?.requestID == 2)
        #expect(queue.isEmpty)
    }

    @Test("no query is passed on for a client that is behind")
    mutating func noRoom() {
        #expect(queue.begin(.getMetadata, isWritable: false) == .queue)
        queue.wait(call(1, .getMetadata))
        #expect(queue.next(isWritable: false) == nil)
        #expect(queue.next(isWritable: true)?.requestID == 1)
    }

    @Test("an answer behind the session's end is counted as any other")
    mutating func end() {
        for _ in 0..<2 { #expect(queue.begin(.whoNow, isWritable: true) == .pass) }
        queue.wait(call(1, .whoNow))
        queue.removeAll()
        #expect(queue.isEmpty)
        for _ in 0..<2 { queue.answered(.whoNow) }
        for _ in 0..<CallQueue.queriesMax { #expect(queue.begin(.whoNow, isWritable: true) == .pass) }
        #expect(queue.begin(.whoNow, isWritable: true) == .queue)
    }

    @Test("a long line stops the reading, and has an end that a typed refusal names")
    mutating func longLine() {
        for id in 0..<UInt64(CallQueue.waitingMax) {
            #expect(queue.isLong == (id > CallQueue.readingMax))
            #expect(queue.begin(.getLocks, isWritable: false) == .queue)
            queue.wait(call(id, .getLocks))
        }
        #expect(queue.begin(.getLocks, isWritable: false) == .refuse)
        let error = RTMError.tooManyQueuedCalls
        #expect(error.code == .operationRateExceedLimitation && error.retryAfter == .seconds(1))
        #expect(error.limit?.value == UInt64(CallQueue.waitingMax))
    }
}
