import NIOCore
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMEdgeServer

/// What waits of topics for a client that is behind (C-14).
@Suite struct TopicBacklogTests {
    private var backlog = TopicBacklog()

    /// A frame that says of which topic it is, and the how many-th.
    private static func frame(_ topic: Int, _ number: Int, filler: Int = 0) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.writeInteger(UInt32(16 + filler))
        frame.writeInteger(topic)
        frame.writeInteger(number)
        frame.writeRepeatingByte(0, count: filler)
        return frame
    }

    private mutating func write(
        _ topic: Int, _ numbers: ClosedRange<Int>, _ priority: TopicPriority, filler: Int = 0
    ) {
        backlog.write(of: TopicRank(index: topic, priority: priority)) { outbound in
            for number in numbers { outbound.writeImmutableBuffer(Self.frame(topic, number, filler: filler)) }
        }
    }

    private func read(_ frames: ByteBuffer?) -> [[Int]] {
        guard var frames else { return [] }
        var read: [[Int]] = []
        while let length = frames.readInteger(as: UInt32.self),
            var frame = frames.readSlice(length: Int(length)),
            let topic = frame.readInteger(as: Int.self), let number = frame.readInteger(as: Int.self)
        {
            read.append([topic, number])
        }
        #expect(frames.readableBytes == 0, "half a frame")
        return read
    }

    @Test("C-14: the most urgent topic goes first, and those of one priority take turns")
    mutating func order() {
        write(1, 1...3, .low)
        write(2, 1...3, .normal)
        write(3, 1...2, .normal)
        write(4, 1...1, .highest)
        write(5, 1...1, .high)
        var seen: [[Int]] = []
        while let frames = backlog.next(bytes: 30) { seen += read(frames) }
        #expect(
            seen == [
                [4, 1], [5, 1], [2, 1], [2, 2], [3, 1], [3, 2], [2, 3], [1, 1], [1, 2], [1, 3],
            ])
        #expect(backlog.isEmpty && backlog.bytes == 0)
    }

    @Test("C-14: an urgent entry takes along what stands before it in its topic")
    mutating func promoted() {
        write(1, 1...2, .low)
        write(2, 1...1, .normal)
        write(1, 3...3, .high)
        #expect(read(backlog.next(bytes: 1_000)) == [[1, 1], [1, 2], [1, 3]])
        write(1, 4...4, .low)
        #expect(read(backlog.next(bytes: 1_000)) == [[2, 1]], "what is gone doesn't count any more")
    }

    @Test("what is taken out of turn comes whole, and nothing of it stays")
    mutating func taken() {
        write(1, 1...2, .low)
        write(2, 1...1, .high)
        #expect(read(backlog.take(1)) == [[1, 1], [1, 2]])
        #expect(backlog.take(1) == nil)
        write(1, 3...3, .highest)
        #expect(read(backlog.takeAll()) == [[1, 3], [2, 1]] && backlog.isEmpty)
    }

    @Test("C-14: whatever comes and goes, each topic keeps its order, and nothing is lost", arguments: 1...30)
    mutating func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var written: [Int: Int] = [:]
        var seen: [Int: Int] = [:]
        func see(_ frames: ByteBuffer?) {
            for entry in read(frames) {
                #expect(entry[1] == seen[entry[0], default: 0] + 1)
                seen[entry[0]] = entry[1]
            }
        }
        for _ in 0..<400 {
            let topic = Int.random(in: 0..<6, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5:
                let first = written[topic, default: 0] + 1
                let last = first + Int.random(in: 0..<4, using: &random)
                written[topic] = last
                let priority = TopicPriority.allCases.randomElement(using: &random) ?? .normal
                write(topic, first...last, priority, filler: Int.random(in: 0..<200, using: &random))
            case 6...8: see(backlog.next(bytes: Int.random(in: 1..<600, using: &random)))
            default: see(backlog.take(topic))
            }
        }
        see(backlog.takeAll())
        #expect(seen == written)
    }
}
