import Testing

@testable import RTMServiceKit

@Suite("Metrics: instruments and the Prometheus text format")
struct MetricsTests {
    enum Method: String, MetricLabel {
        case publish, subscribe
        static let labelName = "method"
    }

    enum Outcome: Int, MetricLabel {
        case fine = 0
        case bad = -1
        static let labelName = "outcome"
        var labelValue: String { self == .fine ? "fine" : "a \"bad\" one\\" }
    }

    @Test("the text is exactly this")
    func golden() {
        let registry = MetricsRegistry()
        let frames = registry.counter("rtm_relay_frames_total", "Frames read.\nAll \\ of them.")
        let calls = registry.counters(
            "rtm_relay_calls_total", "Calls.", by: LabelPair<Method, Outcome>.self)
        let open = registry.gauges("rtm_relay_connections", "Open connections.", by: Method.self)
        let latency = registry.histogram(
            "rtm_relay_latency_seconds", "Time to answer.", buckets: [.milliseconds(5), .seconds(1)])
        let sizes = registry.histogram("rtm_relay_frame_bytes", "Frame sizes.", bounds: [64, 256])
        registry.observedGauge("rtm_relay_load", "Load.") { 0.25 }
        registry.observedGauge("rtm_relay_absent", "Not there.") { nil }
        frames.increment()
        frames.increment(by: 41)
        calls[LabelPair(.publish, .bad)].increment()
        open[.subscribe].set(3)
        open[.subscribe].add(-5)
        for value in [1, 5, 6, 2_000] { latency.observe(.milliseconds(value)) }
        for value in [64, 65, 1_000] { sizes.observe(value) }
        #expect(
            PrometheusExporter.text(registry) == #"""
                # HELP rtm_relay_calls_total Calls.
                # TYPE rtm_relay_calls_total counter
                rtm_relay_calls_total{method="publish",outcome="fine"} 0
                rtm_relay_calls_total{method="publish",outcome="a \"bad\" one\\"} 1
                rtm_relay_calls_total{method="subscribe",outcome="fine"} 0
                rtm_relay_calls_total{method="subscribe",outcome="a \"bad\" one\\"} 0
                # HELP rtm_relay_connections Open connections.
                # TYPE rtm_relay_connections gauge
                rtm_relay_connections{method="publish"} 0
                rtm_relay_connections{method="subscribe"} -2
                # HELP rtm_relay_frame_bytes Frame sizes.
                # TYPE rtm_relay_frame_bytes histogram
                rtm_relay_frame_bytes_bucket{le="64"} 1
                rtm_relay_frame_bytes_bucket{le="256"} 2
                rtm_relay_frame_bytes_bucket{le="+Inf"} 3
                rtm_relay_frame_bytes_sum 1129
                rtm_relay_frame_bytes_count 3
                # HELP rtm_relay_frames_total Frames read.\nAll \\ of them.
                # TYPE rtm_relay_frames_total counter
                rtm_relay_frames_total 42
                # HELP rtm_relay_latency_seconds Time to answer.
                # TYPE rtm_relay_latency_seconds histogram
                rtm_relay_latency_seconds_bucket{le="0.005"} 2
                rtm_relay_latency_seconds_bucket{le="1"} 3
                rtm_relay_latency_seconds_bucket{le="+Inf"} 4
                rtm_relay_latency_seconds_sum 2.012
                rtm_relay_latency_seconds_count 4
                # HELP rtm_relay_load Load.
                # TYPE rtm_relay_load gauge
                rtm_relay_load 0.25

                """#)
    }

    @Test("counters lose nothing when many tasks count at once")
    func concurrency() async {
        let registry = MetricsRegistry()
        let counter = registry.counter("rtm_relay_steps_total", "Steps.")
        let histogram = registry.histogram("rtm_relay_step_bytes", "Step sizes.", bounds: Buckets.bytes)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for value in 0..<1_000 {
                        counter.increment()
                        histogram.observe(value)
                    }
                }
            }
        }
        #expect(counter.value == 8_000)
        #expect(histogram.snapshot.counts.reduce(0, +) == 8_000)
        #expect(histogram.snapshot.sum == 8 * 999 * 500)
    }

    @Test("every process has its build and its own resources, with plausible values")
    func process() throws {
        let registry = MetricsRegistry()
        ProcessMetrics.declare(in: registry, program: "rtm-relay")
        let text = PrometheusExporter.text(registry)
        let commit = "commit=\"\(BuildInformation.commit)\""
        #expect(
            text.contains(
                "rtm_build_info{program=\"rtm-relay\",version=\"\(BuildInformation.version)\",\(commit)} 1\n")
        )
        func value(_ name: String) throws -> Double {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name) ") })
            return try #require(line.split(separator: " ").last.flatMap { Double($0) })
        }
        let start = try value("process_start_time_seconds")
        #expect(start > 1_700_000_000)
        let processorSeconds = try value("process_cpu_seconds_total")
        #expect(processorSeconds > 0)
        #if os(Linux)
            let residentBytes = try value("process_resident_memory_bytes")
            #expect(residentBytes > 1_000_000)
            let descriptors = try value("process_open_fds")
            #expect(descriptors >= 3 && descriptors < 100_000)
        #endif
    }

    @Test("a peak is read twice, so that two readers who take turns both see it, and then it is over")
    func recentMaximum() {
        let peak = RecentMaximum()
        for value in [3, 9, 5] { peak.observe(value) }
        #expect([peak.read(), peak.read(), peak.read()] == [9, 9, 0])
        peak.observe(2)
        #expect(peak.read() == 2)
    }

    @Test("the reference table has a row for each metric with type, labels and meaning")
    func reference() {
        let registry = MetricsRegistry()
        _ = registry.counters("rtm_relay_calls_total", "Calls.", by: LabelPair<Method, Outcome>.self)
        let labels = #"`method`: publish, subscribe; `outcome`: fine, a "bad" one\"#
        let row = "| `rtm_relay_calls_total` | counter | \(labels) | Calls. |"
        #expect(PrometheusExporter.reference(registry).contains(row))
    }
}
