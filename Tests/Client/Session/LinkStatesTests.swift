import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("The sequence of link states", .ends(withinMinutes: 1))
struct LinkStatesTests {
    private let hub = EventHub()

    private func enter(_ states: LinkState...) {
        for state in states {
            hub.emit(
                .linkState(
                    LinkStateEvent(
                        currentState: state, previousState: hub.linkState, operation: .login,
                        reasonCode: .unknown, reason: "", timestampMilliseconds: 1)))
        }
    }

    @Test("S-23: it begins with the present state, also when it has changed before the first read")
    func present() async {
        var early = LinkStates(hub: hub).makeAsyncIterator()
        enter(.connecting, .connected)
        #expect(await early.next() == .connected)
        let states = LinkStates(hub: hub)
        var (first, second) = (states.makeAsyncIterator(), states.makeAsyncIterator())
        #expect(await first.next() == .connected)
        #expect(await second.next() == .connected)
        enter(.disconnected)
        #expect(await early.next() == .disconnected)
        #expect(await first.next() == .disconnected)
        #expect(await second.next() == .disconnected)
    }

    @Test("S-23: a slow reader gets the newest state, and none twice in a row")
    func slow() async {
        var states = LinkStates(hub: hub).makeAsyncIterator()
        #expect(await states.next() == .idle)
        enter(.connecting, .connected, .disconnected)
        #expect(await states.next() == .disconnected)
        enter(.connecting, .disconnected)
        enter(.suspended)
        #expect(await states.next() == .suspended)
        // Back where the reader left it: there is nothing new.
        enter(.connecting, .suspended)
        hub.finish()
        #expect(await states.next() == nil)
    }

    @Test("S-23: it ends with the client, and a cancelled task")
    func end() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge)
        let seen = Task { [states = client.linkStates] in
            var seen: [LinkState] = []
            for await state in states { seen.append(state) }
            return seen
        }
        try await client.login()
        await client.close()
        #expect(await seen.value.last == .idle)
        var after = client.linkStates.makeAsyncIterator()
        #expect(await after.next() == .idle)
        #expect(await after.next() == nil)
        let waiting = Task { [hub] in
            var states = LinkStates(hub: hub).makeAsyncIterator()
            return [await states.next(), await states.next()]
        }
        waiting.cancel()
        #expect(await waiting.value == [.idle, nil])
        try await edge.stop()
    }
}
