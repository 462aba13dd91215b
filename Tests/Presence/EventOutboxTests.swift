import RTMModel
import RTMWire
import Testing

@testable import RTMPresenceServer

@Suite("Events on their way to the log")
struct EventOutboxTests {
    private let channel = ChannelKey(appID: "app", type: .message, name: "room")

    private func change(_ sequences: ClosedRange<UInt64>) -> NumberedEvents {
        NumberedEvents(
            source: 7,
            events: sequences.map { ($0, RosterEvent(.joined, user: "u\($0)", exceptSession: 0)) },
            isEmpty: false)
    }

    @Test("one event of a channel at a time, the next after the answer, in order")
    func serial() {
        var outbox = EventOutbox()
        outbox.add(change(1...3), to: channel)
        for sequence: UInt64 in 1...3 {
            let append = outbox.next(of: channel)
            #expect(append?.sequence == sequence)
            let second = outbox.next(of: channel)
            #expect(second == nil)
            _ = outbox.settled(channel)
        }
        let last = outbox.next(of: channel)
        #expect(last == nil)
        #expect(outbox.count == 0)
    }

    @Test("after a lost answer the same event is sent again, with the same number")
    func again() {
        var outbox = EventOutbox()
        outbox.add(change(1...2), to: channel)
        _ = outbox.next(of: channel)
        #expect(outbox.waiting.isEmpty)
        outbox.failed(channel)
        #expect(outbox.waiting == [channel])
        let again = outbox.next(of: channel)
        #expect(again?.sequence == 1)
    }

    @Test("who waits for an event comes when it and all before it are settled, not sooner")
    func waiters() {
        var outbox = EventOutbox()
        let first = outbox.wait(1, for: channel, through: 5)
        #expect(first, "nothing is on its way")
        outbox.add(change(1...3), to: channel)
        let waits = [(2, 0), (3, 2), (4, 3)].map { outbox.wait($0, for: channel, through: $1) }
        #expect(waits == [true, false, false])
        _ = outbox.next(of: channel)
        let ready = outbox.settled(channel)
        #expect(ready == [])
        _ = outbox.next(of: channel)
        let ready3 = outbox.settled(channel)
        #expect(ready3 == [3])
        _ = outbox.next(of: channel)
        let ready4 = outbox.settled(channel)
        #expect(ready4 == [4])
    }

    @Test("who waits for an event of a new source waits for those of the earlier one")
    func newSource() {
        var outbox = EventOutbox()
        outbox.add(change(8...9), to: channel)
        var later = change(5...5)
        later.source = 8
        outbox.add(later, to: channel)
        let isSettled = outbox.wait(1, for: channel, through: 5)
        #expect(!isSettled)
        var ready: [[EventOutbox.Waiter]] = []
        while outbox.next(of: channel) != nil { ready.append(outbox.settled(channel)) }
        #expect(ready == [[], [], [1]])
    }

    @Test("what waits is bounded in events and bytes, of a channel and of all; what is settled has gone")
    func bounded() throws {
        let limit = Backlog(eventsMax: 3, bytesMax: 5_000, allBytesMax: 12_000)
        var outbox = EventOutbox()
        func refusal(_ channel: ChannelKey) -> RTMError.Limit? {
            do throws(RTMError) {
                try outbox.check(limit, for: channel)
                return nil
            } catch {
                #expect(error.code == .presenceOperationFailed && error.retryAfter != nil)
                return error.limit
            }
        }
        outbox.add(change(1...2), to: channel)
        #expect(refusal(channel) == nil)
        outbox.add(change(3...3), to: channel)
        #expect(refusal(channel) == .init(name: "waiting presence events", value: 3))
        let state = StateChange(items: [StateItem(key: "k", value: String(repeating: "x", count: 5_000))])
        let big = NumberedEvents(
            source: 7, events: [(1, RosterEvent(.statesChanged(state), user: "u", exceptSession: 0))],
            isEmpty: false)
        for name in ["a", "b"] { outbox.add(big, to: .room(name)) }
        #expect(refusal(.room("a")) == .init(name: "waiting presence bytes", value: 5_000))
        #expect(refusal(.room("z")) == nil)
        outbox.add(big, to: .room("c"))
        #expect(refusal(.room("z")) == .init(name: "waiting presence bytes of all channels", value: 12_000))
        for name in ["a", "b", "c"] {
            _ = outbox.next(of: .room(name))
            _ = outbox.settled(.room(name))
        }
        #expect(refusal(.room("a")) == nil)
    }

    @Test("what a store tells twice is taken once")
    func twice() {
        var outbox = EventOutbox()
        outbox.add(change(1...3), to: channel)
        outbox.add(change(2...4), to: channel)
        #expect(outbox.count == 4)
        #expect(outbox.last(of: channel) == 4)
    }
}
