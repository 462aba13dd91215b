import DequeModule

/// The last entries of a client's record. Things of one kind within ten seconds share an entry, so that a
/// busy client remembers minutes and not moments. A change of the link and a gap stand by themselves, and
/// nothing that comes behind them is counted before them. Pure: it gets the time.
struct FlightRing {
    typealias Entry = FlightRecord.Entry

    /// Milliseconds within which things share an entry.
    static let window: UInt64 = 10_000
    /// How many of the latest entries are looked at for one to share.
    private static let reach = 12

    private let capacity: Int
    private(set) var entries: Deque<Entry> = []

    /// - Parameter capacity: how many entries are kept; 0 keeps none.
    init(capacity: Int) { self.capacity = capacity }

    mutating func note(_ entry: Entry) {
        guard capacity > 0 else { return }
        if let index = shared(with: entry) {
            entries[index].count += entry.count
            entries[index].bytes += entry.bytes
            entries[index].longest = max(entries[index].longest, entry.longest)
            entries[index].until = max(entries[index].until, entry.until)
            return
        }
        if entries.count == capacity { entries.removeFirst() }
        entries.append(entry)
    }

    private func shared(with entry: Entry) -> Int? {
        guard !entry.kind.standsAlone else { return nil }
        var index = entries.endIndex
        let last = max(entries.startIndex, index - Self.reach)
        while index > last {
            index -= 1
            let other = entries[index]
            if other.kind.standsAlone { return nil }
            guard other.kind == entry.kind, other.code == entry.code, other.name == entry.name else {
                continue
            }
            return entry.at <= other.at + Self.window ? index : nil
        }
        return nil
    }
}

extension FlightRecord.Entry.Kind {
    fileprivate var standsAlone: Bool { self == .link || self == .gap }
}
