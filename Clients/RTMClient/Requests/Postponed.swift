/// What could not be had at the moment, and when all of it is tried again.
struct Postponed<Element: Hashable> {
    private(set) var elements: Set<Element> = []
    private(set) var at: Link.Instant?

    /// The earliest time that anything asked for is that of all.
    mutating func put(_ element: Element, until time: Link.Instant) {
        elements.insert(element)
        at = min(at ?? time, time)
    }

    /// Returns whether it was there.
    mutating func remove(_ element: Element) -> Bool { elements.remove(element) != nil }

    /// What is due, which is nothing before its time.
    mutating func takeDue(now: Link.Instant) -> Set<Element> {
        guard let at, now >= at else { return [] }
        defer { self = Postponed() }
        return elements
    }
}
