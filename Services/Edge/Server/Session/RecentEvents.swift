import NIOCore

/// A strict limit: within any stretch of a given length there are never more than so many events of one key.
/// Pure: the time is a parameter.
///
/// It is meant for small counts, because it remembers the time of each event, for as long as the
/// stretch.
struct RecentEvents<Key: Hashable> {
    private static var pruneMin: Int { 64 }

    private let stretch: TimeAmount
    private var times: [Key: [NIODeadline]] = [:]
    private var pruneAt = Self.pruneMin

    init(within stretch: TimeAmount) { self.stretch = stretch }

    var keyCount: Int { times.count }

    /// Counts an event, or returns how long it takes until one is allowed.
    mutating func take(_ key: Key, countMax: Int, now: NIODeadline) -> TimeAmount? {
        if times.count >= pruneAt {
            times = times.filter { $0.value.contains { now - $0 < stretch } }
            pruneAt = max(Self.pruneMin, 2 * times.count)
        }
        var recent = times[key, default: []].filter { now - $0 < stretch }
        defer { times[key] = recent }
        guard recent.count >= countMax, let oldest = recent.first else {
            recent.append(now)
            return nil
        }
        return stretch - (now - oldest)
    }
}
