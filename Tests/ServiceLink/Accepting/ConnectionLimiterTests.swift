import RTMTestSupport
import Synchronization
import Testing

@testable import RTMServiceLink

@Suite("Counting connections")
struct ConnectionLimiterTests {
    @Test("in total: one more than the limit is refused with the limit, and admitted once another has gone")
    func total() {
        let limiter = ConnectionLimiter(totalMax: 3, perAddressMax: 100)
        for address in ["a", "b", "c"] { #expect(limiter.admit(address) == .admitted) }
        #expect(reason(limiter.admit("d"))?.contains("3") == true)
        limiter.release("b")
        #expect(limiter.admit("d") == .admitted)
        #expect(limiter.admit("e") != .admitted)
    }

    @Test("so many are told why they can't come in; the others are closed without a word")
    func dropped() {
        let limiter = ConnectionLimiter(totalMax: 1, perAddressMax: 100, refusedMax: 2)
        #expect(limiter.admit("a") == .admitted)
        for _ in 0..<2 { #expect(reason(limiter.admit("b")) != nil) }
        #expect(limiter.admit("c") == .dropped)
        limiter.releaseRefused()
        #expect(reason(limiter.admit("c")) != nil)
        #expect(limiter.admit("c") == .dropped)
        limiter.release("a")
        #expect(limiter.admit("c") == .admitted)
    }

    @Test("by address: one address at its limit doesn't keep others out, and a refusal counts for nothing")
    func perAddress() {
        let limiter = ConnectionLimiter(totalMax: 100, perAddressMax: 2)
        for _ in 0..<2 { #expect(limiter.admit("a") == .admitted) }
        for _ in 0..<5 { #expect(reason(limiter.admit("a"))?.contains("2") == true) }
        #expect(limiter.admit("b") == .admitted)
        limiter.release("a")
        #expect(limiter.admit("a") == .admitted)
        #expect(limiter.admit("a") != .admitted)
    }

    @Test("an address that has gone altogether begins again")
    func forgotten() {
        let limiter = ConnectionLimiter(totalMax: 10, perAddressMax: 1)
        for _ in 0..<100 {
            #expect(limiter.admit("a") == .admitted)
            limiter.release("a")
        }
    }

    @Test("from many threads at once: never more than allowed, and nothing is counted twice or forgotten")
    func concurrency() async {
        let limiter = ConnectionLimiter(totalMax: 50, perAddressMax: 20)
        let held = Held()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: task)
                    var mine: [String] = []
                    for _ in 0..<3000 {
                        if random.chance(3, in: 5) {
                            let address = "\(random.next() % 4)"
                            if limiter.admit(address) == .admitted {
                                mine.append(address)
                                held.add(1)
                            }
                        } else if let address = mine.popLast() {
                            held.add(-1)
                            limiter.release(address)
                        }
                    }
                    for address in mine {
                        held.add(-1)
                        limiter.release(address)
                    }
                }
            }
        }
        #expect(held.most == 50)
        for address in ["0", "1"] { for _ in 0..<20 { #expect(limiter.admit(address) == .admitted) } }
        for _ in 0..<10 { #expect(limiter.admit("2") == .admitted) }
        #expect(limiter.admit("3") != .admitted)
    }

    private func reason(_ verdict: ConnectionLimiter.Verdict) -> String? {
        if case .refused(let reason) = verdict { reason } else { nil }
    }
}

/// How many connections are admitted, and were at most.
private final class Held: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock(\.most) }

    func add(_ change: Int) {
        counts.withLock { counts in
            counts.now += change
            counts.most = max(counts.most, counts.now)
        }
    }
}
