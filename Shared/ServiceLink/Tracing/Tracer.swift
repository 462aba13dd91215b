import RTMWire

/// Traces some of the requests on one event loop (docs/decisions/0019-traces.md).
///
/// While the loop works for a traced request, `current` says so. A call to another service, or a push, that
/// is sent meanwhile carries the trace on, and when the answer comes, the loop works for that request again.
/// So the code in between knows nothing of traces. Where nothing is traced there is no tracer, and asking for
/// it is all that it costs (`EndOfTurn.tracer`).
package final class Tracer {
    /// What a request makes this process do. Its span ends when nothing is under way for it any more.
    package final class Work {
        fileprivate var span: Span
        fileprivate var holds = 0

        fileprivate init(_ span: Span) { self.span = span }

        package func add(_ name: String, _ value: String) { span.attributes.append(.init(name, value)) }
    }

    /// A call to another service that has no answer yet.
    struct Call {
        fileprivate var span: Span
        fileprivate let work: Work

        /// What the called service needs to know.
        var context: ServiceLinkTrace { ServiceLinkTrace(span) }
    }

    /// Nil while the loop works for nobody, or for a request that isn't traced.
    package private(set) var current: Work?
    private var sampler: TraceSampler
    private let queue: SpanQueue
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - perMillion: how many of a million requests are traced.
    ///   - seed: another one for each event loop of all processes.
    ///   - clock: nanoseconds since 1970 (UTC).
    package init(
        perMillion: Int, seed: UInt64 = .random(in: 0...UInt64.max), queue: SpanQueue,
        clock: @escaping @Sendable () -> UInt64
    ) {
        sampler = TraceSampler(perMillion: perMillion, seed: seed)
        self.queue = queue
        self.clock = clock
    }

    // MARK: Work

    /// The work for a request that begins here; nil for most of them.
    package func begin(_ name: StaticString) -> Work? {
        guard let trace = sampler.trace() else { return nil }
        return Work(
            Span(
                traceHigh: trace.high, traceLow: trace.low, id: sampler.span(), parent: 0, name: "\(name)",
                kind: .server, begin: clock()))
    }

    /// The work for what another process has sent.
    func continueTrace(_ trace: ServiceLinkTrace, _ name: String, _ kind: Span.Kind) -> Work {
        Work(
            Span(
                traceHigh: trace.traceHigh, traceLow: trace.traceLow, id: sampler.span(), parent: trace.span,
                name: name, kind: kind, begin: clock()))
    }

    /// Does a part of the work; nil is what isn't traced.
    package func run<Result>(_ work: Work?, _ body: () throws -> Result) rethrows -> Result {
        let former = current
        current = work
        work?.holds += 1
        defer {
            current = former
            if let work { release(work) }
        }
        return try body()
    }

    /// The present work is not at its end before it has been released.
    package func hold() -> Work? {
        current?.holds += 1
        return current
    }

    /// - Parameter error: the name of a code, never that of a user or a channel.
    package func release(_ work: Work, error: String? = nil) {
        if let error { work.span.error = error }
        work.holds -= 1
        if work.holds == 0 { end(work.span) }
    }

    // MARK: Calls

    /// A call that is made for the present work; nil if that isn't traced.
    func call(_ name: @autoclosure () -> String) -> Call? {
        guard let work = hold() else { return nil }
        return Call(
            span: Span(
                traceHigh: work.span.traceHigh, traceLow: work.span.traceLow, id: sampler.span(),
                parent: work.span.id, name: name(), kind: .client, begin: clock()),
            work: work)
    }

    /// The call has its outcome, which `body` deals with.
    func answered(_ call: Call, error: String?, _ body: () -> Void) {
        var span = call.span
        span.error = error
        end(span)
        run(call.work, body)
        release(call.work, error: error)
    }

    /// What a push for the present work carries with it; nil if that isn't traced.
    var context: ServiceLinkTrace? { current.map { ServiceLinkTrace($0.span) } }

    private func end(_ span: Span) {
        var span = span
        span.end = max(span.begin, clock())
        queue.add(span)
    }
}

extension ServiceLinkTrace {
    fileprivate init(_ span: Span) {
        self.init(traceHigh: span.traceHigh, traceLow: span.traceLow, span: span.id)
    }
}
