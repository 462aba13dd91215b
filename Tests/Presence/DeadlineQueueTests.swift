import RTMTestSupport
import Testing

@testable import RTMPresenceServer

@Suite("Deadlines")
struct DeadlineQueueTests {
    @Test("keys come in the order of their last deadlines, each once", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = DeadlineQueue<Int>()
        var model: [Int: UInt64] = [:]
        var now: UInt64 = 0
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<50, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let deadline = now + UInt64.random(in: 0..<100, using: &random)
                queue.set(deadline, for: key)
                model[key] = deadline
            case 2:
                queue.set(nil, for: key)
                model[key] = nil
            default:
                now += UInt64.random(in: 0..<30, using: &random)
                #expect(queue.next() == model.values.min())
                var last: UInt64 = 0
                while let due = queue.popDue(now: now) {
                    let deadline = model.removeValue(forKey: due) ?? .max
                    #expect(last <= deadline && deadline <= now)
                    last = deadline
                }
                #expect(model.values.allSatisfy { $0 > now })
            }
            #expect(queue.count == model.count)
        }
    }

    @Test("a key that moves its deadline for ever doesn't grow the heap")
    func compacts() {
        var queue = DeadlineQueue<Int>()
        for round in 0..<10_000 { queue.set(UInt64(10_000_000 + round), for: round % 10) }
        #expect(queue.count == 10)
        #expect(queue.heapCount < 100)
    }
}

@Suite("Sorted names")
struct SortedNamesTests {
    @Test("insertions, removals and pages agree with a sorted set", arguments: 1...10)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var names = SortedNames()
        var model: Set<String> = []
        for _ in 0..<4_000 {
            let name = "u\(Int.random(in: 0..<3_000, using: &random))"
            if random.chance(7, in: 10) {
                #expect(names.insert(name) == model.insert(name).inserted)
            } else {
                names.remove(name)
                model.remove(name)
            }
        }
        #expect(names.count == model.count)
        let sorted = model.sorted()
        #expect(names.names(after: nil, countMax: .max) == sorted)
        for _ in 0..<200 {
            let name = "u\(Int.random(in: 0..<3_000, using: &random))"
            let count = Int.random(in: 0..<150, using: &random)
            #expect(
                names.names(after: name, countMax: count) == Array(sorted.filter { $0 > name }.prefix(count)))
        }
        for name in sorted { names.remove(name) }
        #expect(names.count == 0)
        #expect(names.names(after: nil, countMax: 10).isEmpty)
    }
}
