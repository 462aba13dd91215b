extension ContiguousArray {
    /// Appends an element. An array without room grows by a quarter, where `append` would double it.
    ///
    /// For tables of large values that live long: on average an eighth of their memory is unused instead of a
    /// third, and an element is moved some five times instead of twice.
    @inlinable package mutating func appendSparingly(_ element: Element) {
        if count == capacity { reserveCapacity(count + count / 4 + 4) }
        append(element)
    }
}
