import NIOCore
import Testing

@testable import RTMServiceLink

@Suite("Whether a peer reads what waits for it")
struct WriteProgressTests {
    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test("the time begins with the first byte that waits, and ends when nothing does")
    func beginning() {
        var progress = WriteProgress(timeout: .seconds(30))
        #expect(progress.deadline == nil)
        progress.added(100, now: at(1))
        progress.added(100, now: at(9))
        #expect(progress.deadline == at(31))
        progress.waits(0, now: at(10))
        #expect(progress.deadline == nil)
        progress.added(1, now: at(20))
        #expect(progress.deadline == at(50))
    }

    @Test("who reads enough has its time anew, and a byte now and then isn't enough")
    func least() {
        var progress = WriteProgress(timeout: .seconds(30), bytesMin: 1_000)
        progress.added(5_000, now: at(0))
        progress.waits(4_001, now: at(10))
        #expect(progress.deadline == at(30))
        progress.waits(4_000, now: at(20))
        #expect(progress.deadline == at(50))
        // What comes meanwhile isn't taken for unread bytes of before.
        progress.added(3_000, now: at(25))
        progress.waits(6_001, now: at(30))
        #expect(progress.deadline == at(50))
        progress.waits(6_000, now: at(40))
        #expect(progress.deadline == at(70))
    }
}
