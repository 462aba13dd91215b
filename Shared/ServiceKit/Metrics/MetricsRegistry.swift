internal import Synchronization

/// All metrics of the process. Declaring a metric takes a lock once; its instruments are then used without
/// it.
///
/// Names are `rtm_<service>_<noun>_<unit|total>`, and counters end in `_total`. To declare a name twice is a
/// programmer error. A name must never come from input, which is why there is no other way to make a series.
package final class MetricsRegistry: Sendable {
    /// One series of a metric and how to read it.
    struct Series: Sendable {
        enum Reading: Sendable {
            case counter(Counter)
            case gauge(Gauge)
            case histogram(Histogram)
            /// Nil while the value can't be read; the series is then left out of the scrape.
            case observed(@Sendable () -> Double?)
        }

        let labels: [Label]
        let reading: Reading
    }

    struct Label: Sendable, Hashable {
        let name: String
        let value: String
    }

    struct Metric: Sendable {
        enum Kind: String, Sendable {
            case counter, gauge, histogram
        }

        let name: String
        let help: String
        let kind: Kind
        let series: [Series]
    }

    private let metrics = Mutex<[Metric]>([])

    package init() {}

    /// The metrics in the order of declaration.
    var all: [Metric] { metrics.withLock { $0 } }

    /// - Parameter help: what the counter counts, and what a bad value means.
    package func counter(_ name: String, _ help: String) -> Counter {
        let counter = Counter()
        declare(name, help, .counter, [Series(labels: [], reading: .counter(counter))])
        return counter
    }

    /// Declares a counter for each value of closed labels.
    package func counters<L: MetricLabels>(_ name: String, _ help: String, by labels: L.Type) -> Family<
        L, Counter
    > {
        family(name, help, .counter, labels, make: Counter.init) { .counter($0) }
    }

    /// Declares a counter for each of some values that the operator has chosen, such as the ids of apps. The
    /// caller bounds their number.
    package func counters(
        _ name: String, _ help: String, label: String, values: [String]
    ) -> [String: Counter] {
        family(name, help, .counter, label, values, make: Counter.init) { .counter($0) }
    }

    /// Declares a gauge for each of some values that the operator has chosen.
    package func gauges(
        _ name: String, _ help: String, label: String, values: [String]
    ) -> [String: Gauge] {
        family(name, help, .gauge, label, values, make: Gauge.init) { .gauge($0) }
    }

    package func gauge(_ name: String, _ help: String) -> Gauge {
        let gauge = Gauge()
        declare(name, help, .gauge, [Series(labels: [], reading: .gauge(gauge))])
        return gauge
    }

    /// Declares a gauge for each value of closed labels.
    package func gauges<L: MetricLabels>(_ name: String, _ help: String, by labels: L.Type) -> Family<
        L, Gauge
    > {
        family(name, help, .gauge, labels, make: Gauge.init) { .gauge($0) }
    }

    /// Declares a gauge that is computed at each scrape. The closure must be quick and must not block.
    package func observedGauge(
        _ name: String, _ help: String, _ value: @escaping @Sendable () -> Double?
    ) {
        declare(name, help, .gauge, [Series(labels: [], reading: .observed(value))])
    }

    /// Declares a gauge for each of some values that the program has, computed at each scrape.
    func observedGauges(
        _ name: String, _ help: String, label: String, values: [String],
        _ value: @escaping @Sendable (String) -> Double?
    ) {
        let series = values.map { labelled in
            Series(
                labels: [Label(name: label, value: labelled)], reading: .observed { value(labelled) })
        }
        declare(name, help, .gauge, series)
    }

    /// Declares a histogram of seconds with buckets of durations. The name ends in `_seconds`.
    package func histogram(
        _ name: String, _ help: String, buckets: [Duration] = Buckets.latency
    ) -> Histogram {
        let histogram = Histogram(bounds: buckets.map(\.nanoseconds), unit: .seconds)
        declare(name, help, .histogram, [Series(labels: [], reading: .histogram(histogram))])
        return histogram
    }

    /// Declares a histogram of seconds for each value of closed labels.
    package func histograms<L: MetricLabels>(
        _ name: String, _ help: String, by labels: L.Type, buckets: [Duration] = Buckets.latency
    ) -> Family<L, Histogram> {
        let bounds = buckets.map(\.nanoseconds)
        return family(name, help, .histogram, labels) {
            Histogram(bounds: bounds, unit: .seconds)
        } reading: {
            .histogram($0)
        }
    }

    /// Declares a histogram of bytes or pieces. The name ends in `_bytes` or in the noun of the pieces.
    package func histogram(_ name: String, _ help: String, bounds: [Int]) -> Histogram {
        let histogram = Histogram(bounds: bounds, unit: .one)
        declare(name, help, .histogram, [Series(labels: [], reading: .histogram(histogram))])
        return histogram
    }

    /// Declares a metric with one series that is computed at each scrape and has fixed labels, for the
    /// process and the build.
    func observed(
        _ name: String, _ help: String, _ kind: Metric.Kind, labels: [Label] = [],
        _ value: @escaping @Sendable () -> Double?
    ) {
        declare(name, help, kind, [Series(labels: labels, reading: .observed(value))])
    }

    private func family<L: MetricLabels, Instrument: Sendable>(
        _ name: String, _ help: String, _ kind: Metric.Kind, _ labels: L.Type, make: () -> Instrument,
        reading: (Instrument) -> Series.Reading
    ) -> Family<L, Instrument> {
        var instruments: [L: Instrument] = [:]
        var series: [Series] = []
        for value in L.allCases {
            let instrument = make()
            instruments[value] = instrument
            let pairs = zip(L.labelNames, value.labelValues).map(Label.init)
            series.append(Series(labels: pairs, reading: reading(instrument)))
        }
        declare(name, help, kind, series)
        return Family(instruments)
    }

    private func family<Instrument: Sendable>(
        _ name: String, _ help: String, _ kind: Metric.Kind, _ label: String, _ values: [String],
        make: () -> Instrument, reading: (Instrument) -> Series.Reading
    ) -> [String: Instrument] {
        var instruments: [String: Instrument] = [:]
        var series: [Series] = []
        for value in values where instruments[value] == nil {
            let instrument = make()
            instruments[value] = instrument
            series.append(Series(labels: [Label(name: label, value: value)], reading: reading(instrument)))
        }
        declare(name, help, kind, series)
        return instruments
    }

    private func declare(_ name: String, _ help: String, _ kind: Metric.Kind, _ series: [Series]) {
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        precondition(isName && !name.isEmpty, "\"\(name)\" is not a metric name")
        precondition(
            (kind == .counter) == name.hasSuffix("_total"), "\(name): counters, and only they, end in _total")
        let isNew = metrics.withLock { metrics in
            guard !metrics.contains(where: { $0.name == name }) else { return false }
            metrics.append(Metric(name: name, help: help, kind: kind, series: series))
            return true
        }
        precondition(isNew, "\(name) is declared twice")
    }
}

extension Duration {
    /// The duration in whole nanoseconds. A duration of more than 292 years is not a measurement.
    var nanoseconds: Int {
        let parts = components
        return Int(clamping: parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000)
    }
}
