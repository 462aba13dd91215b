/// Counts durations by size. Each power of two is cut into 32 equal parts, so a quantile is exact to 3
/// percent.
struct LatencyHistogram: Sendable {
    private static let partBits = 5
    private static let parts = 1 << partBits

    private var counts = [UInt32](repeating: 0, count: (65 - partBits) << partBits)
    private(set) var total = 0

    mutating func add(_ nanoseconds: UInt64) {
        counts[Self.index(of: nanoseconds)] += 1
        total += 1
    }

    mutating func merge(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        total += other.total
    }

    /// The duration that this share of the values, 0…1, doesn't exceed; nil if there are no values.
    func quantile(_ share: Double) -> Duration? {
        guard total > 0 else { return nil }
        let rank = max(1, Int((Double(total) * share).rounded(.up)))
        var seen = 0
        for (index, count) in counts.enumerated() {
            seen += Int(count)
            if seen >= rank { return .nanoseconds(Int64(clamping: Self.upperBound(of: index))) }
        }
        return nil
    }

    /// A value below `parts` has a bucket of its own. For the others the highest bits count.
    private static func index(of value: UInt64) -> Int {
        guard value >= UInt64(parts) else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - partBits
        return (shift + 1) << partBits | Int(value >> UInt64(shift)) & (parts - 1)
    }

    /// The largest value of a bucket.
    private static func upperBound(of index: Int) -> UInt64 {
        guard index >= parts else { return UInt64(index) }
        let shift = UInt64(index >> partBits - 1)
        let low = UInt64(parts | index & (parts - 1)) << shift
        return low + (1 << shift - 1)
    }
}
