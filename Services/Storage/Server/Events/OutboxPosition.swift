/// Up to where the events of a shard are announced. Pure.
///
/// An outbox that is only appended to needs no more than this number, as long as events are acknowledged in
/// their order. They aren't quite, because channels don't wait for one another: where a shard of messaging is
/// gone, its events wait while others are announced for hours. So what is announced beyond the first event
/// that waits is kept one by one. It can't be announced once more instead, because messaging forgets a
/// channel that nobody uses, and with it what it has of a source (M-37).
package struct OutboxPosition: Sendable, Hashable {
    /// Nothing up to here waits.
    package private(set) var sequence: UInt64
    /// What is announced behind it, in ascending order. Between two ranges something waits.
    private var beyond: [ClosedRange<UInt64>] = []

    package init(_ sequence: UInt64) { self.sequence = sequence }

    /// Takes what was announced, as `OutboxSchedule.takeAcknowledged` returns it.
    ///
    /// - Returns: what of that is to be kept one by one, because something in front of it waits.
    package mutating func announced(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
        var merged: [ClosedRange<UInt64>] = []
        for range in (beyond + ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let last = merged.last
            let end = last?.upperBound ?? sequence
            if range.lowerBound > end, range.lowerBound - end > 1 {
                merged.append(range)
            } else if let last {
                merged[merged.count - 1] = last.lowerBound...max(end, range.upperBound)
            } else {
                sequence = max(end, range.upperBound)
            }
        }
        beyond = merged
        return ranges.compactMap {
            $0.upperBound > sequence ? max($0.lowerBound, sequence + 1)...$0.upperBound : nil
        }
    }
}
