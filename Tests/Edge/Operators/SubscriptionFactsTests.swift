import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

@Suite("What a loop remembers of subscriptions, and what it says when it is asked")
struct SubscriptionFactsTests {
    private struct Number: DatedFact, Equatable {
        let at: UInt64
        var count = 1
    }

    @Test("a ring has the latest facts, and knows since when none is missing")
    func ring() {
        var ring = FactRing<Number>(3, now: 10)
        #expect(ring.since == 10 && Array(ring.newestFirst).isEmpty)
        #expect(!ring.changeNewest { _ in true })
        for at in [11, 12, 12] as [UInt64] { ring.append(Number(at: at)) }
        #expect(ring.since == 10 && ring.newestFirst.map(\.at) == [12, 12, 11])
        ring.append(Number(at: 20))
        #expect(ring.since == 12 && ring.newestFirst.map(\.at) == [20, 12, 12])
        ring.append(Number(at: 30))
        // The other fact of this millisecond is there, but one is gone.
        #expect(ring.since == 13)
        let isChanged = ring.changeNewest {
            $0.count += 1
            return true
        }
        #expect(isChanged)
        #expect(ring.newestFirst.map(\.count) == [2, 1, 1])
        ring.append(Number(at: 29))
        ring.append(Number(at: 31))
        #expect(ring.since == 21 && ring.newestFirst.map(\.at) == [31, 29, 30])
    }

    private func explain(_ fixture: EdgeFixture, _ question: EdgeExplain) throws -> EdgeExplanation {
        EdgeQuery(appID: "app", explain: question).buffer.withUnsafeReadableBytes { bytes in
            fixture.storage.push(
                StorageMethod.edgeQuestion.number, EdgeQuestion(number: 1, query: WireText(bytes)))
        }
        fixture.pass()
        let findings = fixture.storage.bodies(StorageMethod.edgeAnswer.number) { bytes, arena in
            // The answer lies in the arena, where the findings would be read next.
            let copy = Array(try EdgeAnswer(bytes, in: arena).findings.bytes)
            return try copy.withUnsafeBytes { try EdgeFindings($0, in: arena) }
        }
        return try #require(findings.last?.explanation)
    }

    @Test("W-60: subscribes, unsubscribes and refusals leave facts; messages leave none")
    func facts() throws {
        var clock: UInt64 = 1_800_000_000_000
        let fixture = EdgeFixture(wallClock: {
            clock += 1
            return clock
        })
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        anna.subscribe(3, "lobby", .message)
        fixture.presence.answerJoin()
        fixture.pass()
        for number in 10..<14 as Range<UInt64> { ben.publish(number, to: "lobby", bytes: 5) }
        let question = EdgeExplain(userID: "anna", channel: fixture.key("lobby"))
        let live = try explain(fixture, question)
        #expect(live.node == "edge" && live.loop == 0)
        #expect(live.facts.map(\.kind) == [.subscribed, .subscribed])
        #expect(live.facts.map { $0.channel?.type } == [.message, .user], "the inbox comes first")
        #expect(live.facts[0].position?.offset == 0 && live.facts[0].after == nil && !live.facts[0].hasGap)
        let session = try #require(live.sessions.first)
        #expect(live.sessions.count == 1 && session.stage == .live && session.features == .message)
        #expect(session.channel?.isAttached == true && session.channel?.position?.offset == 4)
        #expect(live.channel?.subscribers == 1)

        anna.send(4, .unsubscribe(.with { ($0.channelType, $0.channel) = (.message, "lobby") }))
        anna.send(5, .unsubscribe(.with { ($0.channelType, $0.channel) = (.message, "lobby") }))
        anna.subscribe(6, "lobby", SubscriptionFeatures(rawValue: 64))
        anna.subscribe(7, "lobby", SubscriptionFeatures(rawValue: 64))
        let left = try explain(fixture, question)
        #expect(left.facts.map(\.kind) == [.subscribeRefused, .unsubscribed, .subscribed, .subscribed])
        #expect(left.facts[0].count == 2 && left.facts[0].cause.contains("features"), "\(left.facts[0])")
        #expect(left.facts[1].position?.offset == 4)
        #expect(left.sessions.map(\.stage) == [SubscriptionStage.none] && left.channel == nil)
        #expect(try explain(fixture, EdgeExplain(userID: "ben")).facts.map { $0.channel?.name } == ["ben"])
        #expect(try explain(fixture, EdgeExplain(userID: "carl")).facts.isEmpty)

        anna.vanish()
        let gone = try explain(fixture, question)
        #expect(gone.sessions.isEmpty && gone.facts.first?.kind == .ended)
        #expect(gone.facts.first?.cause == "the connection was lost")
        fixture.end()
    }

    @Test("W-62: a dry run asks what a publish is asked, and takes nothing")
    func dryRun() throws {
        var rates = ApplicationRates.unlimited
        rates.publish = Rate(perSecond: 2)
        let fixture = EdgeFixture(rates: rates)
        let anna = fixture.client("anna")
        func publisher() throws -> ExplainedPublisher? {
            let question = EdgeExplain(channel: fixture.key("lobby"), publisher: "anna")
            return try explain(fixture, question).publisher
        }
        for _ in 0..<5 { #expect(try publisher()?.code == 0) }
        for number in 10..<12 as Range<UInt64> { anna.publish(number, to: "lobby", bytes: 5) }
        #expect(anna.bodies().count { if case .published = $0 { true } else { false } } == 2)
        let refused = try #require(try publisher())
        #expect(refused.code == Int64(ErrorCode.channelPublishMessageTooFrequent.rawValue))
        #expect(refused.retryAfter > .zero && refused.reason.contains("2 messages a second"))
        fixture.pass(.seconds(1))
        #expect(try publisher()?.code == 0)
        anna.publish(12, to: "lobby", bytes: 5)
        #expect(anna.bodies().count { if case .published = $0 { true } else { false } } == 1)
        #expect(
            try explain(fixture, EdgeExplain(channel: fixture.key("lobby"), publisher: "ben")).publisher
                == nil)
        fixture.end()
    }

    @Test("W-62: what all loops share is looked at and not drawn from")
    func sharedRate() {
        let share = AppPublishShare(of: AppPublishRate(PublishRate(messages: 1, bytes: 0)))
        for _ in 0..<3 { #expect(share.expectedShortage(1, now: .uptimeNanoseconds(0)) == nil) }
        #expect(share.shortage(1, now: .uptimeNanoseconds(0)) == nil)
        share.spend(1)
        #expect(share.expectedShortage(1, now: .uptimeNanoseconds(0))?.limit == .appMessages)
        #expect(share.expectedShortage(1, now: .uptimeNanoseconds(2_000_000_000)) == nil)
    }

    @Test("W-60: a subscriber that comes back is noted with where it continues, and with a gap")
    func returns() throws {
        var scene = IndexScene()
        let (first, second, third) = (scene.session(1), scene.session(2), scene.session(3))
        try scene.subscribe(first)
        #expect(scene.begun.map(\.session) == [first])
        #expect(scene.begun[0].start == SubscriptionStart(position: .at(7), after: nil, gap: false))
        for (session, gap) in [(second, false), (third, true)] {
            scene.enter(session, after: .at(3))
            let read = try #require(scene.reads.last)
            scene.pageRead(read.id, SubscribePage(frames: ByteBuffer(), position: .at(7), gap: gap))
        }
        #expect(scene.begun.map(\.session) == [first, second, third])
        #expect(
            scene.begun.dropFirst().map(\.start) == [
                SubscriptionStart(position: .at(7), after: .at(3), gap: false),
                SubscriptionStart(position: .at(7), after: .at(3), gap: true),
            ])
        // One that comes in again with other features has missed nothing.
        scene.enter(first, features: .all)
        #expect(scene.begun.count == 3)
    }
}
