import RTMModel
import RTMTestSupport
import Testing

@testable import RTMStorageServer

@Suite("The order of events on their way to messaging")
struct OutboxScheduleTests {
    private func event(_ sequence: UInt64, _ channel: String) -> OutboxEvent {
        OutboxEvent(
            source: 1, sequence: sequence, channel: .message(channel), publisher: "", feature: .metadata,
            event: [])
    }

    @Test("the store is asked first: an earlier life may have left something there")
    func start() {
        var schedule = OutboxSchedule()
        schedule.committed([event(9, "a")])
        #expect(schedule.next() == nil)
        #expect(schedule.nextFetch()?.after == 0)
        #expect(schedule.nextFetch() == nil, "once is enough")
        schedule.fetched([event(3, "a"), event(9, "a")])
        #expect(schedule.next()?.sequence == 3)
        #expect(schedule.nextFetch() == nil)
    }

    @Test("within a channel one after the other, channels beside one another")
    func order() {
        var schedule = OutboxSchedule()
        _ = schedule.nextFetch()
        schedule.fetched([])
        schedule.committed([event(1, "a"), event(2, "a"), event(3, "b")])
        #expect(schedule.next()?.sequence == 1)
        #expect(schedule.next()?.sequence == 3)
        #expect(schedule.next() == nil)
        schedule.answered(.message("a"), isAppended: true)
        #expect(schedule.next()?.sequence == 2)
        #expect(schedule.takeAcknowledged() == [1])
        #expect(schedule.takeAcknowledged().isEmpty)
    }

    @Test("what was not taken comes again, before its successors")
    func refusal() {
        var schedule = OutboxSchedule()
        _ = schedule.nextFetch()
        schedule.fetched([event(1, "a"), event(2, "a")])
        _ = schedule.next()
        schedule.answered(.message("a"), isAppended: false)
        #expect(schedule.next() == nil, "not at once")
        schedule.retry()
        #expect(schedule.next()?.sequence == 1)
        #expect(schedule.takeAcknowledged().isEmpty)
    }

    @Test(
        "memory is bounded, and every event goes out once and in order, whatever happens", arguments: 0..<100)
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = OutboxSchedule(limits: .init(eventsMax: 20, openMax: 3, fetchMax: 5))
        var stored: [OutboxEvent] = (1...7).map { event($0, "a") }
        var last: UInt64 = 7
        var fetch: (after: UInt64, limit: Int)?
        var open: [OutboxEvent] = []
        var delivered: [String: [UInt64]] = [:]
        var expected: [String: [UInt64]] = ["a": Array(1...7)]
        for step in 0..<9_000 {
            let isEnding = step > 500
            switch Int.random(in: 0...6, using: &random) {
            case 0 where !isEnding:
                let fresh = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    last += 1
                    return event(last, ["a", "b", "c", "d"].randomElement(using: &random) ?? "a")
                }
                for event in fresh { expected[event.channel.name, default: []].append(event.sequence) }
                stored += fresh
                schedule.committed(fresh)
            case 1: fetch = fetch ?? schedule.nextFetch()
            case 2:
                guard let asked = fetch else { continue }
                fetch = nil
                let found = stored.filter { $0.sequence > asked.after }.prefix(asked.limit)
                schedule.fetched(random.chance(1, in: 8) ? nil : Array(found))
            case 3, 4: if let event = schedule.next() { open.append(event) }
            case 5:
                guard let place = open.indices.randomElement(using: &random) else { continue }
                let event = open.remove(at: place)
                let isAppended = isEnding || random.chance(3, in: 4)
                if isAppended { delivered[event.channel.name, default: []].append(event.sequence) }
                schedule.answered(event.channel, isAppended: isAppended)
            default:
                schedule.retry()
                let gone = Set(schedule.takeAcknowledged())
                stored.removeAll { gone.contains($0.sequence) }
            }
            #expect(schedule.count <= 26)
        }
        #expect(delivered == expected, "seed \(seed)")
    }
}
