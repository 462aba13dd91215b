/// Something that a loop remembers for a while.
protocol DatedFact {
    /// UTC, milliseconds since 1970.
    var at: UInt64 { get }
}

/// The latest facts of one kind; one more replaces the oldest. Pure.
struct FactRing<Fact: DatedFact> {
    private let countMax: Int
    private var ring: [Fact] = []
    /// The index of the oldest one, once the ring is full.
    private var oldest = 0
    /// No fact that came since then is missing, in milliseconds since 1970.
    private(set) var since: UInt64

    /// - Parameter now: when it begins, in milliseconds since 1970.
    init(_ countMax: Int, now: UInt64) {
        self.countMax = countMax
        since = now
    }

    mutating func append(_ fact: Fact) {
        guard ring.count == countMax else { return ring.append(fact) }
        // Others of the same millisecond may be gone, too.
        since = max(since, ring[oldest].at + 1)
        ring[oldest] = fact
        oldest = (oldest + 1) % countMax
    }

    /// Changes the newest one.
    ///
    /// - Returns: whether there was one that the body wanted to change.
    mutating func changeNewest(_ body: (inout Fact) -> Bool) -> Bool {
        guard !ring.isEmpty else { return false }
        return body(&ring[(oldest + ring.count - 1) % ring.count])
    }

    /// The newest first.
    var newestFirst: some Sequence<Fact> {
        (0..<ring.count).lazy.map { ring[(oldest + ring.count - 1 - $0) % ring.count] }
    }
}
