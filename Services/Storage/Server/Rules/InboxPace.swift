/// When the SQL inbox is read next, and how much at once. Where nobody has ever published from SQL, it is
/// read once a second. Times are on the steady clock, in milliseconds.
///
/// Pure.
struct InboxPace: Sendable {
    /// Limit: rows of a page.
    static let rowsMax = 2_000
    /// How soon it is read again: while messages come, within ten minutes of the last one, later, and where
    /// none has ever come.
    private static let busy: UInt64 = 2
    private static let calm: UInt64 = 8
    private static let quiet: UInt64 = 100
    private static let unused: UInt64 = 1_000
    private static let busyFor: UInt64 = 1_000
    private static let calmFor: UInt64 = 600_000
    /// How soon it is tried again after a failure.
    private static let retry: UInt64 = 100

    private(set) var due: UInt64
    private(set) var rows = rowsMax
    /// When the last message came; nil if none has come.
    private var lastFound: UInt64?
    /// When the last read began that came to the end.
    private var lastEnd: UInt64

    init(now: UInt64) { (due, lastEnd) = (now, now) }

    /// - Parameters:
    ///   - count: the rows that were found, which are kept now.
    ///   - isUsed: whether anybody has ever published.
    ///   - begin: when the read began.
    mutating func drained(_ count: Int, hasMore: Bool, isUsed: Bool, begin: UInt64, now: UInt64) {
        if count > 0 { lastFound = now }
        rows = min(Self.rowsMax, rows * 2)
        guard !hasMore else {
            due = now
            return
        }
        lastEnd = begin
        due = now + interval(isUsed, now)
    }

    private func interval(_ isUsed: Bool, _ now: UInt64) -> UInt64 {
        guard isUsed else { return Self.unused }
        guard let lastFound else { return Self.quiet }
        return now - lastFound < Self.busyFor
            ? Self.busy : now - lastFound < Self.calmFor ? Self.calm : Self.quiet
    }

    /// The rows of a page were refused. The next page is smaller, until it is the one row that is the cause.
    mutating func refused(now: UInt64) {
        rows = max(1, rows / 8)
        due = now
    }

    mutating func failed(now: UInt64) { due = now + Self.retry }

    /// For how long a message may have waited at most that was committed but not drained, in milliseconds.
    func lag(now: UInt64) -> UInt64 { now - lastEnd }
}
