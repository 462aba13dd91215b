package import Foundation

/// What one process says about itself at `/node` of its admin port: all that an operator looks at, in one
/// answer. A gateway gathers the reports of all nodes for the console.
package struct NodeReport: Codable, Sendable {
    /// One series of a counter or a gauge.
    package struct Figure: Codable, Sendable {
        package let metric: String
        package let labels: [String: String]
        package let value: Double
    }

    /// One key of the configuration.
    package struct Setting: Codable, Sendable {
        package let key: String
        /// As it is written in a file; absent if the key is not set. A secret is masked.
        package let value: String?
        /// Where the value was found.
        package let source: String
        /// Whether it is the value that the program has without any configuration.
        package let isDefault: Bool
        /// Whether the running program takes over a new value.
        package let isLive: Bool
    }

    /// "rtm-edge", for example.
    package let program: String
    package let version: String
    package let commit: String
    /// Chosen when the process begins, so that a process with two addresses is recognised as one.
    package let instance: String
    /// When the process began, in milliseconds since 1970.
    package let since: UInt64
    /// Whether the process wants traffic.
    package let isReady: Bool
    /// What it waits for, each as "probe: cause".
    package let notReady: [String]
    /// Those of the counters and gauges that aren't 0.
    package let figures: [Figure]
    package let settings: [Setting]
    /// The newest lines of the log at the level warning and above, oldest first.
    package let warnings: [RecentWarnings.Line]

    /// - Throws: `DecodingError` for bytes that are no report.
    package init(json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }

    init(
        program: String, started: NodeStart, isRunning: Bool, readiness: Readiness, metrics: MetricsRegistry,
        configuration: Configuration, warnings: [RecentWarnings.Line]
    ) {
        self.program = program
        (version, commit) = (BuildInformation.version, BuildInformation.commit)
        (instance, since) = (started.instance, started.milliseconds)
        isReady = isRunning && readiness.isReady
        notReady = readiness.probes.compactMap { probe in
            if case .notReady(let cause) = probe.status { "\(probe.name): \(cause)" } else { nil }
        }
        figures = metrics.figures.filter { $0.value != 0 && $0.value.isFinite }
        settings = configuration.listed
        self.warnings = warnings
    }

    var json: String {
        // Its numbers are finite, so it can always be written.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The sum of the series of a metric; 0 if the node doesn't have it.
    ///
    /// - Parameter outcome: the value of the label of that name; nil for a metric without it.
    package func total(_ metric: String, outcome: String? = nil) -> Double {
        figures.reduce(0) { sum, figure in
            figure.metric == metric && figure.labels["outcome"] == outcome ? sum + figure.value : sum
        }
    }
}

/// When and as what a process began.
struct NodeStart: Sendable {
    let instance = String(UInt64.random(in: 0 ... .max), radix: 36)
    let milliseconds: UInt64

    init(milliseconds: UInt64) { self.milliseconds = milliseconds }
}

extension MetricsRegistry {
    /// All series of counters and gauges. A histogram has no single value.
    fileprivate var figures: [NodeReport.Figure] {
        all.flatMap { metric in
            metric.series.compactMap { series in
                series.value.map { value in
                    NodeReport.Figure(
                        metric: metric.name,
                        labels: Dictionary(series.labels.map { ($0.name, $0.value) }) { $1 }, value: value)
                }
            }
        }
    }
}

extension MetricsRegistry.Series {
    fileprivate var value: Double? {
        switch reading {
        case .counter(let counter): Double(counter.value)
        case .gauge(let gauge): Double(gauge.value)
        case .observed(let value): value()
        case .histogram: nil
        }
    }
}

extension Configuration {
    /// Every key of the schema, in its order.
    fileprivate var listed: [NodeReport.Setting] {
        schema.keys.map { key in
            let setting = settings[key.name]
            let origin = setting?.origin ?? .builtIn
            return NodeReport.Setting(
                key: key.name, value: setting?.value?.yaml, source: "\(origin)",
                isDefault: origin == .builtIn, isLive: key.isLive)
        }
    }
}
