import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMEdgeServer

/// What waits for one client, in its order, and how much memory it is.
@Suite struct OutboundQueueTests {
    private var outbound = OutboundQueue()

    /// A frame of the length that begins with the number.
    private static func frame(_ number: UInt32, length: Int) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.writeInteger(UInt32(length - 4))
        frame.writeInteger(number)
        frame.writeRepeatingByte(0, count: length - 8)
        return frame
    }

    private static func numbers(_ frames: ByteBuffer) -> [UInt32] {
        var (rest, numbers) = (frames, [UInt32]())
        while let length = rest.readInteger(as: UInt32.self), let frame = rest.readSlice(length: Int(length))
        {
            numbers += frame.getInteger(at: frame.readerIndex).map { [$0] } ?? []
        }
        return numbers
    }

    private mutating func takeOut() -> [[UInt32]] {
        var chunks: [[UInt32]] = []
        while let chunk = outbound.next() { chunks.append(Self.numbers(chunk.frames)) }
        return chunks
    }

    @Test("frames gather in chunks and keep their order")
    mutating func chunks() {
        for number in 1...6 { outbound.append(Self.frame(UInt32(number), length: 30_000)) }
        outbound.write { $0.writeImmutableBuffer(Self.frame(7, length: 100)) }
        #expect(outbound.bytes == 180_100 && outbound.frameBytes == 180_100)
        #expect(takeOut() == [[1, 2], [3, 4], [5, 6, 7]])
        #expect(outbound.isEmpty && outbound.bytes == 0 && outbound.heldBytes == 0)
    }

    @Test("what all subscribers share is nobody's memory until something is written behind it")
    mutating func shared() {
        outbound.append(Self.frame(1, length: 1_000))
        #expect(outbound.bytes == 1_000 && outbound.heldBytes == 0)
        outbound.append(Self.frame(2, length: 1_000))
        #expect(outbound.heldBytes == 2_000)
        outbound.append(Self.frame(3, length: 70_000))
        #expect(outbound.bytes == 72_000 && outbound.heldBytes == 2_000)
        #expect(takeOut() == [[1, 2], [3]])
        #expect(outbound.heldBytes == 0)
    }

    @Test("a page goes out in pieces at its place, and isn't among what the client hasn't asked for")
    mutating func page() {
        outbound.append(Self.frame(1, length: 100))
        var page = ByteBuffer()
        for number in 2...5 { page.writeImmutableBuffer(Self.frame(UInt32(number), length: 40_000)) }
        outbound.append(RequestedPage(frames: page))
        outbound.append(Self.frame(6, length: 100))
        #expect(outbound.bytes == 200 && outbound.pageBytes == 160_000 && outbound.heldBytes == 160_000)
        #expect(outbound.next().map { Self.numbers($0.frames) } == [1])
        #expect(outbound.beginsWithPage)
        #expect(outbound.next().map { Self.numbers($0.frames) } == [2, 3])
        #expect(outbound.pageBytes == 80_000 && outbound.heldBytes == 80_000)
        #expect(takeOut() == [[4, 5], [6]])
        #expect(outbound.heldBytes == 0)
    }

    @Test("who is behind is sent nothing of what follows a page that it didn't get; who keeps up gets all")
    mutating func theEnd() {
        for isLagging in [true, false] {
            outbound.append(Self.frame(1, length: 100))
            outbound.append(RequestedPage(frames: Self.frame(2, length: 100)))
            outbound.append(Self.frame(3, length: 100))
            outbound.write(of: TopicRank(index: 1, priority: .low)) {
                $0.writeImmutableBuffer(Self.frame(4, length: 100))
            }
            let all = outbound.takeAll(isLagging: isLagging)
            #expect(Self.numbers(all) == (isLagging ? [1] : [1, 2, 3, 4]))
            #expect(outbound.isEmpty && outbound.bytes == 0 && outbound.pageBytes == 0)
        }
    }

    @Test("R-18: who holds the most loses first, and a relief leaves an eighth free")
    func budget() {
        var budget = UnreadBudget(bytesMax: 800)
        budget.change(by: 800)
        #expect(!budget.isOver && !budget.isRelieved)
        budget.change(by: 1)
        #expect(budget.isOver)
        budget.change(by: -101)
        #expect(!budget.isOver && budget.isRelieved)
        #expect(UnreadBudget.largestFirst([("a", 1), ("b", 0), ("c", 9), ("d", 5)]) == ["c", "d", "a"])
    }
}
