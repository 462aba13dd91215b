import Foundation
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

@Suite("Publishes at the pace that the server names")
struct PublishPacerTests {
    private typealias Instant = ContinuousClock.Instant

    private let start = ContinuousClock.now
    private var queue = PublishQueue()

    private static func message(_ target: String, bytes: Int = 1) -> OutgoingMessage {
        OutgoingMessage(
            payload: .data(.init(count: bytes)), destination: .channel(target), customType: "",
            storeInHistory: false)
    }

    private static func rates(
        _ target: UInt32, session: UInt32 = 0, bytes: UInt64 = 0
    ) -> Rtm_Client_PublishRates {
        .with { ($0.targetMessages, $0.sessionMessages, $0.sessionBytes) = (target, session, bytes) }
    }

    private mutating func admit(
        _ id: UInt64, _ message: OutgoingMessage, at time: Instant
    ) -> PlainPacer.Verdict {
        queue.admit(id, message, now: time, deadline: time + .seconds(10))
    }

    /// Replays what leaves against the bucket that a server has, and returns what it would refuse.
    private static func refusals(_ times: [(time: Instant, cost: Int)], perSecond: Int) -> Int {
        var tokens = Double(perSecond)
        var last = times.first?.time
        var refused = 0
        for (time, cost) in times {
            let passed = last.map { (time - $0) / .seconds(1) } ?? 0
            tokens = min(Double(perSecond), tokens + passed * Double(perSecond))
            last = time
            if tokens < Double(cost) { refused += 1 } else { tokens -= Double(cost) }
        }
        return refused
    }

    @Test("M-24: a publish that comes when its predecessor is due but not yet sent is sent after it")
    mutating func lateTimer() throws {
        queue.pace(Self.rates(0, session: 1_000), now: start)
        var id: UInt64 = 0
        var last: Instant?
        while last == nil {
            id += 1
            if case .at(let time) = admit(id, Self.message("lobby"), at: start) { last = time }
        }
        let late = try #require(last) + .milliseconds(10)
        #expect(admit(id + 1, Self.message("lobby"), at: late) == .at(late))
        #expect(admit(id + 2, Self.message("other"), at: late) == .now)
        #expect(queue.takeDue(now: late) == [id, id + 1])
    }

    @Test("without rates, and below them, everything leaves at once")
    mutating func unlimited() {
        for id in 0..<1_000 as Range<UInt64> { #expect(admit(id, Self.message("a"), at: start) == .now) }
        queue.pace(Self.rates(60), now: start)
        for id in 0..<300 as Range<UInt64> {
            let time = start + .milliseconds(18) * Int(id)
            #expect(admit(id, Self.message("a"), at: time) == .now)
        }
        #expect(queue.pacedIDs.isEmpty)
    }

    @Test("R-2, R-13: what comes too fast gets a time that no server refuses, in its order")
    mutating func paced() {
        for seed in 0..<20 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            queue = PublishQueue()
            queue.pace(Self.rates(60, session: 100, bytes: 40_000), now: start)
            var now = start
            var left: [String: [(time: Instant, cost: Int)]] = [:]
            var all: [(time: Instant, cost: Int)] = []
            var ids: [String: [UInt64]] = [:]
            var messages: [UInt64: OutgoingMessage] = [:]
            func leaves(_ id: UInt64, _ message: OutgoingMessage?, _ time: Instant) {
                guard let message, case .channel(let name) = message.destination else { return }
                left[name, default: []].append((time, 1))
                all.append((time, message.payload.byteCount))
                ids[name, default: []].append(id)
            }
            for id in 1...400 as ClosedRange<UInt64> {
                let message = Self.message(
                    ["a", "b", "c"].randomElement(using: &random) ?? "a",
                    bytes: .random(in: 1...800, using: &random))
                messages[id] = message
                switch admit(id, message, at: now) {
                case .now: leaves(id, message, now)
                case .at(let time): #expect(time > now)
                case .refused: break
                }
                if random.chance(1, in: 3) { now += .milliseconds(.random(in: 0...60, using: &random)) }
                for id in queue.takeDue(now: now) { leaves(id, messages[id], now) }
            }
            while let due = queue.nextDue {
                now = max(now, due)
                for id in queue.takeDue(now: now) { leaves(id, messages[id], now) }
            }
            for (name, times) in left {
                #expect(Self.refusals(times, perSecond: 60) == 0, "seed \(seed)")
                #expect(ids[name] == ids[name]?.sorted(), "seed \(seed)")
            }
            #expect(Self.refusals(all.map { ($0.time, 1) }, perSecond: 100) == 0, "seed \(seed)")
            #expect(Self.refusals(all, perSecond: 40_000) == 0, "seed \(seed)")
        }
    }

    @Test("M-24: a random history has the times, the order and the refusals of the rules, written plainly")
    mutating func history() {
        for seed in 0..<30 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            // Every other seed has narrow limits, as the compatible API has.
            let narrow = PublishPacing(waitMax: .seconds(1), waitingMax: 4)
            let limits = seed.isMultiple(of: 2) ? .patient : narrow
            queue = PublishQueue(limits)
            var plain = PlainPacer()
            plain.limits = limits
            var now = start
            func rates(_ random: inout SeededGenerator) -> Rtm_Client_PublishRates? {
                random.chance(1, in: 6)
                    ? nil
                    : Self.rates(
                        [0, 3, 60].randomElement(using: &random) ?? 0,
                        session: [0, 20, 100].randomElement(using: &random) ?? 0,
                        bytes: [0, 4_000, 40_000].randomElement(using: &random) ?? 0)
            }
            for id in 1...1_500 as ClosedRange<UInt64> {
                let message = Self.message(
                    "\(Int.random(in: 0..<6, using: &random))", bytes: .random(in: 1...900, using: &random))
                let deadline = now + .milliseconds(.random(in: 0...10_000, using: &random))
                #expect(
                    queue.admit(id, message, now: now, deadline: deadline)
                        == plain.admit(id, message, now: now, deadline: deadline), "seed \(seed)")
                if random.chance(1, in: 3) {
                    let other = UInt64.random(in: (id > 10 ? id - 10 : 1)...id, using: &random)
                    #expect(queue.removePaced(other) == plain.remove(other), "seed \(seed)")
                }
                if random.chance(1, in: 4) { now += .milliseconds(.random(in: 0...80, using: &random)) }
                if random.chance(1, in: 8) {
                    #expect(queue.takeDue(now: now) == plain.takeDue(now: now), "seed \(seed)")
                }
                if id == 1 || random.chance(1, in: 300) {
                    let rates = rates(&random)
                    queue.pace(rates, now: now)
                    plain.begin(rates, now: now)
                }
                #expect(queue.nextDue == plain.nextDue, "seed \(seed)")
                #expect(id % 50 != 0 || queue.pacedIDs == plain.waitingIDs, "seed \(seed)")
            }
            now += .seconds(60)
            #expect(queue.takeDue(now: now) == plain.takeDue(now: now), "seed \(seed)")
            #expect(queue.nextDue == nil && queue.pacedIDs.isEmpty)
        }
    }

    @Test("what is given up is forgotten, also behind what continues to wait")
    mutating func leftovers() {
        queue.pace(Self.rates(0, session: 10), now: start)
        var id: UInt64 = 0
        while queue.pacedIDs.isEmpty {
            id += 1
            _ = admit(id, Self.message("a"), at: start)
        }
        let first = id
        for _ in 1...10_000 {
            id += 1
            let message = Self.message(id.isMultiple(of: 2) ? "a" : "b")
            let verdict = queue.admit(id, message, now: start, deadline: start + .seconds(10_000))
            guard case .at = verdict else { return #expect(Bool(false), "\(verdict)") }
            let isThere = queue.removePaced(id)
            #expect(isThere && queue.pacedSize < 100)
        }
        #expect(queue.pacedIDs == [first])
        let isThere = queue.removePaced(first)
        #expect(isThere)
        #expect(queue.pacedSize == 0 && queue.nextDue == nil)
    }

    @Test("a publish whose time would come too late is refused at once, with the time to wait")
    mutating func tooLate() {
        queue.pace(Self.rates(10), now: start)
        var refused: Duration?
        for id in 0..<200 as Range<UInt64> {
            if case .refused(let wait) = admit(id, Self.message("a"), at: start) {
                refused = refused ?? wait
            }
        }
        #expect(refused.map { $0 > .zero && $0 < .seconds(1) } == true)
        // Ten seconds at nearly ten a second, and what may come at once.
        #expect((95...110).contains(queue.pacedIDs.count + 7))
        #expect(admit(999, Self.message("b"), at: start) == .now, "another channel has its own rate")
    }

    @Test("R-2: with narrow limits few publishes wait for a target, and none for long")
    mutating func narrow() {
        queue = PublishQueue(PublishPacing(waitMax: .seconds(1), waitingMax: 4))
        queue.pace(Self.rates(10), now: start)
        let verdicts = (1...20 as ClosedRange<UInt64>).map { admit($0, Self.message("a"), at: start) }
        let sent = verdicts.count { $0 == .now }
        #expect(sent > 0 && queue.pacedIDs.count == 4, "\(verdicts)")
        guard case .at(let first) = verdicts[sent] else { return #expect(Bool(false), "\(verdicts)") }
        #expect(verdicts[(sent + 4)...].allSatisfy { $0 == .refused(retryAfter: first - start) })
        #expect(admit(21, Self.message("b"), at: start) == .now, "another channel is free")
        #expect(queue.takeDue(now: first).count == 1)
        guard case .at = admit(22, Self.message("a"), at: first) else {
            return #expect(Bool(false), "another may wait as soon as the refusal said")
        }
        // At two a second the third would wait for more than a second.
        queue = PublishQueue(PublishPacing(waitMax: .seconds(1), waitingMax: 16))
        queue.pace(Self.rates(2), now: start)
        let slow = (1...8 as ClosedRange<UInt64>).map { admit($0, Self.message("a"), at: start) }
        #expect(queue.pacedIDs.count == 2, "\(slow)")
        guard case .refused(let wait) = slow[3] else { return #expect(Bool(false), "\(slow)") }
        #expect(wait > .zero && wait < .seconds(1))
    }

    @Test("a new session keeps what waits, in its order; what nobody waits for is forgotten")
    mutating func returns() {
        queue.pace(Self.rates(4), now: start)
        for id in 1...8 as ClosedRange<UInt64> { _ = admit(id, Self.message("a"), at: start) }
        #expect(queue.pacedIDs == [4, 5, 6, 7, 8])
        #expect(queue.removePaced(6) && !queue.removePaced(6) && !queue.removePaced(1))
        queue.pace(Self.rates(0), now: start + .seconds(1))
        #expect(queue.takeDue(now: start + .seconds(1)) == [4, 5, 7, 8])
        #expect(queue.pacedIDs.isEmpty && queue.nextDue == nil)
    }
}

/// The same through a link, in virtual time.
@Suite("A link that is paced")
struct PacedLinkTests {
    private func publish(_ count: Int, on link: EmbeddedLink) -> [EmbeddedLink.Call<PublishReceipt>] {
        (0..<count).map { number in
            link.start(.publish) { link, completion in
                link.messages.publish(
                    OutgoingMessage(
                        payload: .text("\(number)"), destination: .channel("a"), customType: "",
                        storeInHistory: false),
                    completion)
            }
        }
    }

    private func texts(_ frames: [Rtm_Client_ClientFrame]) -> [String] {
        frames.filter(\.isPublish).map { String(decoding: $0.publish.payload, as: UTF8.self) }
    }

    @Test("R-2: publishes above the rate wait for their time, also over a loss of the connection")
    func paced() throws {
        let link = EmbeddedLink()
        let login: EmbeddedLink.Call<Void> = link.start(.login) { link, completion in
            link.calls.login(token: nil, completion)
        }
        try link.accept { $0.publishRates.targetMessages = 20 }
        #expect(login.isSuccess)
        let calls = publish(40, on: link)
        var sent = try link.sent()
        #expect(texts(sent) == (0..<15).map { "\($0)" })
        for frame in sent { try link.answer(frame.requestID) { $0.published.offset = 1 } }
        link.advance(by: .milliseconds(500))
        sent = try link.sent()
        #expect((8...10).contains(sent.count) && texts(sent).first == "15")
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.publish.sequence < $1.publish.sequence })
        for frame in sent { try link.answer(frame.requestID) { $0.published.offset = 1 } }
        let count = sent.count
        link.cut()
        link.advance(by: .seconds(3))
        try link.accept { $0.publishRates.sessionMessages = 0 }
        let rest = try link.sent()
        #expect(texts(rest) == ((15 + count)..<40).map { "\($0)" })
        #expect(rest.filter(\.isPublish).allSatisfy { !$0.publish.again })
        for frame in rest { try link.answer(frame.requestID) { $0.published.offset = 1 } }
        #expect(calls.allSatisfy { $0.isSuccess && $0.endCount == 1 })
    }

    @Test("a publish whose time doesn't come before its deadline fails as too frequent, and is not sent")
    func timedOut() throws {
        let link = EmbeddedLink()
        let login: EmbeddedLink.Call<Void> = link.start(.login) { link, completion in
            link.calls.login(token: nil, completion)
        }
        try link.accept { $0.publishRates.targetMessages = 1 }
        #expect(login.isSuccess)
        let calls = publish(30, on: link)
        #expect(calls.suffix(5).allSatisfy { $0.code == .channelPublishMessageTooFrequent })
        #expect(calls.allSatisfy { $0.endCount <= 1 })
    }
}
