import Dispatch
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMServiceKit

@Suite("The log's queue") struct LogOutputTests {
    private func line(_ number: Int) -> LogQueue.Element { .line("\(number)\n", .error) }

    @Test("what doesn't fit is dropped and counted, and the log says where it is missing once it flows again")
    func gap() {
        var queue = LogQueue(bytesMax: 8)
        for number in 1...7 { queue.add("\(number)\n", to: .error) }
        #expect(queue.droppedCount == 3)
        let first = queue.take()
        #expect(first == [1, 2, 3, 4].map(line))
        // Room that is taken but not written is no room, and less than half of it lets nothing in.
        queue.add("8\n", to: .error)
        queue.written(first[0])
        queue.add("9\n", to: .error)
        queue.written(first[1])
        queue.add("10\n", to: .error)
        #expect(queue.take() == [.gap(5), line(10)])
        #expect(queue.droppedCount == 5)
        #expect(queue.isEmpty)
    }

    @Test("a gap is written even if no line follows")
    func lastGap() {
        var queue = LogQueue(bytesMax: 4)
        for number in 1...3 { queue.add("\(number)\n", to: .error) }
        #expect(queue.take() == [1, 2].map(line))
        #expect(!queue.isEmpty)
        #expect(queue.take() == [.gap(1)])
        #expect(queue.take().isEmpty)
    }

    @Test("whoever logs doesn't wait for whoever reads, and everything is written in order at the end")
    func stuckReader() async throws {
        let reads = DispatchSemaphore(value: 0)
        let written = Mutex<[String]>([])
        let output = LogOutput(bytesMax: 8) { _, text in
            reads.wait()
            written.withLock { $0.append(text) }
        }
        output.onGap { lines in written.withLock { $0.append("gap of \(lines)") } }
        for number in 1...6 { output.add("\(number)\n", to: .error) }
        #expect(output.droppedCount == 2)
        output.finish(within: .milliseconds(20))
        #expect(written.withLock { $0.isEmpty })
        for _ in 1...4 { reads.signal() }
        output.finish(within: .seconds(30))
        #expect(written.withLock { $0 } == ["1\n", "2\n", "3\n", "4\n", "gap of 2"])
    }
}
