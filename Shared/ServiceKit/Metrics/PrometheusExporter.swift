/// Writes a registry in the Prometheus text format 0.0.4.
package enum PrometheusExporter {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package static func text(_ registry: MetricsRegistry) -> String {
        var lines: [String] = []
        for metric in registry.all.sorted(by: { $0.name < $1.name }) { append(metric, to: &lines) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A table of all metrics in the order of their declaration, for docs/metrics.md.
    package static func reference(_ registry: MetricsRegistry) -> String {
        var rows = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
        for metric in registry.all.sorted(by: { $0.name < $1.name }) {
            rows.append(
                "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels(of: metric)) | \(metric.help) |")
        }
        return rows.joined(separator: "\n") + "\n"
    }

    private static func labels(of metric: MetricsRegistry.Metric) -> String {
        let names = metric.series.first?.labels.map(\.name) ?? []
        let cells = names.indices.map { index in
            var values: [String] = []
            for series in metric.series where !values.contains(series.labels[index].value) {
                values.append(series.labels[index].value)
            }
            // The labels of a metric with one series describe the process, so their values differ everywhere.
            return metric.series.count == 1
                ? "`\(names[index])`" : "`\(names[index])`: \(values.joined(separator: ", "))"
        }
        return cells.joined(separator: "; ")
    }

    private static func append(_ metric: MetricsRegistry.Metric, to lines: inout [String]) {
        let samples = metric.series.flatMap { Self.samples(of: $0, named: metric.name) }
        guard !samples.isEmpty else { return }
        lines.append("# HELP \(metric.name) \(escaped(metric.help))")
        lines.append("# TYPE \(metric.name) \(metric.kind.rawValue)")
        lines += samples
    }

    private static func samples(of series: MetricsRegistry.Series, named name: String) -> [String] {
        switch series.reading {
        case .counter(let counter): ["\(name)\(braces(series.labels)) \(counter.value)"]
        case .gauge(let gauge): ["\(name)\(braces(series.labels)) \(gauge.value)"]
        case .observed(let value): value().map { ["\(name)\(braces(series.labels)) \(number($0))"] } ?? []
        case .histogram(let histogram): samples(of: histogram, series.labels, named: name)
        }
    }

    private static func samples(
        of histogram: Histogram, _ labels: [MetricsRegistry.Label], named name: String
    ) -> [String] {
        let (counts, sum) = histogram.snapshot
        var samples: [String] = []
        var count = 0
        let bounds = histogram.bounds.map { written($0, histogram.unit) } + ["+Inf"]
        for (bound, inBucket) in zip(bounds, counts) {
            count += inBucket
            samples.append("\(name)_bucket\(braces(labels + [.init(name: "le", value: bound)])) \(count)")
        }
        samples.append("\(name)_sum\(braces(labels)) \(written(sum, histogram.unit))")
        samples.append("\(name)_count\(braces(labels)) \(count)")
        return samples
    }

    private static func written(_ raw: Int, _ unit: Histogram.Unit) -> String {
        unit == .seconds ? number(Double(raw) / 1e9) : "\(raw)"
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value > 0 ? "+Inf" : "-Inf" }
        return Int(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func braces(_ labels: [MetricsRegistry.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { "\($0.name)=\"\(escaped($0.value).replacing("\"", with: "\\\""))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}
