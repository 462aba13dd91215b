import RTMModel
import RTMTestSupport
import Testing

@testable import RTMStorageServer

@Suite("The order of events on their way to messaging")
struct OutboxScheduleTests {
    private func event(
        _ sequence: UInt64, _ channel: String, bytes: Int = 0, source: UInt64 = 1
    ) -> StorageOutboxEvent {
        StorageOutboxEvent(
            source: source, sequence: sequence, channel: .message(channel), publisher: "", feature: .metadata,
            event: Array(repeating: 0, count: bytes))
    }

    /// A schedule over an empty store.
    private func schedule(_ limits: OutboxSchedule.Limits = .init()) -> OutboxSchedule {
        var schedule = OutboxSchedule(limits: limits)
        _ = schedule.nextFetch()
        schedule.fetched([])
        return schedule
    }

    @Test("the store is asked first: an earlier life may have left something there")
    func start() {
        var schedule = OutboxSchedule()
        schedule.committed([event(9, "a")])
        #expect(schedule.next() == nil)
        #expect(schedule.nextFetch()?.after == 0)
        #expect(schedule.nextFetch() == nil, "once is enough")
        schedule.fetched([event(3, "a"), event(9, "a")])
        #expect(schedule.next().sequences == [3, 9])
        #expect(schedule.nextFetch() == nil)
    }

    @Test("a store that was taken anew is read anew, and what was under way before counts no more")
    func anew() {
        var schedule = schedule(.init(fetchMax: 3))
        schedule.committed([event(1, "a"), event(2, "b"), event(7, "a")])
        let before = [schedule.next(), schedule.next()]
        #expect(before.map(\.sequences) == [[1, 7], [2]])
        schedule.beginAnew()
        schedule.committed([event(4, "a")])
        #expect(schedule.count == 0 && schedule.nextFetch()?.after == 0)
        // This fetch has begun before the store was taken once more.
        schedule.beginAnew()
        schedule.fetched([event(3, "a")])
        for run in before { schedule.answered(run?.line ?? -1, isAppended: true) }
        #expect(schedule.next() == nil && schedule.takeAcknowledged().isEmpty)
        #expect(schedule.nextFetch()?.after == 0)
        // The store had lost its last events: their numbers have come again.
        schedule.fetched([event(3, "a"), event(4, "a")])
        #expect(schedule.nextFetch() == nil)
        let run = schedule.next()
        #expect(run.sequences == [3, 4])
        schedule.answered(run?.line ?? -1, isAppended: true)
        #expect(schedule.takeAcknowledged() == [1...4])
    }

    @Test("what doesn't fit into memory by its bytes is fetched when half of it has gone")
    func bytes() {
        var schedule = schedule(.init(bytesMax: 100))
        schedule.committed([event(1, "a", bytes: 60), event(2, "a", bytes: 60)])
        schedule.committed([event(3, "a", bytes: 1)])
        #expect(schedule.count == 2 && schedule.nextFetch() == nil)
        schedule.answered(schedule.next()?.line ?? 0, isAppended: true)
        #expect(schedule.count == 0 && schedule.nextFetch()?.after == 2)
    }

    @Test("of a channel one run after the other, channels beside one another")
    func order() {
        var schedule = schedule()
        schedule.committed([event(1, "a"), event(2, "a"), event(3, "b")])
        let first = schedule.next()
        #expect(first.sequences == [1, 2])
        #expect(schedule.next().sequences == [3])
        schedule.committed([event(4, "a"), event(5, "a")])
        #expect(schedule.next() == nil)
        schedule.answered(first?.line ?? -1, isAppended: true)
        #expect(schedule.next().sequences == [4, 5])
        #expect(schedule.takeAcknowledged() == [1...2])
        #expect(schedule.takeAcknowledged().isEmpty)
    }

    @Test("a run is bounded by its count and its bytes, and has one source")
    func runs() {
        var schedule = schedule(.init(runMax: 3, runBytesMax: 10))
        schedule.committed([
            event(1, "a", bytes: 99), event(2, "a", bytes: 5), event(3, "a", bytes: 5),
            event(4, "a", bytes: 1),
            event(5, "a"), event(6, "a"), event(7, "a", source: 2), event(8, "a", source: 2),
        ])
        for expected in [[1], [2, 3], [4, 5, 6], [7, 8]] as [[UInt64]] {
            let run = schedule.next()
            #expect(run.sequences == expected)
            schedule.answered(run?.line ?? -1, isAppended: true)
        }
        #expect(schedule.takeAcknowledged() == [1...8])
    }

    @Test("what was not taken comes again, before its successors")
    func refusal() {
        var schedule = schedule()
        schedule.committed([event(1, "a"), event(2, "a")])
        schedule.answered(schedule.next()?.line ?? -1, isAppended: false)
        schedule.committed([event(3, "a")])
        #expect(schedule.next() == nil, "not at once")
        schedule.retry()
        #expect(schedule.next().sequences == [1, 2, 3])
        #expect(schedule.takeAcknowledged().isEmpty)
    }

    @Test("ranges begin behind the event before and leave out those that wait; what was put back comes again")
    func ranges() {
        var schedule = schedule()
        schedule.committed([event(2, "a"), event(4, "b"), event(5, "c"), event(9, "a"), event(10, "b")])
        let runs = [schedule.next(), schedule.next(), schedule.next()]
        schedule.answered(runs[1]?.line ?? -1, isAppended: true)
        schedule.answered(runs[2]?.line ?? -1, isAppended: true)
        let ranges = schedule.takeAcknowledged()
        #expect(ranges == [3...5, 10...10])
        schedule.putBack(ranges)
        schedule.answered(runs[0]?.line ?? -1, isAppended: true)
        #expect(schedule.takeAcknowledged() == [3...5, 10...10, 1...9])
    }

    @Test("an event that a fetch saw before its commit was reported goes out once")
    func reported() {
        var schedule = OutboxSchedule()
        _ = schedule.nextFetch()
        schedule.fetched([event(1, "a"), event(2, "a")])
        schedule.committed([event(2, "a"), event(3, "a")])
        #expect(schedule.next().sequences == [1, 2, 3])
    }

    @Test(
        "memory is bounded, and every event goes out once and in order, whatever happens", arguments: 0..<100)
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = OutboxSchedule(limits: .init(eventsMax: 20, openMax: 3, fetchMax: 5, runMax: 3))
        var stored: [StorageOutboxEvent] = (1...7).map { event($0, "a") }
        var last: UInt64 = 7
        var fetch: (after: UInt64, limit: Int)?
        var open: [OutboxSchedule.Run] = []
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
            case 3, 4: if let run = schedule.next() { open.append(run) }
            case 5:
                guard let place = open.indices.randomElement(using: &random) else { continue }
                let run = open.remove(at: place)
                let isAppended = isEnding || random.chance(3, in: 4)
                for event in run.events where isAppended {
                    delivered[event.channel.name, default: []].append(event.sequence)
                }
                schedule.answered(run.line, isAppended: isAppended)
            default:
                schedule.retry()
                let ranges = schedule.takeAcknowledged()
                let gone = stored.filter { event in ranges.contains { $0.contains(event.sequence) } }
                for event in gone {
                    #expect(delivered[event.channel.name]?.contains(event.sequence) == true, "seed \(seed)")
                }
                stored.removeAll { gone.contains($0) }
            }
            #expect(schedule.count <= 26)
        }
        #expect(delivered == expected, "seed \(seed)")
    }
}

extension OutboxSchedule.Run? {
    fileprivate var sequences: [UInt64]? { self?.events.map(\.sequence) }
}
