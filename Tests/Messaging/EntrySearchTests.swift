import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("What a log knows of an offset") struct EntrySearchTests {
    private var broker = Broker(limits: .limits(ageMax: 1_000, idleMax: 10_000), firstEpoch: 7, now: 5)

    /// The answer, and in how many turns it was found.
    private func explain(
        _ offset: UInt64?, in channel: String = "a", epoch: UInt64 = 0, now: UInt64 = 50
    ) -> (answer: ExplainResponse, turns: Int) {
        let request = ExplainRequest(
            channel: .message(channel), entry: offset.map { StreamPosition(epoch: epoch, offset: $0) })
        var search = EntrySearch(request, in: broker, now: now)
        var turns = 1
        while true {
            let answer = search.look(in: broker) { link in
                ExplainedLink(node: "edge \(link)", waitingBytes: UInt64(link))
            }
            if let answer { return (answer, turns) }
            turns += 1
        }
    }

    @Test("W-60: an entry is found with its time, publisher and session; one of another channel is absent")
    mutating func found() throws {
        _ = try broker.publish("x", times: 2, to: .message("a"), by: "anna", session: 9, now: 10)
        _ = try broker.publish("y", to: .message("b"), by: "bert", now: 20)
        _ = try broker.publish("z", to: .message("a"), by: "carl", session: 3, now: 30)
        let second = explain(2).answer
        #expect(second.trace == .found && second.head == StreamPosition(epoch: 7, offset: 4))
        #expect(
            second.entry
                == ExplainedEntry(
                    timestampMilliseconds: 107, publisher: "anna", publisherSession: 9, feature: .message))
        #expect(explain(4, epoch: 7).answer.entry?.publisher == "carl")
        #expect(explain(3).answer.trace == .absent && explain(3).answer.entry == nil)
        #expect(explain(4, in: "b").answer.trace == .absent, "behind the newest entry of the channel")
        #expect(explain(5).answer.trace == .ahead)
        #expect(explain(2, epoch: 8).answer.trace == .otherLog)
        #expect(explain(nil).answer.trace == EntryTrace.none)
    }

    @Test("W-60: what the tail has dropped is forgotten, and an offset behind that isn't")
    mutating func forgotten() throws {
        _ = try broker.publish("x", to: .message("a"), now: 10)
        broker.sweep(100, now: 500)
        _ = try broker.publish("x", to: .message("a"), now: 2_000)
        for now in [2_001, 2_002] as [UInt64] { broker.sweep(100, now: now) }
        _ = try broker.publish("x", to: .message("b"), now: 2_003)
        _ = try broker.publish("x", to: .message("a"), now: 2_004)
        #expect(explain(1).answer.trace == .forgotten)
        #expect(explain(2).answer.trace == .found && explain(4).answer.trace == .found)
        #expect(explain(3).answer.trace == .absent)
    }

    @Test("W-60: of a channel that is forgotten only its newest offset is known; one that never was has none")
    mutating func channelForgotten() throws {
        _ = try broker.publish("x", to: .message("a"), now: 10)
        _ = try broker.publish("x", to: .message("b"), now: 11)
        for now in [20, 5_000, 20_000, 20_001, 20_002] as [UInt64] { broker.sweep(100, now: now) }
        #expect(broker.slot(of: .message("a")) == nil)
        #expect(explain(1).answer.trace == .forgotten && explain(2).answer.trace == .absent)
        #expect(explain(3).answer.trace == .ahead)
        #expect(explain(1, in: "c").answer.trace == .absent)
        #expect(explain(1).answer.head == StreamPosition(epoch: 7, offset: 1))
    }

    @Test("W-60: a long log is looked through in turns, and the answer fits the log as it is at the end")
    mutating func turns() throws {
        for _ in 0..<10_000 { _ = try broker.publish("x", to: .message("a"), now: 10) }
        let oldest = explain(1)
        #expect(oldest.answer.trace == .found && oldest.turns == 3)
        #expect(explain(10_000).turns == 1)
        // The tail may lose the entry between two turns.
        var search = EntrySearch(
            ExplainRequest(channel: .message("a"), entry: StreamPosition(epoch: 0, offset: 1)), in: broker,
            now: 20)
        #expect(search.look(in: broker, { _ in nil }) == nil)
        broker.sweep(10_000, now: 1_000)
        for now in [30_000, 30_001] as [UInt64] { broker.sweep(10_000, now: now) }
        #expect(search.look(in: broker, { _ in nil })?.entry == nil)
    }

    @Test("W-60: which links get the channel, and when the last one went")
    mutating func links() throws {
        for link in [1, 2] {
            _ = try broker.attach(.init(link: link, id: 5), to: .message("a"), after: nil, now: 10)
        }
        let both = explain(nil).answer
        #expect(both.links.map(\.node) == ["edge 1", "edge 2"] && both.links.map(\.waitingBytes) == [1, 2])
        #expect(both.leftMilliseconds == 0)
        broker.detach(.init(link: 1, id: 5), now: 20)
        #expect(explain(nil).answer.leftMilliseconds == 0)
        broker.detach(.init(link: 2, id: 5), now: 30)
        let none = explain(nil).answer
        #expect(none.links.isEmpty && none.leftMilliseconds == 30 && none.knownSinceMilliseconds == 5)
        // Of a channel that isn't in memory: it would be, if a link had gone lately.
        #expect(explain(nil, in: "b", now: 50_000).answer.knownSinceMilliseconds == 40_000)
    }
}
