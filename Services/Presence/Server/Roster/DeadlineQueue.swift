import HeapModule

/// One deadline for each key. Keys come out in the order of their deadlines, and in their own order when the
/// deadlines are equal.
///
/// A key without a deadline takes no memory and no time, so a user who is simply online costs a sweep
/// nothing. A moved or cancelled deadline stays in the heap until it comes to the top. When such leftovers
/// outnumber the rest, the heap is rebuilt.
package struct DeadlineQueue<Key: Hashable & Comparable & Sendable>: Sendable {
    private struct Entry: Comparable {
        let deadline: UInt64
        let key: Key

        static func < (first: Entry, second: Entry) -> Bool {
            (first.deadline, first.key) < (second.deadline, second.key)
        }
    }

    private var deadlines: [Key: UInt64] = [:]
    private var heap = Heap<Entry>()

    package init() {}

    package var count: Int { deadlines.count }
    /// The size of the heap, including leftovers.
    var heapCount: Int { heap.count }

    package subscript(key: Key) -> UInt64? { deadlines[key] }

    /// Sets a key's deadline; nil cancels it.
    package mutating func set(_ deadline: UInt64?, for key: Key) {
        guard let deadline else {
            deadlines[key] = nil
            return compactIfDue()
        }
        guard deadlines.updateValue(deadline, forKey: key) != deadline else { return }
        heap.insert(Entry(deadline: deadline, key: key))
        compactIfDue()
    }

    /// The earliest deadline.
    package mutating func next() -> UInt64? {
        dropLeftovers()
        return heap.min?.deadline
    }

    /// Takes out a key whose deadline has come, or returns nil when there is none.
    package mutating func popDue(now: UInt64) -> Key? {
        dropLeftovers()
        guard let first = heap.min, first.deadline <= now else { return nil }
        heap.removeMin()
        deadlines[first.key] = nil
        return first.key
    }

    private mutating func dropLeftovers() {
        while let first = heap.min, deadlines[first.key] != first.deadline { heap.removeMin() }
    }

    /// Keeps the heap within about twice the number of its living entries.
    private mutating func compactIfDue() {
        guard heap.count > 2 * deadlines.count + 64 else { return }
        heap = Heap(deadlines.map { Entry(deadline: $1, key: $0) })
    }
}
