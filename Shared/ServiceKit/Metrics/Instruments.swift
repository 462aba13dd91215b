internal import Synchronization

/// A number that only goes up, such as events or bytes. It costs one relaxed add on the hot path, from any
/// thread.
package final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    init() {}

    package func increment(by amount: Int = 1) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    package var value: Int { count.load(ordering: .relaxed) }
}

/// A number that goes up and down, such as open connections or queued bytes. It is set or moved where the
/// state changes.
package final class Gauge: Sendable {
    private let level = Atomic<Int>(0)

    init() {}

    package func set(_ value: Int) { level.store(value, ordering: .relaxed) }

    package func add(_ amount: Int) { level.wrappingAdd(amount, ordering: .relaxed) }

    package var value: Int { level.load(ordering: .relaxed) }
}

/// How values are distributed over fixed buckets. An observation is a search in a few bounds and two relaxed
/// adds.
///
/// Values are whole numbers of the histogram's raw unit (nanoseconds for durations, otherwise bytes or
/// pieces); the exporter writes base units. A scrape may see an observation in its bucket but not yet in the
/// sum.
package final class Histogram: Sendable {
    /// The meaning of one raw value.
    package enum Unit: Sendable, Hashable {
        /// Raw values are nanoseconds, written as seconds.
        case seconds
        /// Raw values are bytes or pieces, written as they are.
        case one
    }

    /// The upper bounds of the buckets in raw units, ascending. One more bucket takes the values above the
    /// last bound.
    let bounds: [Int]
    let unit: Unit
    private let buckets: [Counter]
    private let total = Atomic<Int>(0)

    init(bounds: [Int], unit: Unit) {
        precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy(<), "bounds must ascend")
        self.bounds = bounds
        self.unit = unit
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    package func observe(_ value: Int) {
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        buckets[place].increment()
        total.wrappingAdd(value, ordering: .relaxed)
    }

    package func observe(_ duration: Duration) {
        observe(duration.nanoseconds)
    }

    /// The counts per bucket, not cumulated, and the sum of all values in raw units.
    var snapshot: (counts: [Int], sum: Int) {
        (buckets.map(\.value), total.load(ordering: .relaxed))
    }
}

/// Bucket bounds for common measurements.
package enum Buckets {
    /// From 100 µs to 10 s in steps of about 2.5, for latencies.
    package static let latency: [Duration] = [
        .microseconds(100), .microseconds(250), .microseconds(500), .milliseconds(1), .microseconds(2_500),
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100),
        .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2_500), .seconds(5), .seconds(10),
    ]

    /// Powers of four from 64 B to 1 MiB, for messages and queues.
    package static let bytes = [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]

    /// 1, 2, 5, 10, … 10 000, for batch and fan-out sizes.
    package static let pieces = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
}
