internal import Logging
internal import NIOCore
internal import RTMServiceLink

/// Sends spans to a collector, some hundred at a time. What it doesn't take is lost, and counted: traces are
/// for looking at, and nobody waits for them.
///
/// It belongs to one event loop.
final class SpanExporter {
    /// Limit: spans of one request.
    private static let batchMax = 512
    private static let interval = TimeAmount.seconds(1)
    private static let timeout = TimeAmount.seconds(2)

    private let address: HostPort
    private let queue: SpanQueue
    private let text: OTLPText
    private let metrics: TracingMetrics
    private let logger: Logger
    private let eventLoop: any EventLoop
    private var task: RepeatedTask?
    private var isRefused = false

    init(
        to address: HostPort, _ queue: SpanQueue, _ text: OTLPText, _ metrics: TracingMetrics,
        on eventLoop: any EventLoop, logger: Logger
    ) {
        self.address = address
        self.queue = queue
        self.text = text
        self.metrics = metrics
        self.eventLoop = eventLoop
        self.logger = logger
    }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        task = eventLoop.scheduleRepeatedAsyncTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.sendAll()
        }
    }

    /// Sends what is left.
    func finish() -> EventLoopFuture<Void> {
        guard let task else { return sendAll() }
        let ended = eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        task.cancel(promise: ended)
        return ended.futureResult.flatMap { bound.value.sendAll() }
    }

    /// Returns when the queue is empty, or the collector fails.
    private func sendAll() -> EventLoopFuture<Void> {
        let spans = queue.take(Self.batchMax)
        guard !spans.isEmpty else { return eventLoop.makeSucceededVoidFuture() }
        let call = HTTPCall.post(
            ByteBuffer(string: text.text(spans)), "application/json", to: "/v1/traces")
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return call.answer(of: address, on: eventLoop, within: Self.timeout)
            .map { answer -> String? in
                answer.status < 300 ? nil : "it answers with status \(answer.status)"
            }
            .recover { error -> String? in HTTPCall.reason(error) }
            .flatMap { problem in
                bound.value.sent(spans.count, problem)
                return problem == nil ? bound.value.sendAll() : bound.eventLoop.makeSucceededVoidFuture()
            }
    }

    private func sent(_ count: Int, _ problem: String?) {
        metrics[problem == nil ? .sent : .dropped].increment(by: count)
        guard isRefused != (problem != nil) else { return }
        isRefused.toggle()
        if let problem {
            logger.warning(
                "the collector of traces takes nothing, so they are lost",
                metadata: ["address": "\(address)", "cause": "\(problem)"])
        } else {
            logger.notice("the collector of traces is there again")
        }
    }
}
