import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("Memory of frames that is used again")
struct FrameMemoryTests {
    private func delivery<Result>(_ bytes: [UInt8], _ body: (DeliveryPush) -> Result) -> Result {
        bytes.withUnsafeBytes {
            body(
                DeliveryPush(
                    interest: 1, offset: 1, offsetsBetween: 0, count: 1, publisherSession: 9,
                    feature: .message, frames: WireText($0)))
        }
    }

    @Test("a batch gets other memory while a session still holds the one before")
    func batch() {
        var batch = DeliveryBatch()
        var held: [ByteBuffer] = []
        func turn(_ bytes: [UInt8], isHeld: Bool) -> UnsafeRawPointer? {
            delivery(bytes) { batch.append($0, without: 0) }
            let memory = batch.frames.withUnsafeReadableBytes { $0.baseAddress }
            batch.handOut(to: []) { batch, _ in if isHeld { held.append(batch.frames) } }
            return memory
        }
        let first = turn([0, 0, 0, 1, 7], isHeld: true)
        let second = turn([0, 0, 0, 1, 8], isHeld: false)
        let third = turn([0, 0, 0, 1, 9], isHeld: true)
        #expect(first != second)
        #expect(second == third)
        #expect(held.map { Array($0.readableBytesView) } == [[0, 0, 0, 1, 7], [0, 0, 0, 1, 9]])
    }

    @Test("a buffer of many frames isn't kept, and neither is a slice of one")
    func large() {
        var memory = FrameMemory()
        var large = ByteBuffer(repeating: 1, count: 100_000)
        memory.keep(large)
        #expect(memory.take().storageCapacity == 0)
        if let slice = large.readSlice(length: 10) { memory.keep(slice) }
        #expect(memory.take().storageCapacity == 0)
        memory.keep(ByteBuffer(bytes: [1, 2]))
        let taken = memory.take()
        #expect(taken.readableBytes == 0 && taken.storageCapacity > 0)
    }
}
