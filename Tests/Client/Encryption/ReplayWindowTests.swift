import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("The replay window")
struct ReplayWindowTests {
    @Test("each counter is accepted once; far behind the newest nothing is", arguments: 0..<50)
    func generated(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let first = random.chance(1, in: 2) ? UInt32.max - 500 : UInt32.random(in: 0...100, using: &random)
        var window = ReplayWindow(first: first)
        var accepted: Set<UInt32> = [first]
        for _ in 0..<2_000 {
            let newest = accepted.max() ?? 0
            let step = Int64.random(in: -100...(random.chance(1, in: 20) ? 200 : 3), using: &random)
            let counter = UInt32(clamping: Int64(newest) + step)
            let expected =
                !accepted.contains(counter)
                && (counter > newest || newest - counter < ReplayWindow.width)
            #expect(window.accepts(counter) == expected)
            if expected { accepted.insert(counter) }
        }
    }

    @Test("what comes in order is accepted, with and without holes")
    func inOrder() {
        var window = ReplayWindow(first: 0)
        for counter: UInt32 in [1, 2, 3, 66, 67, 131, 195, 1_000_000, .max] {
            let answers = [window.accepts(counter), window.accepts(counter)]
            #expect(answers == [true, false])
        }
    }
}

@Suite("What was used lately")
struct RecentTableTests {
    @Test("the last values stay, and there are never more than twice as many", arguments: 0..<20)
    func generated(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let capacity = Int.random(in: 1...20, using: &random)
        var table = RecentTable<Int, Int>(capacity: capacity)
        var used: [Int] = []
        var values: [Int: Int] = [:]
        for step in 0..<2_000 {
            let key = Int.random(in: 0...60, using: &random)
            if random.chance(1, in: 2) {
                table.put(step, for: key)
                values[key] = step
                used.append(key)
            } else if let value = table.value(of: key) {
                #expect(value == values[key])
                used.append(key)
            }
            #expect(table.count <= 2 * capacity)
            var lately: Set<Int> = []
            for key in used.reversed() where lately.count < capacity { lately.insert(key) }
            guard step.isMultiple(of: 50) else { continue }
            var copy = table
            for key in lately { #expect(copy.value(of: key) == values[key]) }
        }
    }
}
