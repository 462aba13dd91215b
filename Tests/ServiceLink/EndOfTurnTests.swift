import NIOCore
import NIOPosix
import RTMServiceLink
import RTMTestSupport
import Synchronization
import Testing

@Suite struct EndOfTurnTests {
    private final class Counter: Flushable {
        let flushes: Mutex<Int>
        let endOfTurn: EndOfTurn
        /// How often the object makes itself dirty again.
        var repeats: Int

        init(_ endOfTurn: EndOfTurn, repeats: Int) {
            self.endOfTurn = endOfTurn
            self.repeats = repeats
            flushes = Mutex(0)
        }

        func flushAtEndOfTurn() {
            flushes.withLock { $0 += 1 }
            guard repeats > 0 else { return }
            repeats -= 1
            endOfTurn.schedule(self)
        }
    }

    private func withLoop(_ body: (any EventLoop) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do { try await body(group.next()) } catch { Issue.record(error) }
        try await group.shutdownGracefully()
    }

    @Test("what is scheduled is flushed after the turn, once for each call, and again while it is dirty")
    func flushes() async throws {
        try await withLoop { loop in
            let counter = try await loop.submit {
                let endOfTurn = EndOfTurn.shared(on: loop)
                let counter = Counter(endOfTurn, repeats: 9)
                endOfTurn.schedule(counter)
                #expect(counter.flushes.withLock { $0 } == 0)
                return NIOLoopBound(counter, eventLoop: loop)
            }.get()
            #expect(try await loop.submit { counter.value.flushes.withLock { $0 } }.get() == 10)
        }
    }

    @Test("a turn is timed from its first work to its last flush, and a loop without work isn't")
    func timed() async throws {
        try await withLoop { loop in
            let turns = Shared<[TimeAmount]>([])
            try await loop.submit {
                let endOfTurn = EndOfTurn.shared(on: loop)
                endOfTurn.turnEnded = { time in turns.withLock { $0.append(time) } }
                endOfTurn.schedule(Counter(endOfTurn, repeats: 200))
            }.get()
            try await eventually("the turn ends") { turns.withLock { $0.count } == 1 }
            try await loop.submit {}.get()
            #expect(turns.withLock { $0.allSatisfy { $0 > .nanoseconds(0) } && $0.count == 1 })
        }
    }

    @Test("sockets come last: what others become dirty of is flushed before them")
    func writesLast() async throws {
        final class Step: Flushable {
            var body: () -> Void = {}
            func flushAtEndOfTurn() { body() }
        }
        try await withLoop { loop in
            let order = try await loop.submit {
                let endOfTurn = EndOfTurn.shared(on: loop)
                let order = NIOLoopBoundBox([String](), eventLoop: loop)
                let (last, socket, work, later) = (Step(), Step(), Step(), Step())
                last.body = { order.value.append("last socket") }
                socket.body = { order.value.append("socket") }
                later.body = { order.value.append("later work") }
                work.body = {
                    order.value.append("work")
                    endOfTurn.schedule(later)
                }
                endOfTurn.scheduleLastWrite(last)
                endOfTurn.scheduleWrite(socket)
                endOfTurn.schedule(work)
                return order
            }.get()
            #expect(
                try await loop.submit { order.value }.get() == [
                    "work", "later work", "socket", "last socket",
                ])
        }
    }

    @Test("all users of a loop share one, and the time stands still within a turn")
    func shared() async throws {
        try await withLoop { loop in
            try await loop.submit {
                let endOfTurn = EndOfTurn.shared(on: loop)
                #expect(endOfTurn === EndOfTurn.shared(on: loop))
                #expect(endOfTurn.now == endOfTurn.now)
            }.get()
            let earlier = try await loop.submit { EndOfTurn.shared(on: loop).now }.get()
            #expect(try await loop.submit { EndOfTurn.shared(on: loop).now }.get() > earlier)
        }
    }

    @Test("sockets that never end to be written don't keep those from being written that come last")
    func endlessWrites() async throws {
        final class Writer: Flushable {
            let endOfTurn: EndOfTurn
            var isEndless = true

            init(_ endOfTurn: EndOfTurn) { self.endOfTurn = endOfTurn }

            func flushAtEndOfTurn() {
                if isEndless { endOfTurn.scheduleWrite(self) }
            }
        }
        try await withLoop { loop in
            let (writer, last) = try await loop.submit {
                let endOfTurn = EndOfTurn.shared(on: loop)
                let (writer, last) = (Writer(endOfTurn), Counter(endOfTurn, repeats: 0))
                endOfTurn.scheduleWrite(writer)
                endOfTurn.scheduleLastWrite(last)
                return (NIOLoopBound(writer, eventLoop: loop), NIOLoopBound(last, eventLoop: loop))
            }.get()
            #expect(try await loop.submit { last.value.flushes.withLock { $0 } }.get() == 1)
            try await loop.submit { writer.value.isEndless = false }.get()
        }
    }

    @Test("one that is always dirty does not keep the loop from its sockets")
    func endless() async throws {
        try await ServiceLinkFixture.with(.tcp) { fixture in
            let loop = fixture.clientLoop
            let counter = try await loop.submit {
                let counter = Counter(EndOfTurn.shared(on: loop), repeats: .max)
                counter.endOfTurn.schedule(counter)
                return NIOLoopBound(counter, eventLoop: loop)
            }.get()
            let (_, caller) = try await fixture.connected()
            try await caller.request(EchoMethod.echo, Bytes("x"), context: 1)
            try await eventually("an answer") { fixture.journal.answers == [.response(1, Bytes("x"))] }
            try await loop.submit { counter.value.repeats = 0 }.get()
        }
    }
}
