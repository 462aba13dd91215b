internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RTMServiceLink

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The traces of a program (docs/operations/traces.md): a tracer for each event loop, and the way from there
/// to the collector. Nothing of it is there unless an endpoint is configured.
struct Tracing: Sendable {
    private let exporter: NIOLoopBoundBox<SpanExporter>

    /// Nil where nothing is traced.
    init?(
        _ configuration: Configuration, program: String, _ group: MultiThreadedEventLoopGroup,
        _ metrics: MetricsRegistry, _ logger: Logger
    ) {
        // The metrics are there in any case, as the document says.
        let metrics = TracingMetrics(metrics)
        guard let endpoint = configuration[CommonKeys.tracingEndpoint] else { return nil }
        let queue = SpanQueue { metrics[.dropped].increment() }
        let perMillion = configuration[CommonKeys.tracedPerMillion]
        for eventLoop in group.makeIterator() {
            eventLoop.execute {
                EndOfTurn.shared(on: eventLoop).tracer = Tracer(
                    perMillion: perMillion, queue: queue, clock: Self.nanoseconds)
            }
        }
        let loop = group.next()
        let text = OTLPText(resource: [
            ("service.name", program), ("service.version", BuildInformation.version),
            ("service.instance.id", "\(Self.hostName) \(getpid())"),
        ])
        exporter = NIOLoopBoundBox.makeBoxSendingValue(
            SpanExporter(to: endpoint, queue, text, metrics, on: loop, logger: logger), eventLoop: loop)
    }

    func start() async throws { try await exporter.eventLoop.submit { exporter.value.start() }.get() }

    func finish() async {
        try? await exporter.eventLoop.flatSubmit { exporter.value.finish() }.get()
    }

    private static let nanoseconds: @Sendable () -> UInt64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static var hostName: String {
        let length = 256
        var bytes = [CChar](repeating: 0, count: length)
        gethostname(&bytes, length - 1)
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// What has become of the spans.
struct TracingMetrics: Sendable {
    enum Fate: String, MetricLabel {
        case sent, dropped
        static let labelName = "fate"
    }

    private let spans: Family<Fate, Counter>

    init(_ registry: MetricsRegistry) {
        spans = registry.counters(
            "rtm_tracing_spans_total",
            "Spans of traces by their fate. dropped: the collector is away or too slow.",
            by: Fate.self)
    }

    subscript(_ fate: Fate) -> Counter { spans[fate] }
}
