/// How much each session or channel of an app does while somebody measures it. Nothing is counted at other
/// times, so they have no counters of their own. Pure.
struct LoudCounts<Key: Hashable> {
    /// Limit: keys that are counted. Twice as many are in the table before the quieter half is dropped, so
    /// what is louder than this many others is never lost.
    static var keysMax: Int { 4_096 }

    struct Count: Equatable {
        /// What the order goes by: messages of a session, deliveries of a channel.
        var weight: UInt64 = 0
        /// What is counted beside it: bytes of a session, entries of a channel.
        var amount: UInt64 = 0
    }

    let appID: String
    private var counts: [Key: Count] = [:]
    /// How often a key was dropped.
    private(set) var omitted = 0

    init(of appID: String) { self.appID = appID }

    mutating func add(_ key: Key, weight: UInt64, amount: UInt64) {
        counts[key, default: Count()].weight += weight
        counts[key, default: Count()].amount += amount
        if counts.count >= 2 * Self.keysMax { cut() }
    }

    private mutating func cut() {
        omitted += counts.count - Self.keysMax
        let loudest = counts.sorted { $0.value.weight > $1.value.weight }.prefix(Self.keysMax)
        counts = Dictionary(uniqueKeysWithValues: loudest.map { ($0.key, $0.value) })
    }

    /// The loudest first.
    func loudest(_ limit: Int) -> [(key: Key, count: Count)] {
        var list = TopList<(key: Key, count: Count)>(limit)
        for (key, count) in counts { list.add((key, count), Double(count.weight)) }
        return list.largest().map(\.element)
    }
}
