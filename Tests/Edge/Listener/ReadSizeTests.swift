import NIOCore
import Testing

@testable import RTMEdgeServer

@Suite("How much a connection reads at once")
struct ReadSizeTests {
    private var size = ReadSize()

    @Test("a read that fills its buffer doubles the next one, up to a limit")
    mutating func grows() {
        #expect(size.nextBufferSize() == Int(ReadSize.bytesMin))
        var bytes = Int(ReadSize.bytesMin)
        while bytes < ReadSize.bytesMax {
            let mayGrow = size.record(actualReadBytes: bytes)
            bytes *= 2
            #expect(mayGrow && size.nextBufferSize() == bytes)
        }
        let mayGrow = size.record(actualReadBytes: bytes)
        #expect(!mayGrow && size.nextBufferSize() == bytes)
        #expect(size.buffer(allocator: ByteBufferAllocator()).capacity == bytes)
    }

    @Test("the second small read in a row halves it, down to a limit")
    mutating func shrinks() {
        for _ in 0..<2 { _ = size.record(actualReadBytes: size.nextBufferSize() ?? 0) }
        let sizes = [10, 200, 10, 10, 10, 10, 10].map { bytes in
            _ = size.record(actualReadBytes: bytes)
            return size.nextBufferSize()
        }
        #expect(sizes == [256, 256, 256, 128, 128, 64, 64])
    }

    @Test("it lies in a channel without memory of its own")
    func fits() { #expect(MemoryLayout<ReadSize>.size <= 3 * MemoryLayout<Int>.size) }
}
