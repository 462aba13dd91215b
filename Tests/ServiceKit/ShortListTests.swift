import RTMServiceKit
import RTMTestSupport
import Testing

@Suite("Short lists")
struct ShortListTests {
    @Test("a short list agrees with an array", arguments: 1...5)
    func agreesWithArray(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = ShortList<Int>()
        var array: [Int] = []
        for step in 0..<2_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                list.append(step)
                array.append(step)
            case 2 where !array.isEmpty:
                let index = Int.random(in: array.indices, using: &random)
                list.swapRemove(at: index)
                array.swapAt(index, array.count - 1)
                array.removeLast()
            case 3:
                let divisor = Int.random(in: 2...4, using: &random)
                list.removeAll { $0.isMultiple(of: divisor) }
                array.removeAll { $0.isMultiple(of: divisor) }
            default: break
            }
            var visited: [Int] = []
            list.each { visited.append($0) }
            #expect(Array(list) == array && visited == array, "step \(step)")
            #expect(list.count == array.count && list.isEmpty == array.isEmpty, "step \(step)")
            #expect(list == ShortList(array), "step \(step)")
        }
    }

    @Test("one element lies in the list itself")
    func oneElement() {
        var list: ShortList<UInt64> = [1]
        guard case .one(1) = list else {
            Issue.record("it is \(list)")
            return
        }
        list.append(2)
        list.swapRemove(at: 0)
        #expect(Array(list) == [2])
        list.swapRemove(at: 0)
        guard case .none = list else {
            Issue.record("it is \(list)")
            return
        }
    }
}
