import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("W-42: a read waits for the next event, and misses none") struct EventWaitsTests {
    private var waits = EventWaits()

    private func wait(_ offset: UInt64 = 5, deadline: UInt64 = 100) -> EventWaits.Wait {
        let request = EventsRequest(appID: "app", after: StreamPosition(epoch: 1, offset: offset))
        return .init(request: request, link: 1, id: 1, deadline: deadline)
    }

    private func response(_ offset: UInt64, events: Int = 0, more: Bool = false) -> EventsResponse {
        let position = StreamPosition(epoch: 1, offset: offset)
        let event = AppEvent(position: position, type: .message, keyType: .message)
        return EventsResponse(
            events: Array(repeating: event, count: events), next: position, hasMore: more)
    }

    private func name(_ next: EventWaits.Next) -> String {
        switch next {
        case .answer: "answer"
        case .readAgain(let request): "read after \(request.after.offset)"
        case .wait: "wait"
        }
    }

    @Test("it answers with an event, at its deadline, and else waits or goes on behind what wasn't asked for")
    func next() {
        #expect(name(waits.next(after: response(6, events: 1), wait(), now: 0)) == "answer")
        #expect(name(waits.next(after: response(5), wait(), now: 100)) == "answer")
        #expect(name(waits.next(after: response(5), wait(), now: 99)) == "wait")
        #expect(name(waits.next(after: response(900, more: true), wait(), now: 0)) == "read after 900")
    }

    @Test("an event that was kept between the read and its answer isn't waited for")
    mutating func race() {
        _ = waits.kept("app", newest: 6)
        #expect(name(waits.next(after: response(5), wait(), now: 0)) == "read after 5")
        #expect(name(waits.next(after: response(6), wait(), now: 0)) == "wait")
    }

    @Test(
        "those who wait are woken by their app alone, once, and not after their link or their time has ended")
    mutating func wake() {
        let first = waits.park(wait())
        let others = waits.kept("other", newest: 1)
        #expect(others.isEmpty)
        let woken = [waits.kept("app", newest: 6).count, waits.kept("app", newest: 7).count]
        #expect(woken == [1, 0])
        let expired = waits.expired(first)
        #expect(expired?.id == nil)
        let second = waits.park(wait())
        let late = waits.expired(second)
        #expect(late?.id == 1 && waits.count == 0)
        _ = waits.park(wait())
        waits.linkClosed(1)
        #expect(waits.count == 0)
    }
}
