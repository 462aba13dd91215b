import NIOCore
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMPublishHook

@Suite("Which messages are on hold for a hook")
struct PublishHookQueueTests {
    private var queue = PublishHookQueue(.init(deadline: .milliseconds(500), onFailure: .refuse))
    private var random = SystemRandomNumberGenerator()
    private let lobby = ChannelKey(appID: "app", type: .message, name: "lobby")
    private let other = ChannelKey(appID: "app", type: .message, name: "other")

    private func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1) + .milliseconds(milliseconds)
    }

    private mutating func arrive(
        _ owner: UInt64 = 1, _ channel: ChannelKey? = nil, bytes: Int = 10, isAskedAbout: Bool = true,
        at milliseconds: Int64 = 0
    ) throws -> PublishHookQueue.Arrival {
        try queue.arrived(
            by: owner, to: channel ?? lobby, bytes: bytes, isAskedAbout: isAskedAbout, now: time(milliseconds)
        )
    }

    private mutating func answer(
        _ id: UInt64, _ reply: PublishHookReply = .allow(nil), at milliseconds: Int64 = 1
    ) -> [PublishHookQueue.Decision] {
        queue.answered(id, reply, now: time(milliseconds), using: &random)
    }

    private func decision(_ id: UInt64, _ verdict: PublishHookQueue.Verdict = .publish(nil))
        -> PublishHookQueue.Decision
    { PublishHookQueue.Decision(id: id, verdict: verdict) }

    @Test("W-71: a session's messages to one channel continue in their order, whichever answer comes first")
    mutating func order() throws {
        for id in UInt64(1)...3 { #expect(try arrive() == .ask(id)) }
        #expect(answer(3) == [])
        #expect(answer(2, .refuse("spam")) == [])
        #expect(answer(1) == [decision(1), decision(2, .refuse("spam")), decision(3)])
        #expect(queue.isEmpty && queue.deadline() == nil)
    }

    @Test("W-71: other channels and other sessions pass a message that is on hold")
    mutating func passing() throws {
        #expect(try arrive(1, lobby) == .ask(1))
        #expect(try arrive(1, other) == .ask(2))
        #expect(try arrive(2, lobby) == .ask(3))
        #expect(answer(3) == [decision(3)])
        #expect(answer(2) == [decision(2)])
        #expect(answer(1) == [decision(1)])
    }

    @Test("W-71: a message that the hook isn't asked about waits behind one that is on hold")
    mutating func unasked() throws {
        #expect(try arrive(isAskedAbout: false) == .decided(.publish(nil)))
        #expect(try arrive() == .ask(1))
        #expect(try arrive(isAskedAbout: false) == .wait(2))
        #expect(answer(1) == [decision(1), decision(2)])
    }

    @Test("W-72: 64 messages of a session are on hold at most, and what all of them have in bytes is limited")
    mutating func limits() throws {
        for _ in 0..<64 { _ = try arrive() }
        let refusal = #expect(throws: RTMError.self) { try arrive() }
        #expect(refusal?.code == .operationRateExceedLimitation)
        #expect(refusal?.limit == .init(name: "messages on hold", value: 64))
        #expect(refusal?.retryAfter == .milliseconds(500))
        #expect(try arrive(2) == .ask(65))
        _ = answer(1)
        #expect(try arrive() == .ask(66))
        let bytes = #expect(throws: RTMError.self) { try arrive(3, bytes: queue.settings.bytesMax) }
        #expect(bytes?.limit?.name == "bytes on hold")
        for owner in UInt64(1)...2 { _ = queue.ended(owner) }
        #expect(try arrive(3, bytes: queue.settings.bytesMax) == .ask(67))
    }

    @Test(
        "W-73: after the deadline a message is refused for the moment, or published, as the configuration says"
    )
    mutating func deadline() throws {
        _ = try arrive(at: 0)
        _ = try arrive(at: 100)
        #expect(queue.deadline() == time(500))
        let early = queue.expired(now: time(499), using: &random)
        #expect(early == [])
        let first = queue.expired(now: time(500), using: &random)
        #expect(
            first == [decision(1, .unanswered("no answer in time", retryAfter: .milliseconds(500)))])
        #expect(answer(1) == [], "an answer after the deadline is passed over")
        queue.settings.onFailure = .publish
        #expect(queue.deadline() == time(600))
        let second = queue.expired(now: time(600), using: &random)
        #expect(second == [decision(2)])
        #expect(queue.deadline() == nil)
    }

    @Test("W-75: during an outage messages get their verdict at once, and one question asks on")
    mutating func outage() throws {
        for id in UInt64(1)...3 { #expect(try arrive() == .ask(id)) }
        for id in UInt64(1)...3 { _ = answer(id, .failed("garbage", isAway: false)) }
        #expect(queue.isAway)
        guard case .decided(.unanswered(_, let wait)) = try arrive(at: 2) else {
            Issue.record("a message waits for a hook that is away")
            return
        }
        #expect(wait >= .milliseconds(500) && wait <= .seconds(1))
        #expect(try arrive(at: 1_100) == .ask(5))
        // Behind the question that is under way, in the order of the channel.
        #expect(try arrive(at: 1_101) == .wait(6))
        let decisions = answer(5, at: 1_102)
        #expect(decisions.map(\.id) == [5, 6])
        #expect(decisions.first?.verdict == .publish(nil))
        #expect(!queue.isAway)
        #expect(try arrive(at: 1_103) == .ask(7))
    }

    @Test("W-75: the answer to a question whose session has ended ends an outage, too")
    mutating func orphan() throws {
        _ = try arrive()
        _ = answer(1, .failed("away", isAway: true))
        #expect(try arrive(at: 2_000) == .ask(2))
        #expect(queue.ended(1) == [2])
        #expect(answer(2, at: 2_001) == [])
        #expect(!queue.isAway)
    }
}

/// Random histories: sessions that publish and end, and a hook that answers late, in any order, or not at
/// all.
@Suite("Generated histories of messages that are on hold")
struct PublishHookHistoryTests {
    private struct Sent: Equatable {
        let owner: UInt64
        let channel: Int
        let number: Int
    }

    private struct World {
        var queue: PublishHookQueue
        var random: SeededGenerator
        var now: Int64 = 0
        var waiting: [UInt64: Sent] = [:]
        var arrivedAt: [UInt64: Int64] = [:]
        var open: [UInt64] = []
        var dropped: [Sent] = []
        var continued: [Sent] = []
        var sent: [Sent] = []
        var refused: [Sent] = []

        var time: NIODeadline { .uptimeNanoseconds(1) + .milliseconds(now) }

        mutating func take(_ decisions: [PublishHookQueue.Decision]) throws {
            for decision in decisions {
                let message = waiting.removeValue(forKey: decision.id)
                let sent = try #require(message, "doubled, or never held")
                let arrival = try #require(arrivedAt[decision.id])
                #expect(now - arrival <= 500, "a message was on hold for longer than the deadline")
                continued.append(sent)
            }
        }

        mutating func step(number: Int) throws {
            try advance(to: now + .random(in: 0...30, using: &random))
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let owner = UInt64.random(in: 1...4, using: &random)
                for id in queue.ended(owner) {
                    let message = waiting.removeValue(forKey: id)
                    dropped.append(try #require(message, "dropped, and never held"))
                }
            case 1...9: try arrive(number)
            default: try answer()
            }
        }

        /// The timer fires at each deadline.
        mutating func advance(to later: Int64) throws {
            while let deadline = queue.deadline() {
                let milliseconds = (deadline - .uptimeNanoseconds(1)).nanoseconds / 1_000_000
                guard milliseconds <= later else { break }
                now = max(now, milliseconds)
                try take(queue.expired(now: time, using: &random))
            }
            now = later
        }

        mutating func arrive(_ number: Int) throws {
            let message = Sent(
                owner: .random(in: 1...4, using: &random), channel: .random(in: 0..<3, using: &random),
                number: number)
            let key = ChannelKey(appID: "app", type: .message, name: "\(message.channel)")
            sent.append(message)
            do throws(RTMError) {
                switch try queue.arrived(
                    by: message.owner, to: key, bytes: 100,
                    isAskedAbout: message.channel != 0 || .random(in: 0..<4, using: &random) > 0, now: time)
                {
                case .ask(let id):
                    open.append(id)
                    (waiting[id], arrivedAt[id]) = (message, now)
                case .wait(let id): (waiting[id], arrivedAt[id]) = (message, now)
                case .decided:
                    let isOvertaking = waiting.values.contains {
                        $0.owner == message.owner && $0.channel == message.channel
                    }
                    #expect(!isOvertaking, "a message overtakes one that is on hold")
                    continued.append(message)
                }
            } catch {
                let held = waiting.values.count { $0.owner == message.owner }
                #expect(held == 8, "refused with \(held) on hold")
                refused.append(message)
            }
            #expect(waiting.values.count { $0.owner == message.owner } <= 8)
        }

        mutating func answer() throws {
            guard let index = open.indices.randomElement(using: &random) else { return }
            let id = open.remove(at: index)
            let reply: PublishHookReply =
                switch Int.random(in: 0..<12, using: &random) {
                case 0: .failed("garbage", isAway: false)
                case 1: .failed("no connection", isAway: true)
                case 2...4: .refuse("no")
                default: .allow(nil)
                }
            try take(queue.answered(id, reply, now: time, using: &random))
        }
    }

    @Test(
        "W-71, W-72, W-73: nothing is lost, doubled or overtaken, and nothing is on hold beyond its deadline",
        arguments: 1...200)
    func histories(seed: UInt64) throws {
        var world = World(
            queue: PublishHookQueue(
                .init(
                    deadline: .milliseconds(500), onFailure: seed % 2 == 0 ? .publish : .refuse,
                    ownerMessagesMax: 8)), random: SeededGenerator(seed: seed))
        for number in 0..<400 { try world.step(number: number) }
        try world.advance(to: world.now + 500)
        #expect(world.waiting.isEmpty && world.queue.isEmpty && world.queue.deadline() == nil)
        #expect(
            world.sent.count == world.continued.count + world.dropped.count + world.refused.count)
        for owner in UInt64(1)...4 {
            for channel in 0..<3 {
                let numbers = world.continued.filter { $0.owner == owner && $0.channel == channel }.map(
                    \.number)
                #expect(numbers == numbers.sorted(), "the order of session \(owner) in channel \(channel)")
            }
        }
    }
}
