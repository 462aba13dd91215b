/// The largest of many. It keeps about twice as many as are wanted. Pure.
struct TopList<Element> {
    private let countMax: Int
    private var found: [(value: Double, element: Element)] = []
    /// What is smaller isn't among the largest.
    private var least = 0.0

    init(_ countMax: Int) { self.countMax = countMax }

    /// What has the value 0 is left out.
    mutating func add(_ element: Element, _ value: Double) {
        guard value > least else { return }
        found.append((value, element))
        if found.count >= 2 * countMax { cut() }
    }

    private mutating func cut() {
        found.sort { $0.value > $1.value }
        guard found.count > countMax else { return }
        found.removeLast(found.count - countMax)
        least = found[countMax - 1].value
    }

    /// The largest one first.
    func largest() -> [(value: Double, element: Element)] {
        var list = self
        list.cut()
        return list.found
    }
}
