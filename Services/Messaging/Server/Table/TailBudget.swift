import HeapModule

/// How many bytes the tails of all logs of a node hold, and which tail gives up its oldest entries when that
/// is too much.
///
/// The app that holds most gives up first, and of its tails the one with the oldest entry. So an app that
/// holds no more than an equal share never loses an entry to another app, and what nobody else needs is open
/// to everybody. An append only adds to counters; a tail enters its app's queue when it gets its first entry.
///
/// Pure: it knows logs by their places.
struct TailBudget {
    /// The oldest entry of a tail, as old as it was when the tail was put into the queue. It may have gone
    /// since.
    struct Oldest: Comparable {
        let timestamp: UInt64
        let place: Int
        /// The number of the channel that had the place then.
        let channel: UInt64

        static func < (left: Oldest, right: Oldest) -> Bool { left.timestamp < right.timestamp }
    }

    private struct Share {
        var bytes = 0
        var queue = Heap<Oldest>()
        /// The timestamp of the newest entry that went for want of room; 0 before the first.
        var newestGiven: UInt64 = 0
    }

    let bytesMax: Int
    private(set) var bytes = 0
    private var shares: [Share] = []

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var isExceeded: Bool { bytes > bytesMax }

    /// The number of one more app.
    mutating func addApp() -> Int {
        shares.append(Share())
        return shares.count - 1
    }

    mutating func add(_ count: Int, to app: Int) {
        bytes += count
        shares[app].bytes += count
    }

    mutating func enqueue(_ oldest: Oldest, of app: Int) { shares[app].queue.insert(oldest) }

    /// The app that holds most, and the tail of it that was put into the queue with the oldest entry.
    mutating func dequeue() -> (app: Int, oldest: Oldest)? {
        guard let app = shares.indices.max(by: { shares[$0].bytes < shares[$1].bytes }) else { return nil }
        return shares[app].queue.popMin().map { (app, $0) }
    }

    /// A tail of any app that was put into the queue with an entry older than this.
    mutating func dequeue(olderThan timestamp: UInt64) -> (app: Int, oldest: Oldest)? {
        for app in shares.indices {
            guard let oldest = shares[app].queue.min, oldest.timestamp < timestamp else { continue }
            return shares[app].queue.popMin().map { (app, $0) }
        }
        return nil
    }

    /// The oldest entry that the app's other tails may have.
    func next(of app: Int) -> UInt64 { shares[app].queue.min?.timestamp ?? .max }

    /// An entry of this time went for want of room.
    mutating func gaveUp(_ timestamp: UInt64, of app: Int) {
        shares[app].newestGiven = max(shares[app].newestGiven, timestamp)
    }

    /// The app has every entry that is newer, unless the bounds of a tail took it.
    func newestGiven(of app: Int) -> UInt64 { shares[app].newestGiven }

    /// How far back every tail reaches at least, in milliseconds, if its own bounds allow it.
    ///
    /// - Parameter ageMax: how long entries are kept where there is room.
    func window(ageMax: UInt64, now: UInt64) -> UInt64 {
        let newestGiven = shares.lazy.map(\.newestGiven).max() ?? 0
        guard newestGiven > 0 else { return ageMax }
        return min(ageMax, now > newestGiven ? now - newestGiven : 0)
    }
}
