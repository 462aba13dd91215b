import RTMTestSupport
import Testing

/// The judges of recorded histories find what is wrong in them.
@Suite("The judges of recorded histories")
struct CallHistoryTests {
    private let zero = ContinuousClock.now

    private func at(_ second: Int) -> ContinuousClock.Instant { zero + .seconds(second) }

    private typealias Call = RevisionHistory.Call

    private func write(_ begin: Int, _ end: Int, _ revision: Int64, over compared: Int64) -> Call {
        Call(
            begin: at(begin), end: at(end), outcome: .wrote(revision),
            write: (compared: compared, value: "v\(revision)"))
    }

    private func read(_ begin: Int, _ end: Int, _ revision: Int64, _ value: String? = nil) -> Call {
        Call(begin: at(begin), end: at(end), outcome: .saw(revision, value: value ?? "v\(revision)"))
    }

    private func refused(_ begin: Int, _ end: Int, _ revision: Int64, over compared: Int64) -> Call {
        Call(
            begin: at(begin), end: at(end), outcome: .saw(revision, value: nil),
            write: (compared: compared, value: "lost"))
    }

    private func violations(_ calls: Call..., to end: Int64) -> [String] {
        var history = RevisionHistory()
        for call in calls { history.add(call) }
        return history.violations(from: (revision: 1, value: "v1"), to: end)
    }

    @Test("what fits one order is found to fit")
    func sound() {
        let found = violations(
            write(0, 5, 2, over: 1), read(0, 1, 1), read(1, 2, 2), refused(2, 4, 2, over: 1),
            write(3, 9, 3, over: 2), read(4, 5, 2), read(6, 7, 3), read(6, 8, 2), to: 3)
        #expect(found.isEmpty, "\(found)")
        var history = RevisionHistory()
        for call in [write(0, 5, 2, over: 1), refused(2, 4, 2, over: 1), read(2, 4, 2)] { history.add(call) }
        #expect(history.writtenCount == 1 && history.refusedCount == 1)
    }

    @Test("a write whose answer was lost may have taken place, and may not")
    func unanswered() {
        let lost = Call(
            begin: at(2), end: at(3), outcome: .unanswered, write: (compared: 2, value: "lost"))
        #expect(violations(write(0, 1, 2, over: 1), lost, write(5, 6, 4, over: 3), to: 4).isEmpty)
        #expect(violations(write(0, 1, 2, over: 1), lost, write(5, 6, 3, over: 2), to: 3).isEmpty)
        #expect(!violations(read(0, 1, 3), lost, write(0, 1, 2, over: 1), to: 3).isEmpty, "before it began")
    }

    @Test("two winners, a lost update, a stale read and what comes from the future are found")
    func unsound() {
        #expect(!violations(write(0, 5, 2, over: 1), write(0, 5, 2, over: 1), to: 2).isEmpty)
        #expect(!violations(write(0, 5, 2, over: 1), write(0, 5, 3, over: 1), to: 3).isEmpty)
        #expect(!violations(write(0, 5, 2, over: 1), write(0, 5, 4, over: 3), to: 4).isEmpty)
        #expect(!violations(write(0, 5, 2, over: 1), to: 1).isEmpty, "it is gone")
        #expect(!violations(write(0, 1, 2, over: 1), read(2, 3, 1), to: 2).isEmpty)
        #expect(!violations(write(0, 9, 2, over: 1), read(1, 2, 2), read(3, 4, 1), to: 2).isEmpty)
        #expect(!violations(read(0, 1, 2), write(2, 3, 2, over: 1), to: 2).isEmpty)
        #expect(!violations(write(0, 1, 2, over: 1), read(0, 1, 2, "v1"), to: 2).isEmpty)
        #expect(!violations(write(0, 3, 2, over: 1), refused(0, 1, 1, over: 1), to: 2).isEmpty)
        #expect(!violations(write(2, 3, 2, over: 1), write(0, 1, 3, over: 2), to: 3).isEmpty)
    }

    private func hold(_ token: UInt64, _ times: [Int]) -> LockHistory.Hold {
        LockHistory.Hold(
            token: token, asked: at(times[0]), granted: at(times[1]), releasing: at(times[2]),
            released: at(times[3]))
    }

    private func violations(_ holds: LockHistory.Hold..., refusal: (Int, Int)? = nil) -> [String] {
        var history = LockHistory()
        for hold in holds { history.add(hold) }
        if let refusal { history.addRefusal(from: at(refusal.0), to: at(refusal.1)) }
        return history.violations
    }

    @Test("owners one after the other are found to be so, and others aren't")
    func locks() {
        #expect(violations(hold(1, [0, 1, 2, 5]), hold(2, [0, 3, 4, 6]), refusal: (5, 9)).isEmpty)
        #expect(!violations(hold(1, [0, 1, 4, 5]), hold(2, [0, 3, 6, 7])).isEmpty, "two at a time")
        #expect(!violations(hold(2, [0, 1, 2, 3]), hold(1, [4, 5, 6, 7])).isEmpty, "the token goes back")
        #expect(!violations(hold(1, [0, 1, 2, 3]), hold(1, [4, 5, 6, 7])).isEmpty, "a token twice")
        #expect(
            !violations(hold(1, [0, 1, 8, 9]), hold(2, [0, 10, 11, 12]), hold(3, [0, 7, 13, 14])).isEmpty)
        #expect(!violations(hold(1, [0, 1, 2, 3]), refusal: (4, 5)).isEmpty)
    }
}
