import RTMModel
import RTMTestSupport
import Testing

@testable import RTMStorageServer

@Suite("Up to where events are announced")
struct OutboxPositionTests {
    @Test("the position passes what touches it, and what lies behind a gap is returned until the gap closes")
    func gaps() {
        var position = OutboxPosition(3)
        #expect(position.announced([1...2, 4...6]) == [])
        #expect(position.sequence == 6)
        #expect(position.announced([12...13, 8...9]) == [12...13, 8...9])
        #expect(position.sequence == 6)
        #expect(position.announced([7...7]) == [], "it closes the first gap")
        #expect(position.sequence == 9)
        #expect(position.announced([10...11, 20...21]) == [20...21])
        #expect(position.sequence == 13)
        #expect(position.announced([5...15]) == [], "some of it was announced before")
        #expect(position.sequence == 15)
        #expect(position.announced([14...17]) == [])
        #expect(position.announced([16...20]) == [])
        #expect(position.sequence == 21)
    }

    /// What a store keeps of an outbox that is only appended to.
    private struct Store {
        var events: [StorageOutboxEvent] = []
        var sequence: UInt64 = 0
        var announced: Set<UInt64> = []
        /// As the writer has it.
        var position = OutboxPosition(0)

        var waiting: [StorageOutboxEvent] {
            events.filter { $0.sequence > sequence && !announced.contains($0.sequence) }
        }

        mutating func keep(_ ranges: [ClosedRange<UInt64>]) {
            for range in position.announced(ranges) {
                announced.formUnion(events.map(\.sequence).filter(range.contains))
            }
            sequence = position.sequence
        }

        mutating func beginAnew() { position = OutboxPosition(sequence) }
    }

    @Test(
        "whatever is acknowledged in whatever order, also over terms: what waits is what nobody acknowledged",
        arguments: series(of: 30))
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = OutboxSchedule(limits: .init(eventsMax: 20, openMax: 4, fetchMax: 5, runMax: 3))
        var store = Store()
        var last: UInt64 = 0
        var open: [OutboxSchedule.Run] = []
        /// What messaging has, which drops repetitions.
        var delivered: [ChannelKey: [UInt64]] = [:]
        var acknowledged: Set<UInt64> = []
        for step in 0..<6_000 {
            let isEnding = step > 600
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2 where !isEnding:
                let fresh = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    last += UInt64.random(in: 1...3, using: &random)
                    return StorageOutboxEvent(
                        source: 1, sequence: last,
                        channel: .message(["a", "b", "c"].randomElement(using: &random) ?? ""), publisher: "",
                        feature: .metadata, event: [])
                }
                store.events += fresh
                // A group in doubt may have been kept without a report.
                if random.chance(1, in: 8) {
                    store.beginAnew()
                    schedule.beginAnew()
                } else {
                    schedule.committed(fresh)
                }
            case 3 where !isEnding && random.chance(1, in: 8):
                // Another node takes over, from what the store has.
                store.beginAnew()
                schedule = OutboxSchedule(limits: .init(eventsMax: 20, openMax: 4, fetchMax: 5, runMax: 3))
                open = []
            case 4, 5:
                if let fetch = schedule.nextFetch() {
                    schedule.fetched(
                        Array(store.waiting.filter { $0.sequence > fetch.after }.prefix(fetch.limit)))
                }
            case 6, 7: if let run = schedule.next() { open.append(run) }
            case 8, 9:
                guard let index = open.indices.randomElement(using: &random) else { continue }
                let run = open.remove(at: index)
                let isAppended = isEnding || random.chance(2, in: 3)
                // Even if the answer is lost.
                let isDelivered = isAppended || random.chance(1, in: 2)
                for event in run.events where isDelivered {
                    guard event.sequence > delivered[event.channel]?.last ?? 0 else { continue }
                    delivered[event.channel, default: []].append(event.sequence)
                }
                if isAppended { acknowledged.formUnion(run.events.map(\.sequence)) }
                schedule.answered(run.line, isAppended: isAppended)
            default:
                schedule.retry()
                let ranges = schedule.takeAcknowledged()
                if random.chance(1, in: 6) {
                    schedule.putBack(ranges)
                } else {
                    store.keep(ranges)
                }
            }
            let lost = store.events.filter {
                !acknowledged.contains($0.sequence)
                    && ($0.sequence <= store.sequence || store.announced.contains($0.sequence))
            }
            #expect(lost.isEmpty, "seed \(seed), step \(step): counts as announced")
            guard lost.isEmpty else { return }
        }
        #expect(store.waiting.isEmpty, "seed \(seed)")
        #expect(store.sequence == last, "seed \(seed): the position doesn't stay behind")
        for (channel, sequences) in Dictionary(grouping: store.events, by: \.channel) {
            #expect(delivered[channel] == sequences.map(\.sequence), "seed \(seed)")
        }
    }
}
