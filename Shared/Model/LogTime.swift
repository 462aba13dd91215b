/// When an entry of a channel's log was accepted: its millisecond, and its place among those that have the
/// same one (M-24).
///
/// Each entry of a channel has another time, greater than that of the entry before. While a channel has few
/// entries, each has a millisecond of its own, and for that the times may run ahead of the clock by up to
/// `aheadMax`. Beyond it entries share a millisecond, and their order distinguishes them. Pure.
package struct LogTime: Sendable, Hashable, Comparable {
    /// 1,024 for each millisecond, so that times are ordered as these numbers are, and shifts read them: each
    /// message of the hot path has its time taken apart several times.
    package let number: UInt64

    /// Limit: how far timestamps run ahead of the clock, in milliseconds.
    package static let aheadMax: UInt64 = 100
    private static let orderBits: UInt64 = 10
    private static let orders: UInt64 = 1 << orderBits
    /// Where a question takes a number for a time, and not for milliseconds: these get there in the year
    /// 5138.
    private static let numbersBegin: UInt64 = 100_000_000_000_000

    package init(number: UInt64) { self.number = number }

    @inline(__always)
    package init(milliseconds: UInt64, order: UInt32 = 0) {
        number = min(milliseconds, .max >> (Self.orderBits + 1)) << Self.orderBits + UInt64(order)
    }

    /// The last time of a millisecond.
    package static func end(ofMillisecond milliseconds: UInt64) -> LogTime {
        LogTime(milliseconds: milliseconds, order: UInt32(orders - 1))
    }

    @inline(__always)
    package var milliseconds: UInt64 { number >> Self.orderBits }
    /// 0 for an entry that has its millisecond for itself, and for the first of several that came together.
    @inline(__always)
    package var order: UInt32 { UInt32(truncatingIfNeeded: number & (Self.orders - 1)) }

    package static func < (left: LogTime, right: LogTime) -> Bool { left.number < right.number }
}

// MARK: - Entries

extension LogTime {
    /// The time of the first of `count` entries that come now, behind an entry with this time.
    @inline(__always)
    package func next(_ count: Int, now: UInt64) -> LogTime {
        let own = max(now, milliseconds + 1)
        guard own + UInt64(count) - 1 > now + Self.aheadMax else { return LogTime(milliseconds: own) }
        guard now <= milliseconds else { return LogTime(milliseconds: now, order: 1) }
        // The order 0 says that each of the entries has its millisecond for itself.
        let next = LogTime(number: number + 1)
        return next.order == 0 ? LogTime(number: next.number + 1) : next
    }

    /// The time of an entry that came together with the first one, which has this time.
    ///
    /// - Parameter index: 0 for the first one.
    @inline(__always)
    package func following(by index: UInt64) -> LogTime {
        LogTime(number: number + (order == 0 ? index << Self.orderBits : index))
    }
}

// MARK: - Questions

extension LogTime {
    /// The first and the last time that a bound of a question means: a millisecond, or one time, as the page
    /// before has named it.
    package static func range(ofBound bound: UInt64) -> ClosedRange<LogTime> {
        guard bound < numbersBegin else { return LogTime(number: bound)...LogTime(number: bound) }
        return LogTime(milliseconds: bound)...end(ofMillisecond: bound)
    }

    /// The bound that means this time and older ones, and not that of the entry before: a millisecond, unless
    /// both have the same one.
    package func bound(behind newer: LogTime) -> UInt64 {
        milliseconds == newer.milliseconds ? number : milliseconds
    }
}
