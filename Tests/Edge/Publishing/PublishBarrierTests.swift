import NIOCore
import Testing

@testable import RTMEdgeServer

@Suite("Publishes behind others that were refused for the moment")
struct PublishBarrierTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test("wait until the earliest of those has come again (M-25)")
    func order() {
        var barrier = PublishBarrier()
        func admits(_ sequence: UInt64) -> Bool { barrier.wait(of: sequence, now: start) == nil }
        #expect(admits(4))
        for sequence in [6, 5, 7] as [UInt64] { barrier.refused(sequence, pause: .zero, now: start) }
        for sequence in [8, 6, 9] as [UInt64] { #expect(!admits(sequence)) }
        for sequence in [5, 6, 7, 8] as [UInt64] { #expect(admits(sequence)) }
    }

    @Test("wait anew when it is refused once more")
    func again() {
        var barrier = PublishBarrier()
        func admits(_ sequence: UInt64) -> Bool { barrier.wait(of: sequence, now: start) == nil }
        barrier.refused(5, pause: .zero, now: start)
        #expect(admits(5))
        barrier.refused(5, pause: .zero, now: start)
        #expect(!admits(6))
    }

    @Test("don't wait for long for a client that doesn't repeat them, and those without sequence never")
    func impatience() {
        var barrier = PublishBarrier()
        func admits(_ sequence: UInt64, _ now: NIODeadline) -> Bool {
            barrier.wait(of: sequence, now: now) == nil
        }
        barrier.refused(5, pause: .zero, now: start)
        #expect(admits(0, start))
        let late = start + PublishBarrier.timeout
        barrier.refused(6, pause: .zero, now: late - .seconds(1))
        #expect(!admits(6, late - .nanoseconds(1)))
        #expect(admits(6, late))
        #expect(admits(7, start), "then it is over")
        barrier.refused(9, pause: .zero, now: late)
        #expect(!admits(10, late))
        #expect(admits(6, late))
    }

    @Test("are told to come when the awaited one does, or a moment later")
    func wait() {
        var barrier = PublishBarrier()
        barrier.refused(5, pause: .milliseconds(300), now: start)
        #expect(barrier.wait(of: 6, now: start + .milliseconds(100)) == .milliseconds(200))
        #expect(barrier.wait(of: 6, now: start + .milliseconds(299)) == .milliseconds(20))
        #expect(barrier.wait(of: 6, now: start + .milliseconds(400)) == .milliseconds(20))
    }

    @Test("hold up those to the same shard, and none to others; what is over leaves nothing behind")
    func shards() {
        var barriers = PublishBarriers()
        barriers.refused(5, in: 2, pause: .milliseconds(300), now: start)
        barriers.refused(7, in: 0, pause: .zero, now: start)
        #expect(barriers.wait(of: 8, in: 2, now: start) == .milliseconds(300))
        #expect(barriers.wait(of: 8, in: 1, now: start) == nil)
        #expect(barriers.wait(of: 5, in: 2, now: start) == nil)
        #expect(barriers.wait(of: 8, in: 2, now: start) == nil)
        #expect(!barriers.isEmpty)
        #expect(barriers.wait(of: 8, in: 0, now: start) == .milliseconds(20))
        #expect(barriers.wait(of: 9, in: 0, now: start + PublishBarrier.timeout) == nil)
        #expect(barriers.isEmpty)
    }
}
