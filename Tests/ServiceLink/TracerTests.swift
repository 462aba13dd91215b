import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMServiceLink

/// Which requests are traced, and what becomes of their spans.
@Suite struct TracerTests {
    /// A clock that continues by one with each look, and the spans that have ended.
    private final class Recorder: Sendable {
        private let time = Mutex<UInt64>(0)
        private let lost = Mutex(0)

        func queue(_ countMax: Int = 100) -> SpanQueue {
            SpanQueue(countMax: countMax) { self.lost.withLock { $0 += 1 } }
        }

        var droppedCount: Int { lost.withLock { $0 } }

        @Sendable func now() -> UInt64 {
            time.withLock { time in
                time += 1
                return time
            }
        }
    }

    private func tracer(_ recorder: Recorder, _ queue: SpanQueue, perMillion: Int = 1_000_000) -> Tracer {
        Tracer(perMillion: perMillion, seed: 7, queue: queue, clock: recorder.now)
    }

    @Test("As many requests are traced as the operator wants, each under a number of its own")
    func sampler() {
        var none = TraceSampler(perMillion: 0, seed: 1)
        var all = TraceSampler(perMillion: 1_000_000, seed: 1)
        var some = TraceSampler(perMillion: 10_000, seed: 1)
        var numbers: Set<UInt64> = []
        var count = 0
        for _ in 0..<100_000 {
            #expect(none.trace() == nil)
            if some.trace() != nil { count += 1 }
        }
        for _ in 0..<1_000 {
            guard let trace = all.trace() else { return #expect(Bool(false), "one wasn't traced") }
            numbers.insert(trace.high)
            numbers.insert(trace.low)
            #expect(all.span() != 0)
        }
        #expect(numbers.count == 2_000)
        #expect((800...1_200).contains(count), "\(count) of 100,000 were traced, and 1,000 are wanted")
    }

    @Test("Work ends when nothing is under way for it any more, and its calls are parts of it")
    func work() throws {
        let recorder = Recorder()
        let queue = recorder.queue()
        let tracer = tracer(recorder, queue)
        let work = try #require(tracer.begin("publish"))
        work.add("rtm.app", "dev")
        let call = try #require(tracer.run(work) { tracer.call("messaging publish") })
        #expect(tracer.current == nil && queue.take(10).isEmpty, "a call is under way")
        var inside: Tracer.Work?
        tracer.answered(call, error: nil) { inside = tracer.current }
        #expect(inside === work)
        let spans = queue.take(10)
        try #require(spans.map(\.name) == ["messaging publish", "publish"])
        #expect(spans[0].parent == spans[1].id && spans[1].parent == 0)
        #expect(spans[0].traceHigh == spans[1].traceHigh && spans[0].traceLow == spans[1].traceLow)
        #expect(spans[1].attributes == [.init("rtm.app", "dev")])
        #expect(spans.allSatisfy { $0.begin < $0.end && $0.error == nil })
        #expect(spans.map(\.kind) == [.client, .server])
    }

    @Test("A call that fails is an error of its span and of the work that it was for")
    func failure() throws {
        let recorder = Recorder()
        let queue = recorder.queue()
        let tracer = tracer(recorder, queue)
        let work = try #require(tracer.begin("login"))
        let call = try #require(tracer.run(work) { tracer.call("messaging attach") })
        tracer.answered(call, error: "timedOut") {}
        #expect(queue.take(10).map(\.error) == ["timedOut", "timedOut"])
    }

    @Test("What isn't traced is nobody's part, also in the middle of work that is")
    func untraced() throws {
        let recorder = Recorder()
        let queue = recorder.queue()
        let tracer = tracer(recorder, queue)
        let work = try #require(tracer.begin("publish"))
        tracer.run(work) {
            tracer.run(nil) { #expect(tracer.call("messaging publish") == nil && tracer.context == nil) }
            #expect(tracer.context?.span != nil)
        }
        #expect(queue.take(10).count == 1)
        #expect(self.tracer(recorder, queue, perMillion: 0).begin("publish") == nil)
    }

    @Test("Beyond the limit spans are dropped and counted")
    func limit() throws {
        let recorder = Recorder()
        let queue = recorder.queue(2)
        let tracer = tracer(recorder, queue)
        for _ in 0..<5 { tracer.run(tracer.begin("publish")) {} }
        #expect(recorder.droppedCount == 3)
        #expect(queue.take(1).count == 1 && queue.take(5).count == 1 && queue.take(5).isEmpty)
    }

    @Test(
        "A trace goes over a link with its request and comes back with what is pushed",
        arguments: TransportKind.allCases)
    func overALink(kind: TransportKind) async throws {
        try await ServiceLinkFixture.with(kind) { fixture in
            let recorder = Recorder()
            let queue = recorder.queue()
            for loop in [fixture.clientLoop, fixture.serverLoop] {
                try await loop.submit {
                    EndOfTurn.shared(on: loop).tracer = Tracer(
                        perMillion: 1_000_000, queue: queue, clock: recorder.now)
                }.get()
            }
            let (_, caller) = try await fixture.connected()
            let loop = fixture.clientLoop
            try await caller.turn { link in
                guard let tracer = EndOfTurn.shared(on: loop).tracer else { return }
                try link.request(EchoMethod.echo, Bytes("untraced"), timeout: .seconds(10), context: 1)
                try tracer.run(tracer.begin("publish")) {
                    try link.request(
                        EchoMethod.pushAndEcho, Bytes("x"), timeout: .seconds(10), context: 2)
                }
                try link.request(EchoMethod.pushAndEcho, Bytes("y"), timeout: .seconds(10), context: 3)
            }
            try await eventually("all answers") { fixture.journal.answers.count == 5 }
            var spans: [Span] = []
            try await eventually("four spans") {
                spans += queue.take(100)
                return spans.count >= 4
            }
            let byName = Dictionary(grouping: spans, by: { "\($0.name) \($0.kind)" })
            let root = try #require(byName["publish server"]?.first)
            let call = try #require(byName["echo 4 client"]?.first)
            let served = try #require(byName["echo 4 server"]?.first)
            let received = try #require(byName["echo 4 consumer"]?.first)
            #expect(spans.count == 4)
            #expect(call.parent == root.id && served.parent == call.id && received.parent == served.id)
            #expect(Set(spans.map(\.traceLow)) == [root.traceLow])
        }
    }
}
