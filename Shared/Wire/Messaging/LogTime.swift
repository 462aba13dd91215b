/// When an entry of a channel's log was accepted: its millisecond, and its place among those that have the
/// same one (M-24).
///
/// Each entry of a channel has another time, greater than that of the entry before. While a channel has few
/// entries, each has a millisecond of its own, and for that the times may run ahead of the clock by up to
/// `aheadMax`. Beyond it entries share a millisecond, and their order distinguishes them. Pure.
///
/// It is public although only servers use it: the compiler inlines no members of package types in other
/// modules, and each message of the hot path has its time taken apart several times.
@frozen
public struct LogTime: Sendable, Hashable, Comparable {
    /// 1,024 for each millisecond, so that times are ordered as these numbers are, and shifts read them.
    public let number: UInt64

    /// Limit: how far timestamps run ahead of the clock, in milliseconds.
    @inlinable @inline(__always)
    public static var aheadMax: UInt64 { 100 }
    @inlinable @inline(__always)
    public static var orderBits: UInt64 { 10 }
    @inlinable @inline(__always)
    public static var orders: UInt64 { 1 << orderBits }
    /// Where a question takes a number for a time, and not for milliseconds: these get there in the year
    /// 5138.
    private static let numbersBegin: UInt64 = 100_000_000_000_000

    @inlinable @inline(__always)
    public init(number: UInt64) { self.number = number }

    @inlinable @inline(__always)
    public init(milliseconds: UInt64, order: UInt32 = 0) {
        number = min(milliseconds, .max >> (Self.orderBits + 1)) << Self.orderBits + UInt64(order)
    }

    /// The last time of a millisecond.
    package static func end(ofMillisecond milliseconds: UInt64) -> LogTime {
        LogTime(milliseconds: milliseconds, order: UInt32(orders - 1))
    }

    @inlinable @inline(__always)
    public var milliseconds: UInt64 { number >> Self.orderBits }
    /// 0 for an entry that has its millisecond for itself, and for the first of several that came together.
    @inlinable @inline(__always)
    public var order: UInt32 { UInt32(truncatingIfNeeded: number & (Self.orders - 1)) }

    @inlinable @inline(__always)
    public static func < (left: LogTime, right: LogTime) -> Bool { left.number < right.number }
}

// MARK: - Entries

extension LogTime {
    /// The time of the first of `count` entries that come now, behind an entry with this time.
    @inlinable @inline(__always)
    public func next(_ count: Int, now: UInt64) -> LogTime {
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
    @inlinable @inline(__always)
    public func following(by index: UInt64) -> LogTime {
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
